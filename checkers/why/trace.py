"""What happened in an episode, call by call, with the state after each."""

from __future__ import annotations

from typing import NamedTuple

from checkers.verdict import TurnOutcome
from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.state import Snapshot


class TracedCall(NamedTuple):
    """One executed call."""

    call: Call | MalformedCall
    result: Result
    after: Snapshot
    """The state right after it."""


class TracedTurn(NamedTuple):
    """One turn of an episode."""

    offered: frozenset[str]
    """Functions that the model was shown."""
    before: Snapshot
    """The state in which the turn began."""
    steps: tuple[tuple[TracedCall, ...], ...]
    """The steps with calls, in order."""
    answer: str | None = None
    """What the model said in the step that ended the turn; None where that is not known."""
    unreadable: MalformedCall | None = None
    """Why that step could not be read as calls, where it failed to be."""
    looks: frozenset[int] = frozenset()
    """Which calls, by their place in the turn, look for functions, which is no act in the world."""

    @property
    def calls(self) -> tuple[TracedCall, ...]:
        """The executed calls of all steps."""
        return tuple(call for step in self.steps for call in step)

    @property
    def after(self) -> Snapshot:
        """The state in which the turn ended."""
        return self.steps[-1][-1].after if self.steps else self.before

    @property
    def outcome(self) -> TurnOutcome:
        """What the checker judges of the turn."""
        acts = [traced for place, traced in enumerate(self.calls) if place not in self.looks]
        results = tuple([traced.result for traced in acts])
        calls = tuple([traced.call for traced in acts])
        return TurnOutcome(results, self.after, bool(results), calls)


class Trace(NamedTuple):
    """One episode: a model's, or the ground truth's."""

    turns: tuple[TracedTurn, ...]
    """Those that were reached."""
    terminated: bool = False
    """Whether the step limit ended the episode."""
