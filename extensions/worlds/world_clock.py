"""World clock: the time and the pending events of a session.

The function ``wait`` and functions that call ``advance`` move the clock. If the config sets minutes
per call or per turn, each call or turn also moves the clock. Events happen in the order of their
times. Events at the same time happen in the order of the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from typing_extensions import TypedDict

from envs.backend import reads, writes
from envs.calls import Call
from envs.errors import BackendFault, ConfigProblem, InvalidArgument, MalformedCall, Refused
from envs.long_context import LongContextPack
from envs.notices import Notice
from envs.worlds import World, WorldSession
from extensions.worlds.events import (
    Event,
    find_event_problems,
    find_session_problems,
    holds,
    list_effects,
    matches,
)
from extensions.worlds.timestamps import FIRST, Moment, is_moment, read_moment, shift

_START = "2026-01-05T09:00"
_MAX_WAIT = 366 * 24 * 60
"""Maximum number of minutes by which one call can move the clock."""
_MAX_EVENTS = 5_000
"""Maximum events in one call or between two turns."""
_MAX_HAPPENED = 5_000
"""Maximum number of past events."""
_READERS: Sequence[Literal["agent", "user"]] = ("agent", "user")


class WorldClockConfig(TypedDict, total=False):
    """Initial config of the timeline."""

    now: Moment
    """Time at the start."""
    events: Sequence[Event]
    """Future events."""
    happened: dict[str, str]
    """Messages or effects of past events, by event id."""
    minutes_per_call: int
    """Minutes that each successful call takes."""
    minutes_per_turn: int
    """Minutes between two turns."""
    exact_time: bool
    """Whether the time is part of the state that verdicts compare."""


class WorldClock(World):
    """A clock with events."""

    Config = WorldClockConfig
    RENAMED = {"now": "_now"}
    unordered = frozenset({"events"})

    events: Sequence[Event] = []
    happened: dict[str, str] = {}
    minutes_per_call: int = 0
    minutes_per_turn: int = 0
    exact_time: bool = False
    time: str = ""
    _now: str = _START
    _until: str = ""

    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        self.time = self._now if self.exact_time else ""

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield a path and a message for each invalid time or event in a config."""
        now = config.get("now", _START)
        if not is_moment(now):
            yield ".now", f"{now} is not a real date and time"
            return
        for key in ("minutes_per_call", "minutes_per_turn"):
            if not 0 <= config.get(key, 0) <= _MAX_WAIT:
                yield f".{key}", f"must be at least 0 and at most {_MAX_WAIT}"
        known: set[str] = set()
        for index, event in enumerate(config.get("events", ())):
            if event["id"] in known:
                yield f".events[{index}].id", f"duplicate id {event['id']!r}"
            known.add(event["id"])
            for path, message in find_event_problems(event, now):
                yield f".events[{index}]{path}", message

    @property
    def now(self) -> str:
        """The current time, such as "2026-03-02T09:30"."""
        return self._now

    def count_days_since(self, day: str) -> int:
        """Return the number of days since a date; if ``day`` is not a date, return 0."""
        if not is_moment(day[:10]):
            return 0
        return (read_moment(self._now[:10]) - read_moment(day[:10])).days

    def advance(self, minutes: int) -> None:
        """Let time pass at the end of the current call."""
        self._until = shift(max(self._now, self._until), minutes)

    def schedule(self, event: Event) -> None:
        """Add an event; it replaces a pending event with the same id.

        Raises ValueError if the event has errors.
        """
        for path, message in find_event_problems(event, FIRST):
            raise ValueError(f"event {event['id']!r}{path}: {message}")
        self.events = [*(each for each in self.events if each["id"] != event["id"]), event]

    def unschedule(self, id: str) -> None:
        """Remove a pending event, if it exists."""
        self.events = [each for each in self.events if each["id"] != id]

    @reads
    def get_time(self) -> dict[str, Any]:
        """Return the current date and time.

        Returns:
            now: Date and time, such as 2026-03-02T09:30.

        Examples:
            >>> get_time()
            {"now": "2026-03-02T09:00"}
        """
        return {"now": self._now}

    @writes
    def wait(self, until: Moment) -> dict[str, Any]:
        """Wait until a time, at most 366 days ahead.

        Args:
            until: Date and time, such as 2026-03-02T09:30. It must not be before the current time.

        Returns:
            now: Date and time after waiting.

        Examples:
            >>> wait(until='2026-03-02T12:00')
            {"now": "2026-03-02T12:00"}
            >>> wait(until='2026-03-02T08:00')
            {"error": "2026-03-02T08:00 is in the past (now: 2026-03-02T12:00)."}
        """
        minutes = (read_moment(until) - read_moment(self._now)).total_seconds() // 60
        if minutes < 0:
            raise Refused(f"{until} is in the past (now: {self._now}).")
        if minutes > _MAX_WAIT:
            raise InvalidArgument(f"{until} is more than 366 days ahead.")
        if len(self.happened) >= _MAX_HAPPENED:
            raise Refused(f"{len(self.happened)} events have happened; no more time can pass.")
        self._until = until
        return {"now": until}

    def _find_problems(self, session: WorldSession) -> Iterator[ConfigProblem]:
        if not isinstance(self.events, list | tuple):
            yield ConfigProblem("$.WorldClock.events", "must be a list of events")
            return
        for index, event in enumerate(self.events):
            try:
                problems = [*find_session_problems(event, session)]
            except (AttributeError, TypeError, ValueError, MalformedCall):
                # A session may be loaded without a check of the config's types.
                problems = [("", f"is not a valid event: {event!r:.80}")]
            for path, message in problems:
                yield ConfigProblem(f"$.WorldClock.events[{index}]{path}", message)

    def _settle(self, session: WorldSession, call: Call) -> None:
        self.events = [
            self._delayed(event)
            if matches(event, call, session) and holds(event, session)
            else event
            for event in self.events
        ]
        self._pass(session, shift(max(self._now, self._until), self.minutes_per_call))

    def _end_turn(self, session: WorldSession) -> None:
        self._pass(session, shift(self._now, self.minutes_per_turn))

    def _pass(self, session: WorldSession, until: str) -> None:
        self._until = ""
        for _ in range(_MAX_EVENTS):
            due = [
                (max(at, self._now), index)
                for index, event in enumerate(self.events)
                if (at := self._find_time(event, session)) is not None and at <= until
            ]
            if not due:
                break
            self._now, index = min(due)
            event = self.events[index]
            if "at" in event or not event.get("delay"):
                self._happen(session, index)
            else:
                delayed = [*self.events]
                delayed[index] = self._delayed(event)
                self.events = delayed
        else:
            why = RuntimeError(f"more than {_MAX_EVENTS} events at once")
            raise BackendFault("WorldClock", why)
        self._now = until
        self.time = until if self.exact_time else ""

    def _find_time(self, event: Event, session: WorldSession) -> str | None:
        """Return the time of an event, or None if the event has not been triggered yet."""
        if "at" in event:
            return event["at"]
        return self._now if "after" not in event and holds(event, session) else None

    def _delayed(self, event: Event) -> Event:
        kept = {name: v for name, v in event.items() if name not in ("after", "when", "delay")}
        return cast(Event, {**kept, "at": shift(self._now, event.get("delay", 0))})

    def _happen(self, session: WorldSession, index: int) -> None:
        event = self.events[index]
        self.events = [*self.events[:index], *self.events[index + 1 :]]
        if not holds(event, session):
            return
        done = []
        for what, run in list_effects(event, session):
            refusal = session.act(what, run)
            done.append(f"{what}: refused: {refusal.message}" if refusal else what)
        effects = "; ".join(done)
        if done:
            self._notify(Notice(event["id"], effects, None, self._now))
        for reader in _READERS:
            if reader in event:
                self._notify(Notice(event["id"], event[reader], reader, self._now))
        self.happened = {
            **self.happened,
            event["id"]: event.get("agent", event.get("user", effects)),
        }
