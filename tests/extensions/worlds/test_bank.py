"""Small bank: confirmation, limits, holds, and payments that repeat."""

from __future__ import annotations

from typing import Any

import pytest

from envs.calls import parse_call
from envs.session import Session

ACCOUNTS = {
    name: {"owner": name, "balance": 500_000, "daily_limit": 200_000} for name in ("A", "B", "C")
}


def start(**book: Any) -> Session:
    config = {"BankBook": {"accounts": ACCOUNTS, **book}, "WorldClock": {"now": "2026-03-02T09:00"}}
    return Session.load(["BankTeller", "FraudDesk"], config, checks_arguments=True)


def call(session: Session, text: str) -> Any:
    result = session.call(parse_call(text))
    return result.error.message if result.error else result.held


def pay(session: Session, number: int, amount: int, target: str = "B") -> Any:
    call(session, f"prepare_payment('A', {target!r}, {amount}, 'x')")
    return call(session, f"confirm_payment('P{number}', {amount})")


def balances(session: Session) -> list[int]:
    return [each["balance"] for each in session.backends["BankBook"].accounts.values()]


def test_no_money_moves_before_the_amount_is_confirmed():
    session = start()
    call(session, "prepare_payment('A', 'B', 2500, 'x')")
    assert call(session, "confirm_payment('P1', 25)") == "The amount of payment P1 is 2500 cents."
    assert balances(session) == [500_000] * 3
    assert call(session, "confirm_payment('P1', 2500)") == {"status": "made"}
    assert balances(session) == [497_500, 502_500, 500_000]
    assert "is made, not prepared" in call(session, "discard_payment('P1')")
    assert session.tools["confirm_payment"].irreversible


def test_the_daily_limit_counts_all_payments_of_a_day():
    session = start()
    assert pay(session, 1, 90_000) == {"status": "made"}
    assert pay(session, 2, 110_001) == "The daily limit leaves 110000 cents today."
    call(session, "wait('2026-03-03T09:00')")
    assert call(session, "confirm_payment('P2', 110001)") == {"status": "made"}


def test_a_higher_limit_counts_after_a_day_and_a_lower_one_at_once():
    session = start()
    call(session, "set_daily_limit('A', 300000)")
    assert call(session, "get_balance('A')")["daily_limit"] == 200_000
    call(session, "wait('2026-03-03T09:00')")
    assert call(session, "get_balance('A')")["daily_limit"] == 300_000
    call(session, "set_daily_limit('A', 400000)")
    call(session, "set_daily_limit('A', 100)")
    call(session, "wait('2026-03-05T09:00')")
    assert call(session, "get_balance('A')")["daily_limit"] == 100


@pytest.mark.parametrize("end", ["time", "release", "reject"])
def test_a_large_payment_to_a_new_receiver_is_held(end):
    session = start()
    assert pay(session, 1, 150_000) == {"status": "held"}
    assert balances(session) == [350_000, 500_000, 500_000]
    if end == "time":
        call(session, "wait('2026-03-03T09:00')")
    else:
        call(session, f"{end}_payment('P1')")
        call(session, "wait('2026-03-03T09:00')")
        assert not session.backends["WorldClock"].happened
    expected = [500_000, 500_000] if end == "reject" else [350_000, 650_000]
    assert balances(session) == [*expected, 500_000]
    if end == "time":
        assert pay(session, 2, 150_000) == {"status": "made"}  # B is known now


def test_a_standing_order_pays_until_it_is_stopped_and_skips_what_is_refused():
    session = start()
    call(session, "create_standing_order('A', 'C', 150000, 'Rent', '2026-03-02T10:00', 1)")
    call(session, "wait('2026-03-05T12:00')")
    payments = session.backends["BankBook"].payments
    assert [p["status"] for p in payments.values()] == ["made", "made", "made", "rejected"]
    assert balances(session) == [50_000, 500_000, 950_000]
    call(session, "stop_standing_order('S1')")
    call(session, "wait('2026-03-09T12:00')")
    assert len(session.backends["BankBook"].payments) == 4
