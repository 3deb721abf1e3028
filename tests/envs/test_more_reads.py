"""Reading more, earlier or twice changes no later result and no state, where data is our own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.backend import AS_BFCL
from envs.calls import parse_call
from envs.registry import BACKENDS
from envs.session import Session
from extensions.contract import random_play
from extensions.contract.checked_environment import CheckedEnvironment
from extensions.contract.generated_values import ShownValues, ValueRandom, shown_in
from extensions.contract.random_play import draw_call, scripts
from tests.examples import examples

QUICK = ["GorillaFileSystem", "MessageAPI"]


@pytest.fixture(autouse=True)
def _fewer_plays_in_the_quick_part(monkeypatch):
    monkeypatch.setattr(random_play, "_PLAYS", examples(random_play._PLAYS))


def a_read(data, subject, session):
    """Return a call of a function that only reads, with values from the state."""
    tools = [tool for tool in subject.tools if not tool.writes]
    known = ShownValues(shown_in(session.snapshot().compared()))
    return draw_call(subject, ValueRandom(data.draw(st.integers())), tools, known)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in BACKENDS]
)
def test_reads_inserted_anywhere_change_nothing_after_them(name):
    subject = CheckedEnvironment(name)
    played = scripts(subject)

    @settings(max_examples=examples(40), deadline=None, derandomize=True, database=None)
    @given(data=st.data())
    def insert(data):
        assert_the_same_with_reads_between(data, subject, data.draw(st.sampled_from(played)))

    insert()


def assert_the_same_with_reads_between(data, subject, script):
    session = subject.session(script.start)
    for call, text in zip(script.calls, script.texts, strict=False):
        for _ in range(data.draw(st.integers(0, 3))):
            read, before = a_read(data, subject, session), session.snapshot().states
            first, second = session.call(read), session.call(read)
            assert first.text == second.text
            assert not first.changed
            assert session.snapshot().states == before
        assert session.call(call).text == text
    assert session.snapshot() == script.end


@pytest.mark.parametrize(
    ("name", "config", "read", "later"),
    [
        (
            "VehicleControlAPI",
            {},
            "get_current_speed()",
            "get_outside_temperature_from_google()",
        ),
        ("VehicleControlAPI", {}, "get_current_speed()", "get_current_speed()"),
    ],
)
def test_a_reading_uses_up_what_comes_next_in_bfcl_only(name, config, read, later):
    own, as_bfcl = Session.load([name], config), Session.load([name], config, behaviour=AS_BFCL)
    for session, alike in ((own, True), (as_bfcl, False)):
        fork = session.fork()
        fork.call(parse_call(read))
        assert (fork.call(parse_call(later)).text == session.call(parse_call(later)).text) is alike


BOOK = "book_flight('t', 'c', '{}', 'SFO', 'LAX', 'economy')"
AGENCY = {
    "access_token": "t",
    "token_expires_in": 9,
    "credit_card_list": {"c": {"balance": 9000.0}},
}


def agency():
    return Session.load(["TravelAPI"], {"TravelAPI": AGENCY})


def test_an_id_does_not_depend_on_what_was_drawn_before():
    days = [BOOK.format(day) for day in ("2025-05-01", "2025-05-02")]
    there, back = agency(), agency()
    there.play(map(parse_call, days))
    back.play(map(parse_call, reversed(days)))
    assert there.snapshot() == back.snapshot()


def test_the_same_thing_twice_has_two_ids():
    session = agency()
    first, second = session.play([parse_call(BOOK.format("2025-05-01"))] * 2)
    assert first.value["booking_id"] != second.value["booking_id"]
    assert len(session.snapshot().states["TravelAPI"]["booking_record"]) == 2


def test_a_new_token_is_another_one():
    session = agency()
    ask = parse_call("authenticate_travel('i', 's', 'r', 'read', 'Bob', 'Ross')")
    first, second = session.play([ask, ask])
    assert first.value["access_token"] != second.value["access_token"]


def test_forks_draw_as_the_session_does():
    for session in (agency(), Session.load(["TravelAPI"], {"TravelAPI": AGENCY}, tolerant=True)):
        call = parse_call(BOOK.format("2025-05-01"))
        assert session.fork().call(call).text == session.call(call).text
