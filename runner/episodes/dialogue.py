"""An episode and its chat: what a model is asked next, and what its answer leads to.

No I/O: a live run, a rollout for training and a search each put the requests to their model in
their own way, and hand the answers back.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

from checkers.calls.documents import Language, Unreadable
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.replies.single_turn import read_calls
from checkers.verdict import Verdict
from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from runner.episodes.episode import Episode
from runner.episodes.evaluate import kind_of
from runner.episodes.kinds import Answers
from runner.models.base import Reply, Request
from runner.models.conversation import Style, conversation_of
from runner.models.protocols.base import NOTED
from runner.records.record import Fault
from trajectories.prepare import Prepared
from trajectories.schema import ExpectedCalls


class Taken(NamedTuple):
    """What one answer led to."""

    turn: int
    """The turn in which it was given."""
    calls: Sequence[Call | MalformedCall]
    """The calls in it; none ends the turn."""
    problem: str | None
    """Why there are no calls, where the answer was not plain text."""
    results: Sequence[Result] = ()
    """What they gave; none where they were not made."""
    meant: bool = False
    """Whether the answer was meant as calls."""


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
        mode: How the model calls functions.
        result: Turns of steps, in the form of BFCL's result files.
    """

    def __init__(
        self,
        prepared: Prepared,
        style: Style,
        mode: Mode,
        profile: Profile,
        step_limit: int | None,
    ) -> None:
        session = prepared.template.fork()
        self.episode = Episode(
            prepared.trajectory, session, profile, step_limit, style.observe, prepared.offering
        )
        self.conversation = conversation_of(style, mode)
        self.result: list[list[Step]] = []
        self.mode = mode
        self._prepared = prepared
        self._kind = kind_of(prepared.trajectory)
        self._executed = prepared.trajectory.is_executed
        self._compared = isinstance(prepared.trajectory.expects, ExpectedCalls)
        self._format = style.format
        self._asks_on = style.asks_on
        self._shown: frozenset[str] | None = None

    def request(self, notes: Sequence[str] = (), extra: Sequence[dict[str, Any]] = ()) -> Request:
        """Return what to ask the model now.

        Args:
            notes: What is said in this request only.
            extra: Tools that may be called in this request only.
        """
        episode = self.episode
        if episode.turn == len(self.result):
            self.result.append([])
            self.conversation.start_turn(episode.messages, episode.offered, self._new_functions())
        elif episode.offering and (new := self._new_functions()):
            self.conversation.hand_over(episode.offered, new)
        return self.conversation.request(notes, extra)

    def _new_functions(self) -> Sequence[str]:
        """Return the functions that come late: those handed over, retrieved or found since."""
        episode = self.episode
        if not episode.offering:
            return episode.offers
        offered, before = episode.offered, self._shown
        self._shown = offered | (before or frozenset())
        if before is None:
            return episode.offers
        return [name for name in episode.session.tools if name in offered - before]

    def take(self, reply: Reply) -> Taken:
        """Take the answer to the last request, and execute its calls or end the turn.

        A trajectory whose calls or results are compared is over after one answer, or where the
        style says so after one without calls.
        """
        episode = self.episode
        taken = self._read(reply)
        goes_on = self._goes_on(taken.calls)
        results: Sequence[Result] = ()
        if taken.calls and self._executed:
            results = episode.act(taken.calls)
        elif goes_on:
            results = [Result(NOTED) for _ in taken.calls]
        if results:
            self.conversation.observe(taken.calls, results)
        else:
            self.conversation.refuse(taken.problem or "The turn is over.")
        if not episode.finished and not goes_on:
            episode.end_turn()
        return taken._replace(results=results)

    def _goes_on(self, calls: Sequence[Call | MalformedCall]) -> bool:
        """Tell whether the turn goes on after an answer."""
        if not calls or not self._kind.is_single_turn:
            return bool(calls)
        if not self._asks_on or not all(isinstance(call, Call) for call in calls):
            return False
        limit = self.episode.step_limit
        return self._executed or limit is None or len(self.result[0][0] or ()) < limit

    def verdict(self, fault: Fault | None = None) -> Verdict:
        """Judge the trajectory, which is over.

        Args:
            fault: What the model did, where that is why the last request got no answer.

        Raises:
            CannotJudge: There is no verdict, through no fault of the model.
        """
        if fault is not None:
            return self._kind.judge_unanswered(self._prepared, fault, self.episode.profile)
        return self._kind.judge_played(self._prepared, self.episode, self._answers)

    @property
    def passes_so_far(self) -> bool:
        """Whether the turns that have ended, of which there is one, passed."""
        return self._kind.passes_so_far(self._prepared, self.episode, self._answers)

    @property
    def _answers(self) -> Answers:
        return Answers(self.result, self.mode, self._format and self._format.reader)

    def fork(self) -> Self:
        """Return an independent copy: nothing done to one is seen by the other."""
        forked = copy(self)
        forked.episode = self.episode.fork()
        forked.conversation = self.conversation.fork()
        forked.result = [steps.copy() for steps in self.result]
        return forked

    def _read(self, reply: Reply) -> Taken:
        step = self.conversation.read(reply)
        steps = self.result[self.episode.turn]
        if self._compared:
            step = _without_dots(step)
        if self._compared and steps:
            # What is compared is one step, however many answers it took.
            assert isinstance(steps[0], list)
            steps[0] = steps[0] + (step if isinstance(step, list) else [])
        else:
            steps.append(step)
        calls, problem = self._decoded(step)
        meant = not isinstance(step, str) and bool(step)
        return Taken(self.episode.turn, calls, problem, meant=meant)

    def _decoded(self, step: Step) -> tuple[list[Call | MalformedCall], str | None]:
        """Return the calls of a step, and why there are none if it was not plain text."""
        profile = self.episode.profile
        try:
            if self._format is not None:
                reader = self._format.reader
                return [*read_calls(step, Language.PYTHON, "prompt", profile.calls, reader)], None
            return profile.replies.decoders[self.mode](step), None
        except Unreadable as error:
            return self._unread(MalformedCall(str(error)))
        except MalformedCall as error:
            return self._unread(error)

    def _unread(self, error: MalformedCall) -> tuple[list[Call | MalformedCall], str | None]:
        answered = self.episode.profile.replies.answers_unreadable_steps
        return ([error] if answered else []), error.message


def _without_dots(step: Step) -> Step:
    """Return a step with the function names that BFCL's result files have.

    No provider takes a dot in a name, so BFCL sends and records underscores.
    """
    if step is None or isinstance(step, str):
        return step
    return [{name.replace(".", "_"): value for name, value in call.items()} for call in step]
