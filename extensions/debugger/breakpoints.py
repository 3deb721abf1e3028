"""Breakpoints of ``turnwise replay``, which stop in pdb right before a call of an episode.

The episode is executed twice. The first execution finds the calls that match, and records states
and results. In the second execution, a wrapper stops right before the call of the backend's
function. The debugger command ``step`` then enters the backend's function.
"""

from __future__ import annotations

import re
import sys
from bdb import BdbQuit
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple

from checkers.causes.divergence import find_off_path
from checkers.causes.episode_place import EpisodePlace
from envs.backend import Backend
from envs.calls import Call
from envs.errors import BackendFault, DataError, MalformedCall
from envs.results import Result
from envs.session import Session
from envs.state import Difference, Snapshot
from runner.analysis.episode_view import EpisodeMoment, MultiTurnRequirement, TurnView, view
from runner.commands.common_options import note
from runner.commands.options import option
from runner.episodes.rejudged_episode import RejudgedEpisode, RejudgedMultiTurn
from runner.records.episode_record import call_text
from runner.show.terminal import escape_unprintable

_KEYS = ("turn", "step", "call")
_OUTPUT_FLAGS = ("--json", "--only-diff", "--turn", "--step")
"""Options of ``replay`` that print only a part of the episode, or print it as JSON."""
_STOPS_AT_ONCE = sys.version_info >= (3, 13)
"""Before Python 3.13, pdb stops at the line after ``breakpoint()``."""
_MAX_DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class BreakpointOptions:
    """Breakpoints."""

    places: tuple[str, ...] = option(
        "open a debugger before a call, such as turn=2,step=1 or turn=2,step=1,call=3; repeatable",
        "PLACE",
        default=(),
        flags=("--break",),
        excludes=_OUTPUT_FLAGS,
    )
    events: tuple[str, ...] = option(
        "open a debugger at an event: divergence (the cause of the failure), error, or call:NAME; "
        "repeatable",
        "EVENT",
        default=(),
        flags=("--break-on",),
        excludes=_OUTPUT_FLAGS,
    )


class TruthTurn(NamedTuple):
    """Ground truth of a turn."""

    calls: tuple[str, ...]
    results: tuple[str, ...]
    after: Snapshot
    """State at the end of the turn."""
    off_path: tuple[Difference, ...]
    """Values in the state after the call that never occur in the ground truth of this turn."""


class StopPoint(NamedTuple):
    """Place where a replay stops."""

    moment: EpisodeMoment
    turn: TurnView

    def __str__(self) -> str:
        """Return the place and the call in one line."""
        place, traced = self.moment.place, self.moment.traced
        return f"{place}: {call_text(traced.call)}" if traced else str(place)

    @property
    def truth(self) -> TruthTurn:
        """Ground truth of the turn."""
        turn = self.turn.truth
        return TruthTurn(
            tuple([call_text(traced.call) for traced in turn.calls]),
            tuple([traced.result.text for traced in turn.calls]),
            turn.after,
            tuple(find_off_path(turn, self.moment.after)),
        )


class _Scope(NamedTuple):
    session: Session
    call: Call | MalformedCall | None
    result: Result | None
    truth: TruthTurn


def debug(own: BreakpointOptions, found: RejudgedEpisode) -> None:
    """Stop ``replay`` at the calls and events that the options select.

    Raises DataError if an option is invalid, or if the episode lacks a selected call or event.
    """
    places = [read_place(text) for text in own.places]
    examined = found.show(MultiTurnRequirement("to stop at"))
    for stop in stops(examined, places, own.events):
        note(escape_unprintable(str(stop)))
        if stop.moment.diverges and examined.diagnosis:
            note(escape_unprintable(f"cause: {examined.diagnosis.sentence}"))
        visit(examined, stop)


def read_place(text: str) -> EpisodePlace:
    """Parse a place such as ``turn=2,step=1``. Turns and steps are counted from 1.

    Raises DataError if the text is not a place.
    """
    given = dict(part.strip().partition("=")[::2] for part in text.split(","))
    numbers = all(re.fullmatch(rf"[1-9][0-9]{{,{_MAX_DIGITS - 1}}}", n) for n in given.values())
    if not numbers or not {"turn"} <= set(given) <= set(_KEYS):
        raise DataError("--break", f"{text!r} must have the form turn=2,step=1 or turn=2")
    return EpisodePlace(kind="call", **{key: int(value) - 1 for key, value in given.items()})


def stops(
    examined: RejudgedMultiTurn, places: Iterable[EpisodePlace], events: Iterable[str]
) -> list[StopPoint]:
    """Return the debugger's stops in an episode, in order.

    Raises DataError if the episode lacks a selected call or event.

    Args:
        examined: The replayed episode.
        places: The debugger stops before the calls at these places.
        events: Events to stop at: ``divergence`` (the place of the cause), ``error`` or
            ``call:NAME``.
    """
    everything = [StopPoint(moment, turn) for turn in view(examined) for moment in turn.moments[1:]]
    made = {stop.moment.place for stop in everything}
    wanted: set[EpisodePlace] = set()
    for place in places:
        if place not in made:
            raise DataError("--break", f"the episode has no call at {place}")
        wanted.add(place)
    for event in events:
        found = _find_event(event, [stop.moment for stop in everything])
        if not found:
            raise DataError("--break-on", f"{event} does not happen in this episode")
        wanted |= found
    return [stop for stop in everything if stop.moment.place in wanted]


def visit(examined: RejudgedMultiTurn, stop: StopPoint) -> None:
    """Stop in the debugger, with the session's state before the call; then execute the call.

    Raises KeyboardInterrupt if the user quit the debugger.
    """
    session = examined.prepared.template.fork()
    traced, turn = stop.moment.traced, stop.turn.model
    session.restore(stop.moment.before if traced else stop.moment.after)
    if turn and examined.profile.execution.only_offered:
        session.offer(turn.offered)
    scope = _Scope(session, traced and traced.call, traced and traced.result, stop.truth)
    try:
        if traced is None or not _call_with_stop(scope, traced.call):
            _pause(scope)
    except BdbQuit:
        raise KeyboardInterrupt from None
    except BackendFault as fault:
        if isinstance(fault.__cause__, BdbQuit):
            raise KeyboardInterrupt from None
        raise


def _call_with_stop(scope: _Scope, call: Call | MalformedCall) -> bool:
    tools = scope.session.tools
    tool = None if isinstance(call, MalformedCall) else tools.get(call.name)
    if tool is None:
        return False
    function = tool.function
    reached = False

    @wraps(function)
    def paused(backend: Backend, *args: Any, **kwargs: Any) -> Any:
        nonlocal reached
        reached = True
        session, call, result, truth = scope  # noqa: RUF059 - for use in the debugger
        try:
            if _STOPS_AT_ONCE:
                return (breakpoint(), function(backend, *args, **kwargs))[1]  # type: ignore[func-returns-value]
            breakpoint()
            return function(backend, *args, **kwargs)
        except BdbQuit:
            # The session would report it as a backend's error.
            raise KeyboardInterrupt from None

    scope.session.replace(tool._replace(function=paused))
    scope.session.call(call)
    return reached


def _pause(scope: _Scope) -> None:
    session, call, result, truth = scope  # noqa: RUF059
    breakpoint()


def _find_event(event: str, moments: Sequence[EpisodeMoment]) -> set[EpisodePlace]:
    kind, _, name = event.partition(":")
    if kind == "divergence" and not name:
        return {moment.place for moment in moments if moment.diverges}
    made = [(moment.place, moment.traced) for moment in moments if moment.traced]
    if kind == "error" and not name:
        return {place for place, traced in made if not traced.result.ok}
    if kind == "call" and name:
        named = {place: traced.call for place, traced in made if isinstance(traced.call, Call)}
        return {place for place, call in named.items() if call.name == name}
    raise DataError(
        "--break-on", f"unknown event {event!r}; use `divergence`, `error` or `call:NAME`"
    )
