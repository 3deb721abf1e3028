"""Timelines of an episode: its moments, and branches with other calls.

A branch is a script of calls that is executed from the initial state in a new session. Timelines
are immutable: after a change, all calls of a new timeline are executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from checkers.causes.episode_place import EpisodePlace
from checkers.causes.trace import Trace
from checkers.multi_turn_verdict import check_turn
from checkers.profile import Profile
from checkers.verdict import Failure
from envs.calls import Call
from envs.errors import MalformedCall
from extensions.debugger.divergence import find_divergence
from runner.analysis.episode_view import EpisodeMoment, TurnView, turns_of
from runner.episodes.rejudged_episode import RejudgedMultiTurn
from runner.episodes.script_playback import Script
from runner.episodes.script_traces import trace


class CallOrigin(StrEnum):
    """Origin of the calls in a timeline."""

    RECORDING = "recording"
    TRUTH = "ground truth"
    BRANCH = "branch"


@dataclass(frozen=True, eq=False)
class Timeline:
    """Sequence of calls and results of one episode."""

    name: str
    source: CallOrigin
    examined: RejudgedMultiTurn
    trace: Trace
    profile: Profile
    rest: Script = ((),)
    """Calls of the original timeline that the branch still has to execute. The first item belongs
    to the last turn of the branch."""
    parted: EpisodePlace | None = None
    """Turn and step where the branch starts."""

    @cached_property
    def divergence(self) -> EpisodePlace | None:
        """In a recording: place of the failure. In a branch: place of the first difference."""
        if self.source is CallOrigin.RECORDING:
            return self.examined.place
        return find_divergence(self.examined.truth, self.trace)

    @cached_property
    def turns(self) -> Sequence[TurnView]:
        """Turns of the entry."""
        return turns_of(self.examined, self.trace, self.divergence)

    @cached_property
    def moments(self) -> tuple[EpisodeMoment, ...]:
        """All moments in order."""
        return tuple(moment for turn in self.turns for moment in turn.moments)

    @cached_property
    def failures(self) -> tuple[Failure | None, ...]:
        """One item per reached turn: the episode's failure up to this turn, or None."""
        prepared, played = self.examined.prepared, [turn.outcome for turn in self.trace.turns]
        reached = min(len(played), len(prepared.truth))
        return tuple(
            [
                check_turn(prepared.truth[:end], played[:end], self.profile, prepared.scene)
                for end in range(1, reached + 1)
            ]
        )

    def index(self, place: EpisodePlace) -> int:
        """Return the index of the moment at a place (default: the end of the turn)."""
        places = [moment.place for moment in self.moments]
        if place in places:
            return places.index(place)
        last = self.moments[-1].place.turn
        return places.index(EpisodePlace(min(place.turn, last), "end"))


def with_call(
    origin: Timeline,
    place: EpisodePlace,
    call: Call | MalformedCall | None,
    name: str,
    *,
    instead: bool = False,
) -> Timeline:
    """Return a branch with ``call`` as an additional step after the given position.

    If the position is the end of a branch, the call is added to this branch. If ``instead`` is
    true, the branch omits the call at the position. If ``call`` is None, no call is added.

    Raises BackendFault if a backend failed on well-formed arguments.
    """
    done, rest = _split(_script(origin.trace), place, without=instead)
    script = done if call is None else _join(done, [[[call]]])
    goes_on = origin.source is CallOrigin.BRANCH and rest == [[]] and not instead
    parted = EpisodePlace(place.turn, "call", len(done[-1]))
    new = _played(origin, script, _join(rest, origin.rest), place.turn)
    return new if goes_on else replace(new, name=name, parted=parted)


def with_turn_ended(origin: Timeline, place: EpisodePlace, name: str) -> Timeline:
    """Return a branch that ends the turn at ``place`` and skips the rest of the turn.

    The position must not be in the last turn.
    """
    done, rest = _split(_script(origin.trace), place)
    goes_on = origin.source is CallOrigin.BRANCH and rest == [[]]
    further = _join(rest, origin.rest)[1:]
    new = _played(origin, [*done, []], further or [[]], place.turn)
    return new if goes_on else replace(new, name=name, parted=EpisodePlace(place.turn, "end"))


def with_rest(branch: Timeline) -> Timeline:
    """Copy a branch; the copy also executes the remaining calls of the original timeline."""
    script = _script(branch.trace)
    return _played(branch, _join(script, branch.rest), [[]], len(script) - 1)


def _played(origin: Timeline, script: Script, rest: Script, turn: int) -> Timeline:
    played = trace(origin.examined.prepared, script, origin.profile, None)
    turns = (*origin.trace.turns[:turn], *played.turns[turn:])
    return replace(origin, source=CallOrigin.BRANCH, trace=Trace(turns), rest=rest)


def _script(played: Trace) -> Script:
    return [[[traced.call for traced in step] for step in turn.steps] for turn in played.turns]


def _split(script: Script, place: EpisodePlace, *, without: bool = False) -> tuple[Script, Script]:
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
    return [*first[:-1], [*first[-1], *second[0]], *second[1:]]
