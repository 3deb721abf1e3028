"""Trace of an episode: its calls, each with its result and the state after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from checkers.verdict import ExecutedTurn
from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.state import Snapshot

Restate = Callable[[Sequence[Call | MalformedCall]], Sequence[Call | MalformedCall]]


class TracedCall(NamedTuple):
    """One executed call."""

    call: Call | MalformedCall
    result: Result
    after: Snapshot


class TracedTurn(NamedTuple):
    """One turn of an episode."""

    offered: frozenset[str]
    before: Snapshot
    steps: tuple[tuple[TracedCall, ...], ...]
    answer: str | None = None
    """Text of the step that ended the turn, if known."""
    unreadable: MalformedCall | None = None
    """Parse error of the step that ended the turn, if any."""
    looks: frozenset[int] = frozenset()
    """Positions of the turn's calls that search for functions."""

    @property
    def calls(self) -> tuple[TracedCall, ...]:
        """Executed calls of all steps."""
        return tuple(call for step in self.steps for call in step)

    @property
    def after(self) -> Snapshot:
        """State at the end of the turn."""
        return self.steps[-1][-1].after if self.steps else self.before

    @property
    def outcome(self) -> ExecutedTurn:
        """Calls, results and state for the checker, without the calls that search for functions."""
        acts = [traced for place, traced in enumerate(self.calls) if place not in self.looks]
        results = tuple([traced.result for traced in acts])
        calls = tuple([traced.call for traced in acts])
        return ExecutedTurn(results, self.after, bool(results), calls)


class Trace(NamedTuple):
    """Executed episode: the calls of a model or of the ground truth."""

    turns: tuple[TracedTurn, ...]
    terminated: bool = False

    def restated(self, restate: Restate) -> Trace:
        """Return a copy of the trace; ``restate`` replaces the calls of each turn."""
        turns = []
        for turn in self.turns:
            calls = iter(restate([traced.call for traced in turn.calls]))
            steps = [tuple([each._replace(call=next(calls)) for each in s]) for s in turn.steps]
            turns.append(turn._replace(steps=tuple(steps)))
        return self._replace(turns=tuple(turns))
