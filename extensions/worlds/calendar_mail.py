"""Calendar with mail, meetings, invitations and reminders: an example of scheduled changes.

The office owns e-mails and meetings. Events deliver e-mails and the answers of guests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from envs.backend import Backend, irreversible, reads, writes
from envs.errors import InvalidArgument, NotFound, Refused
from envs.worlds import World
from extensions.worlds.events import reaction
from extensions.worlds.items import FIRST_ADDED, find_item, find_reused_ids
from extensions.worlds.timestamps import Moment, is_moment, read_moment, shift
from extensions.worlds.world_clock import WorldClock
from trajectories.vocabulary import ItemSettings, Vocabulary

Minutes = Annotated[int, Field(ge=5, le=480)]
Address = Annotated[str, Field(min_length=3, max_length=80)]
OPENS, CLOSES = "09:00", "17:00"
"""Office hours; free time is searched only between these times."""


class Email(TypedDict):
    """One received e-mail."""

    sender: Address
    subject: str
    body: str
    received: Moment
    read: bool


class SentEmail(TypedDict):
    """One sent e-mail."""

    to: Address
    subject: str
    body: str


class Meeting(TypedDict):
    """Meeting that the calendar's owner organizes, or to which the owner is invited."""

    title: str
    start: Moment
    minutes: Minutes
    organizer: str
    """Address of the organizer; empty if the user is the organizer."""
    guests: dict[str, Literal["asked", "accepted", "declined"]]
    status: Literal["planned", "invited", "declined", "cancelled"]


class GuestHabit(TypedDict):
    """A guest's answer to every invitation."""

    answer: Literal["accepted", "declined"]
    minutes: Annotated[int, Field(ge=0, le=20_000)]
    """Minutes until the answer."""


class OfficeConfig(TypedDict, total=False):
    """Initial config of the office."""

    emails: dict[str, Email]
    next_email: int
    sent: list[SentEmail]
    meetings: dict[str, Meeting]
    next_meeting: int
    habits: dict[str, GuestHabit]
    """Answers of guests, by the guest's address. Guests that are not listed do not answer."""


class Office(World):
    """E-mails and meetings of one person."""

    Config = OfficeConfig
    untrusted = frozenset({"emails.*.subject", "emails.*.body", "meetings.*.title"})
    RENAMED = {"habits": "_habits"}
    uses = [WorldClock]

    emails: Mapping[str, Mapping[str, Any]] = {}
    next_email: int = 1
    sent: Sequence[Mapping[str, Any]] = []
    meetings: Mapping[str, Mapping[str, Any]] = {}
    next_meeting: int = 1
    _habits: Mapping[str, Mapping[str, Any]] = {}

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield an error for each invalid time, and for each id that a counter will reach."""
        for name, time, counter, prefix in (
            ("emails", "received", "next_email", "E"),
            ("meetings", "start", "next_meeting", "M"),
        ):
            yield from find_reused_ids(config, name, counter, prefix)
            for id, item in config.get(name, {}).items():
                if not is_moment(item[time]):
                    yield f".{name}[{id!r}].{time}", f"{item[time]} is not a real date and time"

    @classmethod
    def _add_bulk(
        cls, config: dict[str, Any], whole: Mapping[str, Any], words: Vocabulary, bulk: ItemSettings
    ) -> None:
        """Add generated e-mails that have been read."""
        added = {
            f"E{day.year}-{number}": {
                "sender": f"{words.person().replace(' ', '.').lower()}@example.org",
                "subject": words.subject(),
                "body": words.remark("message"),
                "received": f"{day}T{words.number(8, 17):02}:{words.number(0, 59):02}",
                "read": True,
            }
            for number, day in enumerate(
                sorted(words.day() for _ in range(bulk.count("messages"))), FIRST_ADDED
            )
        }
        config["emails"] = {**added, **whole["emails"]}

    def get_meeting(self, id: str, status: str) -> Mapping[str, Any]:
        """Return a meeting.

        Raises NotFound if the id is unknown, and Refused if the status is wrong.
        """
        return find_item(self.meetings, "meeting", id, status)

    def put_meeting(self, id: str, meeting: Mapping[str, Any], **changes: Any) -> None:
        """Change fields of a meeting."""
        self.meetings = {**self.meetings, id: {**meeting, **changes}}

    def check_free(self, start: str, minutes: int, moved: str = "") -> None:
        """Raise Refused if a meeting cannot be planned for this time."""
        now = self.world(WorldClock).now
        read_moment(start)
        if start < now:
            raise Refused(f"{start} is in the past (now: {now}).")
        for id, other in self.meetings.items():
            if other["status"] != "planned" or id == moved:
                continue
            if other["start"] < shift(start, minutes) and start < self.end_of(other):
                raise Refused(f"Meeting {id} is at this time: {other['title']}.")

    def end_of(self, meeting: Mapping[str, Any]) -> str:
        """Return the end of a meeting."""
        return shift(meeting["start"], meeting["minutes"])

    def ask_guests(self, id: str) -> None:
        """Invite all guests of a meeting; their answers become events."""
        clock = self.world(WorldClock)
        for guest in self.meetings[id]["guests"]:
            habit = self._habits.get(guest)
            if habit is not None:
                answer = f"Office.answer(meeting={id!r}, guest={guest!r})"
                at = shift(clock.now, habit["minutes"])
                clock.schedule({"id": f"answer {id} {guest}", "at": at, "does": [answer]})

    def forget(self, id: str) -> None:
        """Remove the pending answers and the reminder of a meeting."""
        for guest in self.meetings[id]["guests"]:
            self.world(WorldClock).unschedule(f"answer {id} {guest}")
        self.world(WorldClock).unschedule(f"reminder {id}")

    @reaction
    def deliver(self, sender: str, subject: str, body: str) -> None:
        """Deliver an e-mail."""
        now = self.world(WorldClock).now
        email = {"sender": sender, "subject": subject, "body": body, "received": now, "read": False}
        self.emails = {**self.emails, f"E{self.next_email}": email}
        self.next_email += 1

    @reaction
    def invite(self, organizer: str, title: str, start: str, minutes: int) -> None:
        """Store a meeting to which the user is invited, and deliver the invitation by e-mail."""
        id = f"M{self.next_meeting}"
        self.next_meeting += 1
        invitation = {"title": title, "start": start, "minutes": minutes, "guests": {}}
        self.put_meeting(id, invitation, organizer=organizer, status="invited")
        self.deliver(organizer, f"Invitation: {title}", f"Meeting {id}: {start}, {minutes} min.")

    @reaction
    def answer(self, meeting: str, guest: str) -> None:
        """Store a guest's answer to an invitation, and deliver it by e-mail."""
        found = self.get_meeting(meeting, "planned")
        if guest not in self._habits:
            raise NotFound(f"There is no guest {guest!r:.40}.")
        answer = self._habits[guest]["answer"]
        self.put_meeting(meeting, found, guests={**found["guests"], guest: answer})
        self.deliver(guest, f"{answer.title()}: {found['title']}", f"Meeting {meeting}: {answer}.")


class NoMailboxConfig(TypedDict, total=False):
    """Empty initial config of ``Mailbox``; the state is in ``Office``."""


class Mailbox(Backend):
    """E-mails of the office."""

    Config = NoMailboxConfig
    uses = [Office, WorldClock]

    @reads
    def list_emails(self, unread_only: bool = False) -> dict[str, Any]:
        """List received e-mails without their text, oldest first.

        Args:
            unread_only: Whether to list only unread e-mails.

        Returns:
            emails: E-mails by id: sender, subject, time of receipt and whether it was read.

        Examples:
            >>> list_emails(unread_only=True)
            {"emails": {"E2": {"sender": "bo@example.com", "subject": "Invitation: Budget", ...
        """
        return {
            "emails": {
                id: {name: value for name, value in each.items() if name != "body"}
                for id, each in self.world(Office).emails.items()
                if not (unread_only and each["read"])
            }
        }

    @writes
    def read_email(self, email: str) -> dict[str, Any]:
        """Return an e-mail, and mark it as read.

        Args:
            email: Id of the e-mail, such as E1.

        Returns:
            sender: Address of the sender.
            subject: Subject of the e-mail.
            body: Text of the e-mail.
            received: Time of receipt.

        Examples:
            >>> read_email(email='E1')
            {"sender": "ada@example.com", "subject": "Lunch", "body": "At noon?", "received": ...
            >>> read_email(email='E9')
            {"error": "There is no e-mail 'E9'."}
        """
        office = self.world(Office)
        found = find_item(office.emails, "e-mail", email)
        office.emails = {**office.emails, email: {**found, "read": True}}
        return {name: found[name] for name in ("sender", "subject", "body", "received")}

    @irreversible
    @writes
    def send_email(self, to: Address, subject: str, body: str) -> dict[str, Any]:
        """Send an e-mail.

        Args:
            to: Address of the recipient.
            subject: Subject of the e-mail.
            body: Text of the e-mail.

        Returns:
            sent_to: Address of the recipient.

        Examples:
            >>> send_email(to='ada@example.com', subject='Re: Lunch', body='Yes.')
            {"sent_to": "ada@example.com"}
            >>> send_email(to='ada', subject='Re: Lunch', body='Yes.')
            {"error": "'ada' is not an address such as ada@example.com."}
        """
        name, at, host = to.partition("@")
        if not (name and at and host):
            raise InvalidArgument(f"{to!r:.60} is not an address such as ada@example.com.")
        office = self.world(Office)
        office.sent = [*office.sent, {"to": to, "subject": subject, "body": body}]
        return {"sent_to": to}

    @irreversible
    @writes
    def remove_email(self, email: str) -> dict[str, Any]:
        """Delete a received e-mail permanently.

        Args:
            email: Id of the e-mail, such as E1.

        Returns:
            left: Number of remaining e-mails.

        Examples:
            >>> remove_email(email='E1')
            {"left": 1}
            >>> remove_email(email='E1')
            {"error": "There is no e-mail 'E1'."}
        """
        office = self.world(Office)
        find_item(office.emails, "e-mail", email)
        office.emails = {id: each for id, each in office.emails.items() if id != email}
        return {"left": len(office.emails)}


class NoPlannerConfig(TypedDict, total=False):
    """Empty initial config of ``MeetingPlanner``; the state is in ``Office``."""


class MeetingPlanner(Backend):
    """Calendar of the office."""

    Config = NoPlannerConfig
    uses = [Office, WorldClock]

    @reads
    def list_meetings(self, day: str = "") -> dict[str, Any]:
        """List meetings and invitations, including declined and cancelled ones.

        Args:
            day: Date, such as 2026-03-02; empty for all dates.

        Returns:
            meetings: Meetings by id: title, start, minutes, organizer, guests with answers, status.

        Examples:
            >>> list_meetings(day='2026-03-04')
            {"meetings": {"M2": {"title": "Budget", "start": "2026-03-04T13:00", "minutes": 60, ...
        """
        found = self.world(Office).meetings
        return {"meetings": {id: dict(m) for id, m in found.items() if m["start"].startswith(day)}}

    @reads
    def find_free_time(self, day: str, minutes: Minutes) -> dict[str, Any]:
        """Find the first free time on a day between 09:00 and 17:00.

        Args:
            day: Date, such as 2026-03-02, not before today.
            minutes: Duration in minutes, from 5 to 480.

        Returns:
            start: Start of the free time.

        Examples:
            >>> find_free_time(day='2026-03-03', minutes=90)
            {"start": "2026-03-03T11:00"}
            >>> find_free_time(day='2026-03-03', minutes=480)
            {"error": "There is no free time of 480 minutes on 2026-03-03."}
        """
        office, last = self.world(Office), f"{day}T{CLOSES}"
        if len(day) != 10 or not is_moment(last):
            raise InvalidArgument(f"{day!r:.40} is not a date such as 2026-03-02.")
        start = max(f"{day}T{OPENS}", self.world(WorldClock).now)
        planned = [m for m in office.meetings.values() if m["status"] == "planned"]
        for meeting in sorted(planned, key=lambda meeting: str(meeting["start"])):
            if meeting["start"] < shift(start, minutes) and start < office.end_of(meeting):
                start = office.end_of(meeting)
        if shift(start, minutes) > last:
            raise NotFound(f"There is no free time of {minutes} minutes on {day}.")
        return {"start": start}

    @writes
    def plan_meeting(
        self, title: str, start: Moment, minutes: Minutes, guests: list[Address]
    ) -> dict[str, Any]:
        """Schedule a meeting, and invite guests. Their answers arrive by e-mail.

        Args:
            title: Title of the meeting.
            start: Start time, such as 2026-03-02T09:30. It must not be in the past.
            minutes: Duration in minutes, from 5 to 480.
            guests: Addresses of the guests; empty for none.

        Returns:
            meeting: Id of the meeting.

        Examples:
            >>> plan_meeting(title='Review', start='2026-03-03T10:30', minutes=30, guests=[])
            {"error": "Meeting M1 is at this time: Stand-up."}
            >>> plan_meeting(title='Review', start='2026-03-03T11:00', minutes=30, guests=[])
            {"meeting": "M3"}
        """
        office = self.world(Office)
        office.check_free(start, minutes)
        id = f"M{office.next_meeting}"
        office.next_meeting += 1
        plan = {"title": title, "start": start, "minutes": minutes, "organizer": ""}
        asked = dict.fromkeys(guests, "asked")
        office.put_meeting(id, {**plan, "guests": asked, "status": "planned"})
        office.ask_guests(id)
        return {"meeting": id}

    @writes
    def move_meeting(self, meeting: str, start: Moment) -> dict[str, Any]:
        """Move a meeting that you organize to a free time.

        All guests are invited again, and the reminder is removed.

        Args:
            meeting: Id of the meeting, such as M1.
            start: New start time, such as 2026-03-02T09:30. It must not be in the past.

        Returns:
            start: New start time.

        Examples:
            >>> move_meeting(meeting='M1', start='2026-03-03T14:00')
            {"start": "2026-03-03T14:00"}
            >>> move_meeting(meeting='M2', start='2026-03-03T14:00')
            {"error": "Meeting M2 is invited, not planned."}
        """
        found = self._own(meeting)
        office = self.world(Office)
        office.check_free(start, found["minutes"], meeting)
        office.forget(meeting)
        asked = dict.fromkeys(found["guests"], "asked")
        office.put_meeting(meeting, found, start=start, guests=asked)
        office.ask_guests(meeting)
        return {"start": start}

    @irreversible
    @writes
    def call_off_meeting(self, meeting: str) -> dict[str, Any]:
        """Cancel a meeting that you organize.

        Args:
            meeting: Id of the meeting, such as M1.

        Returns:
            status: New status of the meeting.

        Examples:
            >>> call_off_meeting(meeting='M1')
            {"status": "cancelled"}
            >>> call_off_meeting(meeting='M1')
            {"error": "Meeting M1 is cancelled, not planned."}
        """
        found = self._own(meeting)
        self.world(Office).forget(meeting)
        self.world(Office).put_meeting(meeting, found, status="cancelled")
        return {"status": "cancelled"}

    @writes
    def accept_invitation(self, meeting: str) -> dict[str, Any]:
        """Accept an invitation. The time of the meeting must be free.

        Args:
            meeting: Id of the meeting, such as M2.

        Returns:
            status: New status of the meeting.

        Examples:
            >>> accept_invitation(meeting='M2')
            {"status": "planned"}
            >>> accept_invitation(meeting='M1')
            {"error": "Meeting M1 is planned, not invited."}
        """
        office = self.world(Office)
        found = office.get_meeting(meeting, "invited")
        office.check_free(found["start"], found["minutes"])
        office.put_meeting(meeting, found, status="planned")
        return {"status": "planned"}

    @writes
    def decline_invitation(self, meeting: str) -> dict[str, Any]:
        """Decline an invitation.

        Args:
            meeting: Id of the meeting, such as M2.

        Returns:
            status: New status of the meeting.

        Examples:
            >>> decline_invitation(meeting='M2')
            {"status": "declined"}
            >>> decline_invitation(meeting='M2')
            {"error": "Meeting M2 is declined, not invited."}
        """
        found = self.world(Office).get_meeting(meeting, "invited")
        self.world(Office).put_meeting(meeting, found, status="declined")
        return {"status": "declined"}

    @writes
    def set_reminder(self, meeting: str, minutes_before: int) -> dict[str, Any]:
        """Set a reminder for a planned meeting. The reminder arrives by e-mail.

        Args:
            meeting: Id of the meeting, such as M1.
            minutes_before: Minutes from the reminder to the start, from 0 to 10080.

        Returns:
            reminder: Time of the reminder.

        Examples:
            >>> set_reminder(meeting='M1', minutes_before=30)
            {"reminder": "2026-03-03T09:30"}
            >>> set_reminder(meeting='M1', minutes_before=10000)
            {"error": "The reminder is in the past (now: 2026-03-02T09:00)."}
        """
        if not 0 <= minutes_before <= 10_080:
            raise InvalidArgument("minutes_before must be from 0 to 10080.")
        found = self.world(Office).get_meeting(meeting, "planned")
        clock = self.world(WorldClock)
        at = shift(found["start"], -minutes_before)
        if at < clock.now:
            raise Refused(f"The reminder is in the past (now: {clock.now}).")
        text = f"{found['title']} begins at {found['start']}."
        call = f"Office.deliver(sender='calendar', subject='Reminder', body={text!r})"
        clock.schedule({"id": f"reminder {meeting}", "at": at, "does": [call], "agent": text})
        return {"reminder": at}

    def _own(self, id: str) -> Mapping[str, Any]:
        meeting = self.world(Office).get_meeting(id, "planned")
        if meeting["organizer"]:
            raise Refused(f"Meeting {id} is organized by {meeting['organizer']}.")
        return meeting
