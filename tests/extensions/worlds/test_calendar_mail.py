"""Calendar with mail: answers, reminders and invitations arrive by events."""

from __future__ import annotations

from typing import Any

import pytest

from envs.calls import parse_call
from envs.session import Session

NOW = "2026-03-02T09:00"
BO = "bo@example.com"


def start(**office: Any) -> Session:
    clock = {"now": NOW}
    config = {"Office": office, "WorldClock": clock}
    return Session.load(["Mailbox", "MeetingPlanner"], config, checks_arguments=True)


def call(session: Session, text: str) -> Any:
    result = session.call(parse_call(text))
    return result.error.message if result.error else result.held


def wait(session: Session, time: str) -> None:
    assert session.call(parse_call(f"wait(until={time!r})")).ok


def plan(session: Session, start: str, guests: list[str]) -> Any:
    return call(session, f"plan_meeting('Tea', {start!r}, 30, {guests})")


@pytest.mark.parametrize("answer", ["accepted", "declined"])
def test_a_guest_answers_after_a_while(answer):
    session = start(habits={BO: {"answer": answer, "minutes": 40}})
    assert plan(session, "2026-03-03T10:00", [BO, "cy@example.com"]) == {"meeting": "M1"}
    wait(session, "2026-03-02T09:39")
    assert session.backends["Office"].meetings["M1"]["guests"][BO] == "asked"
    wait(session, "2026-03-02T09:40")
    guests = session.backends["Office"].meetings["M1"]["guests"]
    assert guests == {BO: answer, "cy@example.com": "asked"}
    assert call(session, "list_emails()")["emails"]["E1"]["sender"] == BO


def test_a_moved_meeting_asks_again_and_forgets_the_earlier_answer():
    session = start(habits={BO: {"answer": "accepted", "minutes": 40}})
    plan(session, "2026-03-03T10:00", [BO])
    call(session, "set_reminder('M1', 60)")
    wait(session, "2026-03-02T09:20")
    call(session, "move_meeting('M1', '2026-03-04T10:00')")
    assert [event["id"] for event in session.backends["WorldClock"].events] == [f"answer M1 {BO}"]
    wait(session, "2026-03-02T09:50")
    assert session.backends["Office"].meetings["M1"]["guests"] == {BO: "asked"}
    wait(session, "2026-03-02T10:00")
    assert session.backends["Office"].meetings["M1"]["guests"] == {BO: "accepted"}


def test_a_cancelled_meeting_has_neither_answer_nor_reminder():
    session = start(habits={BO: {"answer": "accepted", "minutes": 40}})
    plan(session, "2026-03-03T10:00", [BO])
    call(session, "set_reminder('M1', 60)")
    call(session, "call_off_meeting('M1')")
    wait(session, "2026-03-04T10:00")
    assert not session.backends["Office"].emails
    assert not session.notices


def test_a_reminder_is_an_e_mail_and_a_notice():
    session = start()
    plan(session, "2026-03-03T10:00", [])
    assert call(session, "set_reminder('M1', 30)") == {"reminder": "2026-03-03T09:30"}
    assert "is in the past" in call(session, "set_reminder('M1', 10000)")
    wait(session, "2026-03-03T09:30")
    said = [str(each) for each in session.notices if each.to == "agent"]
    assert said == ["[Notice 2026-03-03T09:30] Tea begins at 2026-03-03T10:00."]
    assert call(session, "read_email('E1')")["subject"] == "Reminder"


def test_times_must_be_free_and_to_come():
    session = start()
    plan(session, "2026-03-03T10:00", [])
    assert "is at this time" in plan(session, "2026-03-03T10:29", [])
    assert plan(session, "2026-03-03T10:30", []) == {"meeting": "M2"}
    assert "is at this time" in plan(session, "2026-03-03T09:31", [])
    assert "is in the past" in plan(session, "2026-03-01T10:00", [])
    assert "is not a time" in plan(session, "2026-02-30T10:00", [])
    assert call(session, "find_free_time('2026-03-03', 60)") == {"start": "2026-03-03T09:00"}
    assert call(session, "find_free_time('2026-03-03', 75)") == {"start": "2026-03-03T11:00"}


def test_only_the_organizer_moves_or_cancels():
    meeting = {"title": "Demo", "start": "2026-03-03T10:00", "minutes": 30, "guests": {}}
    invited = {**meeting, "organizer": BO, "status": "invited"}
    session = start(meetings={"M1": invited}, next_meeting=2)
    assert call(session, "accept_invitation('M1')") == {"status": "planned"}
    for text in ("move_meeting('M1', '2026-03-03T12:00')", "call_off_meeting('M1')"):
        assert call(session, text) == f"Meeting M1 is organized by {BO}."
