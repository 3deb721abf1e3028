"""The market: prices that move, alike from the same start, and never far at once."""

from __future__ import annotations

from itertools import pairwise

import pytest

from envs.calls import parse_call
from envs.errors import ConfigError
from envs.session import Session
from tests.extensions.library.calling import refusal, value

NAME = "MarketQuotes"
ASK = parse_call("latest_price(symbol='ALPN')")


def prices(session: Session, count: int) -> list[float]:
    """Return what asking so often gives."""
    return [session.call(ASK).value["price"] for _ in range(count)]


def market(**config: object) -> Session:
    """Return a market."""
    return Session.load([NAME], {NAME: config})


def test_prices_move_with_every_question_but_not_far() -> None:
    moves = [48.2, *prices(market(), 200)]
    assert len(set(moves)) > 150
    for before, after in pairwise(moves):
        assert after == pytest.approx(before, rel=0.0301)


def test_the_same_start_gives_the_same_prices_and_another_seed_others() -> None:
    assert prices(market(), 5) == prices(market(), 5)
    assert prices(market(), 5) == prices(market().fork(), 5)
    assert prices(market(random_seed=1), 5) != prices(market(random_seed=2), 5)


def test_prices_stay_within_what_a_config_may_hold() -> None:
    low = market(shares={"ALPN": 0.0001})
    assert min(prices(low, 100)) >= 0.0001
    high = market(shares={"ALPN": 1_000_000.0})
    assert max(prices(high, 100)) <= 1_000_000


def test_a_currency_costs_one_of_itself() -> None:
    assert value(NAME, "exchange_rate(base='EUR', quote='EUR')") == 1.0


def test_a_history_has_a_price_for_each_day_and_moves_no_price() -> None:
    session = market()
    history = session.call(parse_call("price_history(symbol='ELMS', days=30)")).value["prices"]
    assert [day["days_ago"] for day in history] == list(range(1, 31))
    assert session.snapshot() == market().snapshot()


def test_an_empty_market_has_no_share() -> None:
    assert market(shares={}).call(ASK).error.message == "Unknown share 'ALPN': use none."


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("latest_price(symbol='alpn')", "Unknown share 'alpn'"),
        ("exchange_rate(base='USD', quote='usd')", "Unknown currency 'usd'"),
        ("price_history(symbol='ELMS', days=0)", "days must be from 1 to 30, not 0."),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)


@pytest.mark.parametrize("price", [0, -1.0, 1e7, float("nan")])
def test_a_price_that_is_none_is_refused(price: float) -> None:
    with pytest.raises(ConfigError, match=r"\$\.MarketQuotes\.shares\.ALPN: must be from 0.0001"):
        market(shares={"ALPN": float(price)})
