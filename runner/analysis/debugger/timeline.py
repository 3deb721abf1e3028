"""An episode as moments to stop at, and branches of it: what if another call had been made?

A branch is a script like any other: the calls up to a place and what was typed there, played
from the initial state in a session of its own. Playing takes milliseconds, so nothing is ever
undone, and no timeline changes once it is made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Literal, NamedTuple

from checkers.profile import Profile
from checkers.turn import check_turn
from checkers.verdict import Failure, TurnOutcome
from checkers.why.divergence import Divergence
from checkers.why.trace import Trace, TracedCall
from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.state import Difference, Snapshot
from runner.episodes.scripts import Script
from runner.episodes.tracing import trace
from trajectories.prepare import Prepared


class Source(StrEnum):
    """Where a timeline's calls come from."""

    RECORDING = "recording"
    TRUTH = "ground truth"
    BRANCH = "branch"


class TimelinePlace(NamedTuple):
    """Where in an episode a moment is; the same in all timelines of a trajectory."""

    turn: int
    kind: Literal["start", "call", "end"]
    step: int = 0
    """Of a call: its step in the turn."""
    call: int = 0
    """Of a call: its position in the step."""

    @classmethod
    def of(cls, divergence: Divergence) -> TimelinePlace:
        """Return where a timeline left the ground truth."""
        if divergence.call is None:
            return cls(divergence.turn, "end")
        return cls(divergence.turn, "call", divergence.step, divergence.call)

    def __str__(self) -> str:
        """Return the place in words."""
        if self.kind != "call":
            return f"{self.kind} of turn {self.turn}"
        return f"turn {self.turn} step {self.step} call {self.call}"


class Moment(NamedTuple):
    """A place to stop at: the start of a turn, right after a call, or the end of a turn."""

    place: TimelinePlace
    before: Snapshot
    after: Snapshot
    traced: TracedCall | None = None
    """The call and its result, where it is a call's moment."""

    @property
    def changes(self) -> list[Difference]:
        """What the call changed in the state."""
        return self.before.differences(self.after)


@dataclass(frozen=True, eq=False)
class Timeline:
    """One episode as it went.

    Attributes:
        name: What to call it.
        source: Where its calls come from.
        trace: What happened, in one turn at least.
        profile: How its calls are executed.
        rest: What the timeline that a branch left goes on with, from the branch's last turn on.
        parted: Of a branch: the place where it left.
    """

    name: str
    source: Source
    trace: Trace
    profile: Profile
    rest: Script = ((),)
    parted: TimelinePlace | None = None

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """All places to stop at, in order."""
        return tuple(
            moment for index in range(len(self.trace.turns)) for moment in self._moments_of(index)
        )

    def failures(self, truth: tuple[TurnOutcome, ...]) -> tuple[Failure | None, ...]:
        """Return what the checks say of every turn that was reached, each taken by itself."""
        seen: list[Result] = []
        found = []
        for expected, turn in zip(truth, self.trace.turns, strict=False):
            actual = turn.outcome
            seen += actual.results
            found.append(check_turn(expected, actual, seen, self.profile))
        return tuple(found)

    def index(self, place: TimelinePlace) -> int:
        """Return which moment is at a place; where there is no such call, the end of the turn."""
        places = [moment.place for moment in self.moments]
        if place in places:
            return places.index(place)
        last = self.moments[-1].place.turn
        return places.index(TimelinePlace(min(place.turn, last), "end"))

    def _moments_of(self, index: int) -> list[Moment]:
        turn = self.trace.turns[index]
        found = [Moment(TimelinePlace(index, "start"), turn.before, turn.before)]
        for number, step in enumerate(turn.steps):
            for position, traced in enumerate(step):
                place = TimelinePlace(index, "call", number, position)
                found.append(Moment(place, found[-1].after, traced.after, traced))
        return [*found, Moment(TimelinePlace(index, "end"), turn.after, turn.after)]


def with_call(
    prepared: Prepared,
    origin: Timeline,
    place: TimelinePlace,
    call: Call | MalformedCall | None,
    name: str,
    *,
    instead: bool = False,
) -> Timeline:
    """Return the branch in which another call is made, as a step of its own.

    Args:
        prepared: The trajectory.
        origin: The timeline to leave; a branch that is left at its end goes on as itself.
        place: Where to leave it.
        call: The call to make, or None for none.
        name: What to call a new branch.
        instead: Whether the call there is left out.

    Raises:
        BackendFault: A backend broke on well-formed arguments.
    """
    done, rest = _split(_script(origin.trace), place, without=instead)
    script = done if call is None else _join(done, [[[call]]])
    goes_on = origin.source is Source.BRANCH and rest == [[]] and not instead
    parted = TimelinePlace(place.turn, "call", len(done[-1]))
    new = _played(prepared, origin, script, _join(rest, origin.rest), place.turn)
    return new if goes_on else replace(new, name=name, parted=parted)


def with_turn_ended(
    prepared: Prepared, origin: Timeline, place: TimelinePlace, name: str
) -> Timeline:
    """Return the branch in which nothing more is done in a turn and the next one begins.

    Args:
        prepared: The trajectory.
        origin: The timeline to leave; a branch that is left at its end goes on as itself.
        place: Where to leave it, not in the trajectory's last turn.
        name: What to call a new branch.

    Raises:
        BackendFault: A backend broke on well-formed arguments.
    """
    done, rest = _split(_script(origin.trace), place)
    goes_on = origin.source is Source.BRANCH and rest == [[]]
    further = _join(rest, origin.rest)[1:]
    new = _played(prepared, origin, [*done, []], further or [[]], place.turn)
    return new if goes_on else replace(new, name=name, parted=TimelinePlace(place.turn, "end"))


def with_rest(prepared: Prepared, branch: Timeline) -> Timeline:
    """Return a branch that goes on with what the timeline that it left did.

    Raises:
        BackendFault: A backend broke on well-formed arguments.
    """
    script = _script(branch.trace)
    return _played(prepared, branch, _join(script, branch.rest), [[]], len(script) - 1)


def _played(
    prepared: Prepared, origin: Timeline, script: Script, rest: Script, turn: int
) -> Timeline:
    """Return a branch that is as its origin is before a turn, and then follows a script."""
    played = trace(prepared, script, origin.profile, None)
    turns = (*origin.trace.turns[:turn], *played.turns[turn:])
    return replace(origin, source=Source.BRANCH, trace=Trace(turns), rest=rest)


def _script(played: Trace) -> Script:
    return [[[traced.call for traced in step] for step in turn.steps] for turn in played.turns]


def _split(script: Script, place: TimelinePlace, *, without: bool = False) -> tuple[Script, Script]:
    """Return what comes up to a place, without its call if so wanted, and what comes after.

    The place's turn is in both, as the last of the one and the first of the other.
    """
    turn = script[place.turn]
    if place.kind == "start":
        head, tail = [], [*turn]
    elif place.kind == "end":
        head, tail = [*turn], []
    else:
        step, cut = turn[place.step], place.call + 1
        head = [*turn[: place.step], step[: cut - without]]
        tail = [step[cut:], *turn[place.step + 1 :]]
    done = [*script[: place.turn], list(filter(None, head))]
    return done, [list(filter(None, tail)), *script[place.turn + 1 :]]


def _join(first: Script, second: Script) -> Script:
    """Return two scripts as one; the last turn of the first goes on in the second's first."""
    return [*first[:-1], [*first[-1], *second[0]], *second[1:]]
