"""View of an episode by turn, step and call, with differences from the ground truth's states.

The transcript, the page, the debugger and the breakpoints all use this view.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, zip_longest
from typing import NamedTuple

from checkers.causes.divergence import find_off_path
from checkers.causes.episode_place import EpisodePlace
from checkers.causes.trace import Trace, TracedCall, TracedTurn
from checkers.verdict import Failure
from envs.errors import DataError
from envs.notices import Notice, list_notices
from envs.state import Difference, Snapshot
from runner.episodes.rejudged_episode import RejudgedMultiTurn, RejudgedSingleTurn, Remark
from trajectories.schema import Turn


class EpisodeMoment(NamedTuple):
    """Moment of an episode: the start of a turn, an executed call, or the end of a turn."""

    place: EpisodePlace
    before: Snapshot
    after: Snapshot
    traced: TracedCall | None = None
    changes: Sequence[Difference] = ()
    """State changes of the call: ``expected`` is the old value, ``actual`` the new value."""
    off_path: Sequence[Difference] = ()
    """State values that the ground truth never has in this turn. At the end of the turn, these
    are the differences from the ground truth's final state.
    """
    strays: Sequence[Difference] = ()
    """Part of ``off_path``: the differences that this call caused."""
    diverges: bool = False
    """True where the episode fails, or where a what-if branch starts to differ."""
    remarks: Sequence[Remark] = ()

    @property
    def notices(self) -> Sequence[Notice]:
        """Notices of the events between the states ``before`` and ``after``."""
        return list_notices(self.after)[len(list_notices(self.before)) :]


class TurnView(NamedTuple):
    """One turn."""

    number: int
    asked: Turn
    truth: TracedTurn
    model: TracedTurn | None
    """The model's turn; None if the episode did not reach the turn."""
    truth_calls: Sequence[EpisodeMoment]
    moments: Sequence[EpisodeMoment]
    """Start of the turn, calls of the model, end of the turn; empty if the turn was not reached."""
    judged: bool = True
    """Whether the turn counts for the verdict."""
    failure: Failure | None = None

    @property
    def calls(self) -> Sequence[EpisodeMoment]:
        """The model's calls."""
        return self.moments[1:-1]

    @property
    def steps(self) -> Iterator[tuple[int, list[EpisodeMoment]]]:
        """Number and calls of each step."""
        for number, calls in groupby(self.calls, key=lambda call: call.place.step):
            yield number, list(calls)

    @property
    def closing(self) -> str | None:
        """Text of the step that ended the turn."""
        return self.model and self.model.answer

    @property
    def unreadable(self) -> str | None:
        """Parse error of the step that ended the turn."""
        problem = self.model.unreadable if self.model else None
        return problem.message if problem else None

    @property
    def differences(self) -> Sequence[Difference]:
        """Differences between the final state and the ground truth's final state."""
        return self.moments[-1].off_path if self.moments else ()

    @property
    def diverges(self) -> bool:
        """Whether the cause of the failure is at the end of this turn."""
        return bool(self.moments) and self.moments[-1].diverges

    @property
    def departs(self) -> bool:
        """Whether the turn adds a new difference from the ground truth."""
        strays = any(moment.strays or moment.diverges for moment in self.moments)
        return bool(strays or self.failure or (self.judged and self.differences))


@lru_cache(maxsize=1)
def view(examined: RejudgedMultiTurn) -> list[TurnView]:
    """Return the turns of an episode."""
    verdict = examined.verdict
    failed = verdict.failed_turn
    return [
        turn._replace(
            judged=failed is None or turn.number <= failed,
            failure=verdict.failure if turn.number == failed else None,
        )
        for turn in turns_of(examined, examined.model, examined.place)
    ]


def turns_of(
    examined: RejudgedMultiTurn, model: Trace | None, left: EpisodePlace | None
) -> list[TurnView]:
    """Return a view of each turn; ``left`` is the place of the divergence, or None."""
    asked, truth = examined.trajectory.turns, examined.truth
    reached = model.turns if model else ()
    ends = [None, *(turn.after for turn in reached)]
    return [
        TurnView(
            number,
            turn,
            expected,
            actual,
            list(_calls(number, expected, None)),
            [
                each._replace(remarks=examined.remarks(each.traced)) if each.traced else each
                for each in _moments(number, expected, actual, left, ends[number])
            ]
            if actual
            else (),
        )
        for number, (turn, expected, actual) in enumerate(zip_longest(asked, truth.turns, reached))
    ]


def _moments(
    number: int,
    truth: TracedTurn,
    turn: TracedTurn,
    left: EpisodePlace | None,
    earlier: Snapshot | None,
) -> Iterator[EpisodeMoment]:
    start, end = EpisodePlace(number, "start"), EpisodePlace(number, "end")
    first = EpisodeMoment(
        start, earlier or turn.before, turn.before, off_path=find_off_path(truth, turn.before)
    )
    yield first
    before = first.off_path
    for call in _calls(number, turn, left):
        off, strays = before, []
        if call.changes:
            off = find_off_path(truth, call.after)
            known = {difference.path: difference for difference in before}
            strays = [difference for difference in off if known.get(difference.path) != difference]
        yield call._replace(off_path=off, strays=strays)
        before = off
    missing = truth.after.differences(turn.after)
    yield EpisodeMoment(end, turn.after, turn.after, off_path=missing, diverges=end == left)


def _calls(number: int, turn: TracedTurn, left: EpisodePlace | None) -> Iterator[EpisodeMoment]:
    before = turn.before
    for step, calls in enumerate(turn.steps):
        for index, traced in enumerate(calls):
            place = EpisodePlace(number, "call", step, index)
            changes = before.differences(traced.after)
            yield EpisodeMoment(
                place, before, traced.after, traced, changes, diverges=place == left
            )
            before = traced.after


class EpisodePart(NamedTuple):
    """Selected part of an episode."""

    turn: int | None = None
    step: int | None = None
    only_diff: bool = False

    def of(self, turns: Sequence[TurnView]) -> Sequence[TurnView]:
        """Return the selected turns and steps.

        Raises DataError if the turn or step does not exist.
        """
        if self.turn is not None:
            _check("--turn", self.turn, range(len(turns)), "turns")
            turns = [turns[self.turn]]
        if self.step is not None:
            there = range(max(len(list(turn.steps)) for turn in turns))
            _check("--step", self.step, there, "steps")
            turns = [_with_steps(turn, [self.step]) for turn in turns]
        if self.only_diff:
            turns = [
                _with_steps(
                    turn, {call.place.step for call in turn.calls if call.strays or call.diverges}
                )
                for turn in turns
                if turn.departs
            ]
        return turns

    def check_single(self, id: str) -> None:
        """Raise DataError if a single-turn entry does not have the selected turn or step."""
        for flag, wanted in (("--turn", self.turn), ("--step", self.step)):
            if wanted:
                raise DataError(
                    flag, f"must be 1, not {wanted + 1}; {id} has only one turn and one step"
                )


WHOLE = EpisodePart()


@dataclass(frozen=True)
class MultiTurnRequirement:
    """Renderer that refuses single-turn episodes, because single-turn episodes have no states."""

    purpose: str
    """End of the error message, such as "to align" in "it has no state to align"."""

    def turns(self, examined: RejudgedMultiTurn) -> RejudgedMultiTurn:
        """Return the episode."""
        return examined

    def pairs(self, examined: RejudgedSingleTurn) -> RejudgedMultiTurn:
        """Always raise DataError, because a single-turn episode has no state."""
        id, category = examined.trajectory.id, examined.trajectory.category
        message = f"{id} is a single-turn entry ({category}): it has no state {self.purpose}"
        raise DataError("ID", f"{message}; use turnwise replay")


def _with_steps(turn: TurnView, wanted: Container[int]) -> TurnView:
    kept = [m for m in turn.moments if m.place.kind != "call" or m.place.step in wanted]
    return turn._replace(moments=kept)


def _check(option: str, index: int, there: range, items: str) -> None:
    if index not in there:
        known = f"{items} 1 to {len(there)}" if there else f"no {items}"
        raise DataError(option, f"{index + 1} does not exist; the episode has {known}")
