"""An episode and its chat: what a model is asked next, and what its answer leads to.

No I/O: a live run, a rollout for training and a search each put the requests to their model in
their own way, and hand the answers back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from checkers.profile import Mode, Profile
from envs.calls import Call
from envs.decoding import Step
from envs.errors import MalformedCall
from envs.results import Result
from runner.episode import Episode
from runner.live.conversation import FunctionCalling, Prompting, Style
from runner.live.models.base import Reply, Request
from runner.prepare import Prepared


class Taken(NamedTuple):
    """What one answer led to."""

    turn: int
    """The turn in which it was given."""
    calls: Sequence[Call | MalformedCall]
    """The calls in it; none ends the turn."""
    results: Sequence[Result]
    """What they gave; none where the step limit kept them from being made."""
    problem: str | None
    """Why there are no calls, where the answer was not plain text."""


class Dialogue:
    """One trajectory in progress with a model.

    Args:
        prepared: The trajectory.
        style: How the model is talked to.
        mode: How it calls functions.
        profile: How its steps are decoded and executed.
        step_limit: Steps with calls that a turn may take, or None for no limit.

    Attributes:
        episode: The turn loop's machine.
        conversation: The chat so far.
        result: Turns of steps, in the form of the reference's result files.
    """

    def __init__(
        self,
        prepared: Prepared,
        style: Style,
        mode: Mode,
        profile: Profile,
        step_limit: int | None,
    ) -> None:
        self.episode = Episode(prepared.trajectory, prepared.template.fork(), profile, step_limit)
        self.conversation = FunctionCalling(style) if mode == "fc" else Prompting(style)
        self.result: list[list[Step]] = []
        self._decode = profile.decoders[mode]

    def request(self) -> Request:
        """Return what to ask the model now."""
        episode = self.episode
        if episode.turn == len(self.result):
            self.result.append([])
            self.conversation.start_turn(episode.messages, episode.offered, episode.offers)
        return self.conversation.request()

    def take(self, reply: Reply) -> Taken:
        """Take the answer to the last request, and execute its calls or end the turn."""
        episode = self.episode
        turn = episode.turn
        step = self.conversation.read(reply)
        self.result[turn].append(step)
        calls, problem = self._decoded(step)
        results = episode.act(calls) if calls else []
        if results:
            self.conversation.observe(calls, results)
        else:
            self.conversation.refuse(problem or "The turn is over.")
        if not calls:
            episode.end_turn()
        return Taken(turn, calls, results, problem)

    def fork(self) -> Self:
        """Return an independent copy: nothing done to one is seen by the other."""
        copy = object.__new__(type(self))
        copy.episode = self.episode.fork()
        copy.conversation = self.conversation.fork()
        copy.result = [steps.copy() for steps in self.result]
        copy._decode = self._decode
        return copy

    def _decoded(self, step: Step) -> tuple[list[Call | MalformedCall], str | None]:
        """Return the calls of a step, and why there are none if it was not plain text."""
        try:
            return self._decode(step), None
        except MalformedCall as error:
            answers = self.episode.profile.answers_unreadable_steps
            return ([error] if answers else []), error.message
