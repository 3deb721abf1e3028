"""Stopping in a debugger right before a call of an episode.

Execution is deterministic, so the episode has been executed before the debugger comes in: where to
stop, the state there, and what the call will give are known. For one call, a function that stops
stands in front of the tool's own; one step into it leads to the backend's code.
"""

from __future__ import annotations

import sys
from bdb import BdbQuit
from collections.abc import Iterable, Sequence
from functools import wraps
from typing import Any, NamedTuple

from checkers.why.divergence import off_path
from envs.backend import Backend
from envs.calls import Call
from envs.errors import BackendFault, MalformedCall
from envs.results import Result
from envs.session import Session
from envs.state import Difference, Snapshot
from runner.analysis.view import Moment, Place, TurnView, view
from runner.episodes.examined import ExaminedTurns
from runner.records.record import call_text
from trajectories.errors import DataError

_KEYS = ("turn", "step", "call")
_STOPS_AT_ONCE = sys.version_info >= (3, 13)
"""Whether pdb stops at ``breakpoint()`` itself and not at the line after it. Either way, one step
from where it stops is to lead into the backend."""
_DIGITS = 6
"""Longest index that is read."""


class Truth(NamedTuple):
    """What the ground truth does in the turn."""

    calls: tuple[str, ...]
    results: tuple[str, ...]
    after: Snapshot
    """The state in which it ends the turn."""
    off_path: tuple[Difference, ...]
    """Where the state is none of the ground truth's once the call is made."""


class Stop(NamedTuple):
    """One place to stop at."""

    moment: Moment
    turn: TurnView

    def __str__(self) -> str:
        """Return place and call as one line."""
        place, traced = self.moment.place, self.moment.traced
        return f"{place}: {call_text(traced.call)}" if traced else str(place)

    @property
    def truth(self) -> Truth:
        """What the ground truth does in the turn."""
        turn = self.turn.truth
        return Truth(
            tuple([call_text(traced.call) for traced in turn.calls]),
            tuple([traced.result.text for traced in turn.calls]),
            turn.after,
            tuple(off_path(turn, self.moment.after)),
        )


class _Scope(NamedTuple):
    """What is at hand in the debugger."""

    session: Session
    call: Call | MalformedCall | None
    result: Result | None
    truth: Truth


def read_place(text: str) -> Place:
    """Return the place that a text such as ``turn=2,step=1`` names.

    Raises:
        DataError: It names none.
    """
    given = dict(part.strip().partition("=")[::2] for part in text.split(","))
    numbers = all(value.isdecimal() and len(value) <= _DIGITS for value in given.values())
    if not numbers or not {"turn"} <= set(given) <= set(_KEYS):
        raise DataError("--break", f"{text!r} is no place; write turn=2,step=1 or turn=2")
    return Place(kind="call", **{key: int(value) for key, value in given.items()})


def stops(examined: ExaminedTurns, places: Iterable[Place], events: Iterable[str]) -> list[Stop]:
    """Return where to stop in an episode, in order.

    Args:
        examined: The episode.
        places: Calls to stop before.
        events: ``divergence``, ``error``, or ``call:`` and the name of a function.

    Raises:
        DataError: There is no such place, or nothing of the kind happens.
    """
    everything = [Stop(moment, turn) for turn in view(examined) for moment in turn.moments[1:]]
    made = {stop.moment.place for stop in everything}
    wanted: set[Place] = set()
    for place in places:
        if place not in made:
            raise DataError("--break", f"the episode makes no call at {place}")
        wanted.add(place)
    for event in events:
        found = _places_of(event, [stop.moment for stop in everything])
        if not found:
            raise DataError("--break-on", f"{event} does not happen in this episode")
        wanted |= found
    return [stop for stop in everything if stop.moment.place in wanted]


def visit(examined: ExaminedTurns, stop: Stop) -> None:
    """Stop in the debugger, then make the call; with the session as it was then.

    Raises:
        KeyboardInterrupt: The user has quit the debugger.
    """
    session = examined.prepared.template.fork()
    traced, turn = stop.moment.traced, stop.turn.model
    session.restore(stop.moment.before)
    if turn and examined.profile.execution.only_offered:
        session.offer(turn.offered)
    scope = _Scope(session, traced and traced.call, traced and traced.result, stop.truth)
    try:
        if traced is None or not _called(scope, traced.call):
            _pause(scope)
    except BdbQuit:
        raise KeyboardInterrupt from None
    except BackendFault as fault:
        if isinstance(fault.__cause__, BdbQuit):
            raise KeyboardInterrupt from None
        raise


def _called(scope: _Scope, call: Call | MalformedCall) -> bool:
    """Make a call that stops on its way; return False where it never comes to a function."""
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
        session, call, result, truth = scope  # noqa: RUF059 - for whoever looks around
        try:
            if _STOPS_AT_ONCE:
                return (breakpoint(), function(backend, *args, **kwargs))[1]  # type: ignore[func-returns-value]
            breakpoint()
            return function(backend, *args, **kwargs)
        except BdbQuit:
            # The session would take it for an error of the backend's.
            raise KeyboardInterrupt from None

    scope.session.replace(tool._replace(function=paused))
    scope.session.call(call)
    return reached


def _pause(scope: _Scope) -> None:
    """Stop where no function is called: at the end of a turn, or at a call that is refused."""
    session, call, result, truth = scope  # noqa: RUF059
    breakpoint()


def _places_of(event: str, moments: Sequence[Moment]) -> set[Place]:
    """Return the places of an event."""
    kind, _, name = event.partition(":")
    if kind == "divergence" and not name:
        return {moment.place for moment in moments if moment.diverges}
    made = [(moment.place, moment.traced) for moment in moments if moment.traced]
    if kind == "error" and not name:
        return {place for place, traced in made if not traced.result.ok}
    if kind == "call" and name:
        named = {place: traced.call for place, traced in made if isinstance(traced.call, Call)}
        return {place for place, call in named.items() if call.name == name}
    raise DataError("--break-on", f"{event!r} is not divergence, error or call:NAME")
