"""One person's calendar: events that do not overlap, on a clock that only calls move.

Times are texts such as ``2026-03-02T09:00``, local and without a zone; lengths are in minutes. The
clock, ``now``, is state like all else. Ids count up from ``next_id``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from turnwise import Backend, InvalidArgument, NotFound, Refused, reads, writes
from typing_extensions import TypedDict

Minutes = Annotated[int, Field(ge=5, le=480)]
Email = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$")]

_OPENS, _CLOSES = 9, 17
"""The hours of the working day."""
_TOO_LATE = 9000
"""The first year without times."""


class Event(TypedDict):
    """One event."""

    id: int
    title: str
    start: str
    minutes: int
    attendees: list[str]


class CalendarConfig(TypedDict, total=False):
    """Initial config of the calendar."""

    events: list[Event]
    next_id: int
    now: str


class Repetition(BaseModel):
    """How often an event is to take place."""

    model_config = ConfigDict(extra="forbid")

    every: Literal["day", "week"]
    times: Annotated[int, Field(ge=2, le=10)]


class CalendarAPI(Backend):
    """The calendar of one person."""

    Config = CalendarConfig

    events: Sequence[Mapping[str, Any]] = []
    next_id: int = 1
    now: str = "2026-03-02T08:00"

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Find ids that are given again or not below the counter, and texts that are no time."""
        next_id, seen = config.get("next_id", cls.next_id), set()
        for index, event in enumerate(config.get("events", [])):
            path = f".events[{index}]"
            if event["id"] in seen or event["id"] >= next_id:
                yield f"{path}.id", f"{event['id']} is taken, or not below next_id, {next_id}"
            if not _is_time(event["start"]):
                yield f"{path}.start", f"{event['start']!r} is no time; write {cls.now}"
            seen.add(event["id"])
        if not _is_time(config.get("now", cls.now)):
            yield ".now", f"{config['now']!r} is no time; write {cls.now}"

    @writes
    def create_event(
        self,
        title: str,
        start: str,
        minutes: Minutes = 60,
        attendees: list[Email] = [],  # noqa: B006
        repeat: Repetition | None = None,
    ) -> dict[str, Any]:
        """Put an event into the calendar, once or several times.

        Args:
            title: What it is called.
            start: When it begins, such as 2026-03-02T09:00; not in the past.
            minutes: How long it takes.
            attendees: E-mail addresses of who is invited.
            repeat: Whether it takes place again every day or week, and how often in all; null for
                once.

        Returns:
            events: The new events, each with id, title, start, minutes and attendees.

        Examples:
            >>> create_event(title='Review', start='2026-03-03T14:00', minutes=30)
            {"events": [{"id": 4, "title": "Review", "start": "2026-03-03T14:00", ...
            >>> create_event(title='Swim', start='2026-03-03T07:00',
            ... repeat={'every': 'week', 'times': 3})
            {"events": [{"id": 5, ...}, {"id": 6, ...}, {"id": 7, ... "2026-03-17T07:00", ...
            >>> create_event(title='Lunch', start='2026-03-02T09:20')
            {"error": "That overlaps with event 1, 'Stand-up', from 2026-03-02T09:15 on."}
        """
        first, made = self._future(start), []
        for index in range(repeat.times if repeat else 1):
            days = index * (7 if repeat and repeat.every == "week" else 1)
            begin = first + timedelta(days=days)
            self._refuse_overlap(begin, minutes)
            event = {
                "id": self.next_id,
                "title": title,
                "start": _text(begin),
                "minutes": minutes,
                "attendees": attendees,
            }
            made.append(event)
            self.events = [*self.events, event]
            self.next_id += 1
        return {"events": made}

    @reads
    def list_events(self, day: str | None = None) -> dict[str, Any]:
        """List events in the order in which they take place.

        Args:
            day: Only those that begin on this day, such as 2026-03-02; all if null.

        Returns:
            events: Objects with id, title, start, minutes and attendees.

        Examples:
            >>> list_events(day='2026-03-04')
            {"events": [{"id": 3, "title": "Dentist", "start": "2026-03-04T16:00", ...
            >>> list_events(day='tomorrow')
            {"error": "'tomorrow' is no day. Write it as 2026-03-02."}
        """
        if day is not None and not _is_time(f"{day}T00:00"):
            raise InvalidArgument(f"{day!r} is no day. Write it as {self.now[:10]}.")
        chosen = [event for event in self.events if event["start"].startswith(day or "")]
        return {"events": sorted(chosen, key=lambda event: (event["start"], event["id"]))}

    @reads
    def find_free_time(self, day: str, minutes: Minutes) -> dict[str, str]:
        """Find the first time of a working day, from 09:00 to 17:00, at which nothing takes place.

        Args:
            day: The day, such as 2026-03-02; not in the past.
            minutes: How long it must be.

        Returns:
            start: When it begins.

        Examples:
            >>> find_free_time(day='2026-03-02', minutes=60)
            {"start": "2026-03-02T09:30"}
            >>> find_free_time(day='2026-03-01', minutes=60)
            {"error": "There are no 60 free minutes on 2026-03-01."}
        """
        begin = _time(f"{day}T{_OPENS:02}:00")
        end = begin.replace(hour=_CLOSES) - timedelta(minutes=minutes)
        while begin <= end:
            if begin >= _time(self.now) and self._overlapping(begin, minutes) is None:
                return {"start": _text(begin)}
            begin += timedelta(minutes=5)
        raise Refused(f"There are no {minutes} free minutes on {day}.")

    @writes
    def move_event(self, event_id: int, start: str) -> dict[str, str]:
        """Let an event begin at another time.

        Args:
            event_id: Id of the event.
            start: When it begins, such as 2026-03-02T09:00; not in the past.

        Returns:
            status: Confirmation.

        Examples:
            >>> move_event(event_id=3, start='2026-03-05T16:00')
            {"status": "Event 3 is at 2026-03-05T16:00."}
            >>> move_event(event_id=3, start='2026-03-01T16:00')
            {"error": "2026-03-01T16:00 is in the past: it is 2026-03-02T08:00."}
        """
        event, begin = self._event(event_id), self._future(start)
        self._refuse_overlap(begin, event["minutes"], but=event_id)
        self._replace(event_id, start=_text(begin))
        return {"status": f"Event {event_id} is at {_text(begin)}."}

    @writes
    def invite(
        self, event_id: int, attendees: Annotated[list[Email], Field(min_length=1)]
    ) -> Mapping[str, Any]:
        """Invite further people to an event; who is invited already stays so.

        Args:
            event_id: Id of the event.
            attendees: E-mail addresses, at least one.

        Returns:
            The event: id, title, start, minutes, attendees.

        Examples:
            >>> invite(event_id=1, attendees=['kim@example.org'])
            {"id": 1, ... "attendees": ["ada@example.org", "kim@example.org"]}
            >>> invite(event_id=9, attendees=['kim@example.org'])
            {"error": "There is no event with the id 9."}
        """
        invited = [*self._event(event_id)["attendees"], *attendees]
        self._replace(event_id, attendees=list(dict.fromkeys(invited)))
        return self._event(event_id)

    @writes
    def cancel_event(self, event_id: int) -> dict[str, str]:
        """Take an event out of the calendar.

        Args:
            event_id: Id of the event.

        Returns:
            status: Confirmation.

        Examples:
            >>> cancel_event(event_id=2)
            {"status": "Event 2 is cancelled."}
            >>> cancel_event(event_id=2)
            {"error": "There is no event with the id 2."}
        """
        self._event(event_id)
        self.events = [event for event in self.events if event["id"] != event_id]
        return {"status": f"Event {event_id} is cancelled."}

    @writes
    def wait_until(self, time: str) -> dict[str, str]:
        """Let time pass.

        Args:
            time: Until when, such as 2026-03-02T09:00; not in the past.

        Returns:
            now: The time.

        Examples:
            >>> wait_until(time='2026-03-02T12:00')
            {"now": "2026-03-02T12:00"}
            >>> wait_until(time='2026-03-02T08:00')
            {"error": "2026-03-02T08:00 is in the past: it is 2026-03-02T12:00."}
        """
        self.now = _text(self._future(time))
        return {"now": self.now}

    def _event(self, event_id: int) -> Mapping[str, Any]:
        for event in self.events:
            if event["id"] == event_id:
                return event
        raise NotFound(f"There is no event with the id {event_id}.")

    def _future(self, text: str) -> datetime:
        time = _time(text)
        if time < _time(self.now):
            raise Refused(f"{text} is in the past: it is {self.now}.")
        return time

    def _overlapping(
        self, begin: datetime, minutes: int, but: int | None = None
    ) -> Mapping[str, Any] | None:
        end = begin + timedelta(minutes=minutes)
        for event in self.events:
            other = _time(event["start"])
            apart = end <= other or other + timedelta(minutes=event["minutes"]) <= begin
            if event["id"] != but and not apart:
                return event
        return None

    def _refuse_overlap(self, begin: datetime, minutes: int, but: int | None = None) -> None:
        event = self._overlapping(begin, minutes, but)
        if event:
            which = f"{event['id']}, {event['title']!r}, from {event['start']} on"
            raise Refused(f"That overlaps with event {which}.")

    def _replace(self, event_id: int, **members: Any) -> None:
        self.events = [{**e, **members} if e["id"] == event_id else e for e in self.events]


def _time(text: str) -> datetime:
    if not _is_time(text):
        raise InvalidArgument(
            f"{text!r} is no time before the year {_TOO_LATE}. Write it as 2026-03-02T09:00."
        )
    return datetime.fromisoformat(text)


def _text(time: datetime) -> str:
    return time.isoformat(timespec="minutes")


def _is_time(text: str) -> bool:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return False
    # A series of events must end before the last time that Python knows.
    return time.year < _TOO_LATE and _text(time) == text
