"""An episode as moments to stop at, and branches of it: what if another call had been made?

A branch is a script like any other: the calls up to a place and what was typed there, played
from the initial state in a session of its own. Playing takes milliseconds, so nothing is ever
undone, and no timeline changes once it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from checkers.profile import Profile
from checkers.turn import check_turn
from checkers.verdict import Failure
from checkers.why.divergence import Divergence, first_divergence
from checkers.why.trace import Trace
from envs.calls import Call
from envs.errors import MalformedCall
from runner.analysis.view import Moment, Place, TurnView, turns_of
from runner.episodes.examined import ExaminedTurns
from runner.episodes.scripts import Script, trace


class Source(StrEnum):
    """Where a timeline's calls come from."""

    RECORDING = "recording"
    TRUTH = "ground truth"
    BRANCH = "branch"


@dataclass(frozen=True, eq=False)
class Timeline:
    """One episode as it went."""

    name: str
    source: Source
    examined: ExaminedTurns
    trace: Trace
    profile: Profile
    rest: Script = ((),)
    """What the timeline that a branch left goes on with, from the branch's last turn on."""
    parted: Place | None = None
    """Where a branch left it."""

    @cached_property
    def divergence(self) -> Divergence | None:
        """Where it left the ground truth first."""
        return first_divergence(self.examined.truth, self.trace)

    @cached_property
    def turns(self) -> Sequence[TurnView]:
        """The trajectory's turns."""
        asked, truth = self.examined.trajectory.turns, self.examined.truth
        return turns_of(asked, truth, self.trace, self.divergence)

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """All places to stop at, in order."""
        return tuple(moment for turn in self.turns for moment in turn.moments)

    @cached_property
    def failures(self) -> tuple[Failure | None, ...]:
        """What the checks say of every turn that was reached, each taken by itself."""
        prepared, played = self.examined.prepared, [turn.outcome for turn in self.trace.turns]
        reached = min(len(played), len(prepared.truth))
        return tuple(
            [
                check_turn(prepared.truth[:end], played[:end], self.profile, prepared.scene)
                for end in range(1, reached + 1)
            ]
        )

    def index(self, place: Place) -> int:
        """Return which moment is at a place; where there is no such call, the end of the turn."""
        places = [moment.place for moment in self.moments]
        if place in places:
            return places.index(place)
        last = self.moments[-1].place.turn
        return places.index(Place(min(place.turn, last), "end"))


def with_call(
    origin: Timeline,
    place: Place,
    call: Call | MalformedCall | None,
    name: str,
    *,
    instead: bool = False,
) -> Timeline:
    """Return the branch in which another call is made, as a step of its own.

    A branch that is left at its end goes on as itself. No call leaves the branch without one;
    ``instead`` leaves out the call that is there.

    Raises:
        BackendFault: A backend broke on well-formed arguments.
    """
    done, rest = _split(_script(origin.trace), place, without=instead)
    script = done if call is None else _join(done, [[[call]]])
    goes_on = origin.source is Source.BRANCH and rest == [[]] and not instead
    parted = Place(place.turn, "call", len(done[-1]))
    new = _played(origin, script, _join(rest, origin.rest), place.turn)
    return new if goes_on else replace(new, name=name, parted=parted)


def with_turn_ended(origin: Timeline, place: Place, name: str) -> Timeline:
    """Return the branch in which a turn, not the last, ends here; as ``with_call`` does."""
    done, rest = _split(_script(origin.trace), place)
    goes_on = origin.source is Source.BRANCH and rest == [[]]
    further = _join(rest, origin.rest)[1:]
    new = _played(origin, [*done, []], further or [[]], place.turn)
    return new if goes_on else replace(new, name=name, parted=Place(place.turn, "end"))


def with_rest(branch: Timeline) -> Timeline:
    """Return a branch that goes on as the timeline that it left, as ``with_call`` does."""
    script = _script(branch.trace)
    return _played(branch, _join(script, branch.rest), [[]], len(script) - 1)


def _played(origin: Timeline, script: Script, rest: Script, turn: int) -> Timeline:
    """Return a branch that is as its origin is before a turn, and then follows a script."""
    played = trace(origin.examined.prepared, script, origin.profile, None)
    turns = (*origin.trace.turns[:turn], *played.turns[turn:])
    return replace(origin, source=Source.BRANCH, trace=Trace(turns), rest=rest)


def _script(played: Trace) -> Script:
    return [[[traced.call for traced in step] for step in turn.steps] for turn in played.turns]


def _split(script: Script, place: Place, *, without: bool = False) -> tuple[Script, Script]:
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
