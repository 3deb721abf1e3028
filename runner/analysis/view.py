"""An episode as it is looked at: turns, steps and calls, each state beside the ground truth's.

What there is to show is found out here and nowhere else. The transcript, the page, the debugger and
its stops lay it out.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Literal, NamedTuple

from checkers.verdict import Failure
from checkers.why.divergence import Divergence, off_path
from checkers.why.trace import Trace, TracedCall, TracedTurn
from envs.state import Difference, Snapshot
from runner.episodes.examined import ExaminedCalls, ExaminedTurns
from trajectories.errors import DataError
from trajectories.schema import Turn


class Place(NamedTuple):
    """Where in an episode one is, in all that is made of a trajectory; all count from 0."""

    turn: int
    kind: Literal["start", "call", "end"] = "call"
    step: int = 0
    """Of a call: its step in the turn."""
    call: int = 0
    """Of a call: its position in the step."""

    @classmethod
    def of(cls, divergence: Divergence) -> Place:
        """Return where an episode left the ground truth."""
        if divergence.call is None:
            return cls(divergence.turn, "end")
        return cls(divergence.turn, "call", divergence.step, divergence.call)

    def __str__(self) -> str:
        """Return the place in words."""
        if self.kind != "call":
            return f"{self.kind} of turn {self.turn}"
        return f"turn {self.turn} step {self.step} call {self.call}"


class Moment(NamedTuple):
    """The start of a turn, a call with what it led to, or the end of a turn."""

    place: Place
    before: Snapshot
    after: Snapshot
    traced: TracedCall | None = None
    """The call and its result, where it is a call's moment."""
    changes: Sequence[Difference] = ()
    """What the call changed: expected is before, actual after."""
    off_path: Sequence[Difference] = ()
    """Where the state after it is none that the ground truth passes through in this turn; at the
    end of the turn only the state in which that ends it will do."""
    strays: Sequence[Difference] = ()
    """Those of them that were not so before the call."""
    diverges: bool = False
    """Whether it is here that the episode left the ground truth first."""


class TurnView(NamedTuple):
    """One turn."""

    number: int
    asked: Turn
    truth: TracedTurn
    model: TracedTurn | None
    """None where the episode did not reach it."""
    truth_calls: Sequence[Moment]
    """The calls of the ground truth."""
    moments: Sequence[Moment]
    """The start, the model's calls and the end; none where the episode did not reach it."""
    judged: bool = True
    """Whether the verdict looks at it: what comes after a failure does not count."""
    failure: Failure | None = None
    """Why it is this turn that fails the episode."""

    @property
    def calls(self) -> Sequence[Moment]:
        """The model's calls."""
        return self.moments[1:-1]

    @property
    def steps(self) -> Iterator[tuple[int, list[Moment]]]:
        """The steps with calls, by number."""
        for number, calls in groupby(self.calls, key=lambda call: call.place.step):
            yield number, list(calls)

    @property
    def closing(self) -> str | None:
        """What the model said in the step that ended the turn."""
        return self.model and self.model.answer

    @property
    def unreadable(self) -> str | None:
        """Why that step could not be read as calls, where it failed to be."""
        problem = self.model.unreadable if self.model else None
        return problem.message if problem else None

    @property
    def differences(self) -> Sequence[Difference]:
        """Where the state at the end departs from the ground truth's."""
        return self.moments[-1].off_path if self.moments else ()

    @property
    def diverges(self) -> bool:
        """Whether the episode left the ground truth here first, by what is missing at the end."""
        return bool(self.moments) and self.moments[-1].diverges

    @property
    def departs(self) -> bool:
        """Whether something in the turn is not as in the ground truth.

        After the failure only what goes wrong in addition counts.
        """
        strays = any(moment.strays or moment.diverges for moment in self.moments)
        return bool(strays or self.failure or (self.judged and self.differences))


def view(examined: ExaminedTurns) -> list[TurnView]:
    """Return the turns of an episode."""
    asked, verdict = examined.trajectory.turns, examined.verdict
    failed = verdict.failed_turn
    return [
        turn._replace(
            judged=failed is None or turn.number <= failed,
            failure=verdict.failure if turn.number == failed else None,
        )
        for turn in turns_of(asked, examined.truth, examined.model, examined.divergence)
    ]


def turns_of(
    asked: Sequence[Turn], truth: Trace, model: Trace | None, divergence: Divergence | None
) -> list[TurnView]:
    """Return the turns of a course through a trajectory, which left the ground truth somewhere."""
    left = divergence and Place.of(divergence)
    reached = model.turns if model else ()
    return [
        TurnView(
            number,
            turn,
            expected,
            actual,
            list(_calls(number, expected, None)),
            list(_moments(number, expected, actual, left)) if actual else (),
        )
        for number, (turn, expected, actual) in enumerate(zip_longest(asked, truth.turns, reached))
    ]


def _moments(
    number: int, truth: TracedTurn, turn: TracedTurn, left: Place | None
) -> Iterator[Moment]:
    start, end = Place(number, "start"), Place(number, "end")
    first = Moment(start, turn.before, turn.before, off_path=off_path(truth, turn.before))
    yield first
    before = first.off_path
    for call in _calls(number, turn, left):
        off, strays = before, []
        if call.changes:
            off = off_path(truth, call.after)
            known = {difference.path: difference for difference in before}
            strays = [difference for difference in off if known.get(difference.path) != difference]
        yield call._replace(off_path=off, strays=strays)
        before = off
    missing = truth.after.differences(turn.after)
    yield Moment(end, turn.after, turn.after, off_path=missing, diverges=end == left)


def _calls(number: int, turn: TracedTurn, left: Place | None) -> Iterator[Moment]:
    """Yield the calls of a turn, with what they changed."""
    before = turn.before
    for step, calls in enumerate(turn.steps):
        for index, traced in enumerate(calls):
            place = Place(number, "call", step, index)
            changes = before.differences(traced.after)
            yield Moment(place, before, traced.after, traced, changes, diverges=place == left)
            before = traced.after


class EpisodePart(NamedTuple):
    """Which part of an episode is wanted."""

    turn: int | None = None
    step: int | None = None
    only_diff: bool = False
    """Only what is not as in the ground truth."""

    def of(self, turns: Sequence[TurnView]) -> Sequence[TurnView]:
        """Return the part of turns, in which only those calls are left that are wanted.

        Raises:
            DataError: There is no such turn or step.
        """
        if self.turn is not None:
            _check("--turn", self.turn, range(len(turns)), "the episode has turns")
            turns = [turns[self.turn]]
        if self.step is not None:
            there = range(max(len(list(turn.steps)) for turn in turns))
            _check("--step", self.step, there, "there are steps")
            turns = [_with_steps(turn, [self.step]) for turn in turns]
        if self.only_diff:
            departing = [turn for turn in turns if turn.departs]
            turns = [
                _with_steps(turn, {call.place.step for call in turn.calls if call.strays})
                for turn in departing
            ]
        return turns

    def check_single(self, id: str) -> None:
        """Raise DataError where this is no part of an entry of one turn of one step."""
        for flag, wanted in (("--turn", self.turn), ("--step", self.step)):
            if wanted:
                raise DataError(flag, f"{wanted} is not there; {id} is one turn of one step")


WHOLE = EpisodePart()


@dataclass(frozen=True)
class WithState:
    """Takes episodes that have a state to look at.

    Attributes:
        purpose: What is to be done with it.
    """

    purpose: str

    def turns(self, examined: ExaminedTurns) -> ExaminedTurns:
        """Return the episode."""
        return examined

    def pairs(self, examined: ExaminedCalls) -> ExaminedTurns:
        """Refuse a single turn.

        Raises:
            DataError: Always.
        """
        id, category = examined.trajectory.id, examined.trajectory.category
        what = f"{id} is a single turn ({category}): it has no state"
        raise DataError("ID", f"{what} {self.purpose}; turnwise replay shows it")


def _with_steps(turn: TurnView, wanted: Container[int]) -> TurnView:
    kept = [m for m in turn.moments if m.place.kind != "call" or m.place.step in wanted]
    return turn._replace(moments=kept)


def _check(option: str, index: int, there: range, what: str) -> None:
    if index not in there:
        known = f"{what} 0 to {len(there) - 1}" if there else "there are none"
        raise DataError(option, f"{index} is not there; {known}")
