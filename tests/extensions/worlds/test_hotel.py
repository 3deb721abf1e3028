"""Hotel: days, the waiting list, and the end of a day."""

from __future__ import annotations

from typing import Any

import pytest

from envs.calls import parse_call
from envs.errors import ConfigError
from envs.session import Session
from extensions.worlds import world_clock

ROOMS = {"11": {"kind": "single", "price": 6000}, "12": {"kind": "single", "price": 7000}}
CLOSE = {"id": "close", "at": "2026-03-02T23:00", "does": ["HotelBook.close_day"]}


def start(**book: Any) -> Session:
    clock = {"now": "2026-03-02T09:00", "events": [CLOSE]}
    config = {"HotelBook": {"rooms": ROOMS, **book}, "WorldClock": clock}
    return Session.load(["FrontDesk"], config, checks_arguments=True)


def call(session: Session, text: str) -> Any:
    result = session.call(parse_call(text))
    return result.error.message if result.error else result.held


def stay(room: str, arrival: str, departure: str, status: str = "booked") -> dict[str, Any]:
    days = {"arrival": arrival, "departure": departure}
    return {"guest": "Ada", "room": room, **days, "status": status, "paid": 0, "remark": ""}


def status(session: Session, number: str) -> str:
    return session.backends["HotelBook"].stays[number]["status"]


def test_a_room_is_free_again_on_the_day_of_departure():
    session = start()
    call(session, "reserve_room('11', 'Ada', '2026-03-03', '2026-03-05')")
    taken = call(session, "reserve_room('11', 'Bo', '2026-03-04', '2026-03-06')")
    assert taken == "Room 11 is not free from 2026-03-04 to 2026-03-06."
    assert call(session, "reserve_room('11', 'Bo', '2026-03-05', '2026-03-06')") == {"stay": "2"}
    free = call(session, "find_free_rooms('single', '2026-03-04', '2026-03-06')")
    assert free == {"rooms": {"12": 7000}}


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("2026-03-05", "2026-03-05", "lasts 1 to 60 nights"),
        ("2026-03-05", "2026-03-04", "lasts 1 to 60 nights"),
        ("2026-03-01", "2026-03-04", "is in the past"),
        ("2026-02-30", "2026-03-04", "is not a time"),
    ],
)
def test_a_stay_needs_days_to_come(first, last, said):
    assert said in call(start(), f"reserve_room('11', 'Ada', {first!r}, {last!r})")


def test_a_guest_is_checked_in_from_two_o_clock_in_an_empty_room():
    before = stay("11", "2026-03-01", "2026-03-02", "checked_in")
    session = start(stays={"1": before, "2": stay("11", "2026-03-02", "2026-03-04")}, next_stay=3)
    assert "Check-in begins" in call(session, "check_in_guest('2')")
    call(session, "wait('2026-03-02T14:00')")
    assert "still has the guest of stay 1" in call(session, "check_in_guest('2')")
    # After 11:00 on the last day, one more night is paid.
    assert call(session, "check_out_guest('1')") == {"paid": 12_000}
    assert call(session, "check_in_guest('2')") == {"room": "11"}


def test_guests_who_did_not_arrive_lose_their_room_to_the_waiting_list():
    session = start(
        stays={str(n): stay(f"1{n}", "2026-03-02", "2026-03-05") for n in (1, 2)}, next_stay=3
    )
    for guest, first in (("Bo", "2026-03-02"), ("Cy", "2026-03-03"), ("Di", "2026-03-04")):
        call(session, f"join_waiting_list({guest!r}, 'single', {first!r}, '2026-03-05')")
    call(session, "wait('2026-03-02T15:00')")
    call(session, "check_in_guest('1')")
    call(session, "wait('2026-03-03T00:00')")
    assert (status(session, "1"), status(session, "2")) == ("checked_in", "no_show")
    # Bo's first day is over.
    assert call(session, "find_stays('Bo')") == {"stays": {}}
    assert call(session, "find_stays('Cy')")["stays"] == {
        "3": {"guest": "Cy", "room": "12", "status": "booked"}
    }
    call(session, "wait('2026-03-04T00:00')")
    assert status(session, "3") == "no_show"
    assert call(session, "find_stays('Di')")["stays"]["4"]["room"] == "12"
    assert call(session, "show_waiting_list()") == {"waiting": []}


def test_the_waiting_list_is_only_for_full_houses():
    session = start()
    said = call(session, "join_waiting_list('Bo', 'single', '2026-03-04', '2026-03-05')")
    assert said == "Room 11 is free; reserve it."


def test_a_stay_is_extended_until_the_next_guest():
    session = start(
        stays={
            "1": stay("11", "2026-03-01", "2026-03-03", "checked_in"),
            "2": stay("11", "2026-03-05", "2026-03-06"),
        },
        next_stay=3,
    )
    assert call(session, "extend_stay('1', '2026-03-05')") == {"departure": "2026-03-05"}
    assert (
        call(session, "extend_stay('1', '2026-03-06')") == "Room 11 is booked from 2026-03-05 on."
    )


def test_a_config_with_an_unknown_room_or_no_nights_is_refused():
    for wrong in (stay("99", "2026-03-02", "2026-03-03"), stay("11", "2026-03-02", "2026-03-02")):
        with pytest.raises(ConfigError):
            start(stays={"1": wrong}, next_stay=2)


def test_no_more_time_passes_after_too_many_events(monkeypatch):
    monkeypatch.setattr(world_clock, "_MAX_HAPPENED", 10)
    session = start()
    call(session, "wait('2026-03-11T22:00')")
    assert call(session, "wait('2026-03-11T23:30')") == {"now": "2026-03-11T23:30"}
    before = session.snapshot()
    refused = call(session, "wait('2026-03-12T23:30')")
    assert refused == "10 events have happened; no more time can pass."
    assert session.snapshot() == before
