"""An episode as it is shown: turn by turn, step by step, each state beside the ground truth's.

What is shown is chosen here and nowhere else; ``writing.py`` makes lines and JSON of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from checkers.verdict import Failure
from checkers.why.divergence import Divergence, off_path
from checkers.why.trace import TracedCall, TracedTurn
from envs.state import Difference, Snapshot
from runner.analysis.examined import Examined
from trajectories.errors import DataError
from trajectories.schema import Turn


class ShownCall(NamedTuple):
    """One executed call."""

    traced: TracedCall
    changes: list[Difference]
    """What it changed: expected is before, actual after."""
    off_path: list[Difference]
    """Where the state after it is none that the ground truth passes through in this turn."""
    strays: list[Difference]
    """Those of them that were not so before the call."""
    diverges: bool
    """Whether this is the first call that led away from the ground truth."""


class ShownStep(NamedTuple):
    """One step with calls."""

    number: int
    calls: list[ShownCall]


class ShownTurn(NamedTuple):
    """One turn."""

    number: int
    asked: Turn
    truth: TracedTurn
    model: TracedTurn | None
    """None where the episode did not reach it."""
    steps: list[ShownStep]
    differences: list[Difference]
    """Where the state at the end departs from the ground truth's."""
    diverges: bool
    """Whether the episode left the ground truth here first, by what is missing at the end."""
    judged: bool
    """Whether the verdict looks at it: what comes after a failure does not count."""
    failure: Failure | None
    """Why it is this turn that fails the episode."""

    @property
    def departs(self) -> bool:
        """Whether something in the turn is not as in the ground truth.

        After the failure only what goes wrong in addition counts.
        """
        strays = any(call.strays or call.diverges for step in self.steps for call in step.calls)
        return bool(strays or self.diverges or self.failure or (self.judged and self.differences))


class EpisodePart(NamedTuple):
    """Which part of an episode is wanted."""

    turn: int | None = None
    step: int | None = None
    only_diff: bool = False
    """Only what is not as in the ground truth."""


def shown_turns(examined: Examined, selection: EpisodePart) -> list[ShownTurn]:
    """Return what to show of an episode.

    Args:
        examined: The episode.
        selection: Which part of it.

    Raises:
        DataError: The episode has no such turn or step.
    """
    divergence = examined.divergence
    asked = examined.prepared.trajectory.turns
    reached = examined.model.turns if examined.model else ()
    turns = [
        _shown(index, *parts, examined, divergence)
        for index, parts in enumerate(zip_longest(asked, examined.truth.turns, reached))
    ]
    return _selected(turns, selection)


def _shown(
    index: int,
    asked: Turn,
    truth: TracedTurn,
    model: TracedTurn | None,
    examined: Examined,
    divergence: Divergence | None,
) -> ShownTurn:
    here = divergence if divergence and divergence.turn == index else None
    failed = examined.verdict.failed_turn
    return ShownTurn(
        index,
        asked,
        truth,
        model,
        _steps(truth, model, here) if model else [],
        truth.after.differences(model.after) if model else [],
        here is not None and here.call is None,
        failed is None or index <= failed,
        examined.verdict.failure if index == failed else None,
    )


def _steps(truth: TracedTurn, model: TracedTurn, divergence: Divergence | None) -> list[ShownStep]:
    before, off = model.before, off_path(truth, model.before)
    place = (divergence.step, divergence.call) if divergence else None
    steps = []
    for number, calls in enumerate(model.steps):
        shown = []
        for index, traced in enumerate(calls):
            call = _call(truth, traced, before, off, diverges=place == (number, index))
            shown.append(call)
            before, off = traced.after, call.off_path
        steps.append(ShownStep(number, shown))
    return steps


def _call(
    truth: TracedTurn,
    traced: TracedCall,
    before: Snapshot,
    off_before: list[Difference],
    *,
    diverges: bool,
) -> ShownCall:
    changes = before.differences(traced.after)
    off = off_path(truth, traced.after) if changes else off_before
    known = {difference.path: difference for difference in off_before}
    strays = [difference for difference in off if known.get(difference.path) != difference]
    return ShownCall(traced, changes, off, strays, diverges)


def _selected(turns: list[ShownTurn], selection: EpisodePart) -> list[ShownTurn]:
    if selection.turn is not None:
        _check("--turn", selection.turn, range(len(turns)), "the episode has turns")
        turns = [turns[selection.turn]]
    if selection.step is not None:
        there = range(max(len(turn.steps) for turn in turns))
        _check("--step", selection.step, there, "there are steps")
        turns = [_with_steps(turn, [selection.step]) for turn in turns]
    if selection.only_diff:
        turns = [
            _with_steps(turn, [s.number for s in turn.steps if any(c.strays for c in s.calls)])
            for turn in turns
            if turn.departs
        ]
    return turns


def _with_steps(turn: ShownTurn, wanted: Iterable[int]) -> ShownTurn:
    wanted = set(wanted)
    return turn._replace(steps=[step for step in turn.steps if step.number in wanted])


def _check(option: str, index: int, there: range, what: str) -> None:
    if index not in there:
        known = f"{what} 0 to {len(there) - 1}" if there else "there are none"
        raise DataError(option, f"{index} is not there; {known}")
