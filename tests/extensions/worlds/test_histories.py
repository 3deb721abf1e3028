"""Histories of four worlds: equal however they are split, copied, pickled, killed or resumed."""
# ruff: noqa: E501 - events are shown in one line.

from __future__ import annotations

import copy
import json
import pickle
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.calls import parse_call
from envs.session import Session
from extensions.worlds import shop
from extensions.worlds.timestamps import shift

START = "2026-03-02T09:00"
LAST = 4 * 24 * 60
"""Minutes that a history lasts at most."""
CUTS = ["fork", "pickle", "copy", "restore", "split", "kill", None]


class PlayedWorld(NamedTuple):
    """A world of several backends, its events, and the calls of its histories."""

    environments: list[str]
    events: list[dict[str, Any]]
    calls: list[str]


WORLDS = {
    "shop": PlayedWorld(
        ["Storefront", "BackOffice"],
        [
            {
                "id": "sale",
                "at": "2026-03-02T10:00",
                "sets": {"Stockroom.products.T1.price": 200},
            },
            {
                "id": "low",
                "when": {"Stockroom.products.T1.stock": {"below": 2}},
                "delay": 15,
                "adds": {"Stockroom.products.T1.stock": 3},
            },
            {"id": "thanks", "after": "order_cart", "delay": 30, "agent": "Thank you."},
            {"id": "bonus", "after": "pay_order", "adds": {"Storefront.credit": 50}},
        ],
        [
            "add_to_cart('T1', 2)",
            "order_cart()",
            "pay_order('2', 900)",
            "pay_order('2', 400)",
            "pay_order('1', 800)",
            "call_off_order('1')",
            "return_order('1')",
            "receive_delivery('C1', 1)",
        ],
    ),
    "calendar": PlayedWorld(
        ["Mailbox", "MeetingPlanner"],
        [
            {
                "id": "invitation",
                "at": "2026-03-02T11:00",
                "does": [
                    "Office.invite(organizer='cy@example.com', title='Party', start='2026-03-03T11:00', minutes=60)"
                ],
                "agent": "New e-mail.",
            },
            {"id": "again", "after": "decline_invitation", "delay": 45, "user": "Why?"},
        ],
        [
            "plan_meeting('A', '2026-03-03T12:00', 60, ['ada@example.com', 'bo@example.com'])",
            "plan_meeting('B', '2026-03-02T15:00', 30, ['bo@example.com'])",
            "move_meeting('M3', '2026-03-04T09:00')",
            "move_meeting('M1', '2026-03-04T13:30')",
            "accept_invitation('M2')",
            "decline_invitation('M3')",
            "call_off_meeting('M3')",
            "set_reminder('M1', 60)",
            "set_reminder('M3', 1000)",
            "read_email('E3')",
            "remove_email('E1')",
        ],
    ),
    "hotel": PlayedWorld(
        ["FrontDesk"],
        [
            {"id": "close", "at": "2026-03-02T23:00", "does": ["HotelBook.close_day"]},
            {
                "id": "guest",
                "at": "2026-03-03T10:00",
                "does": ["join_waiting_list('Di', 'single', '2026-03-04', '2026-03-05')"],
            },
        ],
        [
            "reserve_room('12', 'Cy', '2026-03-02', '2026-03-03')",
            "reserve_room('11', 'Cy', '2026-03-04', '2026-03-06')",
            "check_in_guest('1')",
            "check_in_guest('2')",
            "check_out_guest('1')",
            "check_out_guest('2')",
            "extend_stay('1', '2026-03-05')",
            "cancel_stay('1')",
            "cancel_stay('2')",
            "join_waiting_list('Ed', 'double', '2026-03-02', '2026-03-04')",
            "leave_waiting_list('Bo')",
        ],
    ),
    "bank": PlayedWorld(
        ["BankTeller", "FraudDesk"],
        [
            {
                "id": "salary",
                "at": "2026-03-03T06:00",
                "adds": {"BankBook.accounts.A1.balance": 900},
            },
            {
                "id": "warning",
                "when": {"BankBook.accounts.A1.balance": {"below": 200000}},
                "agent": "The balance is low.",
            },
        ],
        [
            "prepare_payment('A1', 'A3', 150000, 'Deposit')",
            "prepare_payment('A1', 'A2', 60000, 'Car')",
            "confirm_payment('P2', 150000)",
            "confirm_payment('P2', 60000)",
            "confirm_payment('P3', 60000)",
            "discard_payment('P3')",
            "create_standing_order('A2', 'A3', 9000, 'Rent', '2026-03-02T10:00', 1)",
            "stop_standing_order('S1')",
            "set_daily_limit('A1', 400000)",
            "set_daily_limit('A2', 10000)",
            "release_payment('P2')",
            "reject_payment('P2')",
        ],
    ),
}


@cache
def config_of(name: str) -> Any:
    world = WORLDS[name]
    file = Path(shop.__file__).with_name(f"{world.environments[0]}.json")
    config = json.loads(file.read_text(encoding="utf-8"))
    return {**config, "WorldClock": {"now": START, "events": world.events}}


def play(name: str, moves, cuts) -> tuple[list[str], Any, list[str]]:
    """Play moves; between them, copy, pickle, restore, kill, or split the waiting."""
    session = Session.load(WORLDS[name].environments, config_of(name))
    now, texts, done = 0, [], []
    for index, move in enumerate(moves):
        cut = cuts[index % len(cuts)] if cuts else None
        if cut == "fork":
            session = session.fork()
        elif cut == "pickle":
            session = pickle.loads(pickle.dumps(session))
        elif cut == "copy":
            session = copy.deepcopy(session)
        elif cut == "kill":
            session = Session.load(WORLDS[name].environments, config_of(name))
            session.play(done)
        elif cut == "restore":
            kept = session.snapshot()
            session.call(wait(min(now + 2_000, LAST)))
            session.play(map(parse_call, WORLDS[name].calls))
            session.restore(kept)
        call = parse_call(move) if isinstance(move, str) else None
        if call is None:
            if now + move > LAST:
                continue
            if cut == "split":
                session.call(wait(now + move // 2))
            now += move
            call = wait(now)
        done.append(call)
        texts.append(session.call(call).text)
    return texts, session.snapshot().to_json(), [str(each) for each in session.notices]


def wait(minutes: int) -> Any:
    return parse_call(f"wait(until={shift(START, minutes)!r})")


def moves(name: str) -> Any:
    calls = st.sampled_from(WORLDS[name].calls)
    return st.lists(st.one_of(st.integers(1, 1_500), calls, calls), max_size=12)


cuts = st.lists(st.sampled_from(CUTS), min_size=1)


@pytest.mark.parametrize("name", WORLDS)
@settings(max_examples=40)
@given(st.data())
def test_histories_are_equal_however_they_are_split(name, data):
    made = data.draw(moves(name))
    assert play(name, made, data.draw(cuts)) == play(name, made, ())


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
@settings(max_examples=10_000)
@given(st.data())
def test_many_histories_are_equal_however_they_are_split(name, data):
    made = data.draw(moves(name))
    assert play(name, made, data.draw(cuts)) == play(name, made, ())


@pytest.mark.parametrize("name", WORLDS)
def test_every_call_of_the_histories_succeeds_in_some(name):
    draw, reached = Random(0), set()
    for _ in range(300):
        session = Session.load(WORLDS[name].environments, config_of(name))
        for step in range(12):
            text = draw.choice(WORLDS[name].calls)
            if session.call(parse_call(text)).ok:
                reached.add(text)
            if draw.random() < 0.3:
                session.call(wait(step * draw.randrange(480)))
    assert reached == {*WORLDS[name].calls}
