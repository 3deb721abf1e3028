"""Solutions that agree give a ground truth of what all of them need, and nothing else."""

from __future__ import annotations

import pytest

from envs.calls import parse_call
from extensions.generation.entries.filters import RefusedInstruction
from extensions.generation.solver import Solution, find_agreed_entry
from trajectories.schema import Category, Message, Trajectory, Turn

CONFIG = {
    "TradingBot": {
        "watch_list": ["NVDA"],
        "orders": {},
        "account_info": {"account_id": 1, "balance": 500.0, "binding_card": 1111222233334444},
        "authenticated": True,
    }
}


def entry(turns: int = 1) -> Trajectory:
    said = Turn((Message("user", "Put Apple on my watch list, and tell me what it costs."),), ())
    return Trajectory("base_x", Category.BASE, ("TradingBot",), CONFIG, (said,) * turns)


def calls(*turns: str) -> Solution:
    return [[parse_call(text) for text in turn.split("; ") if text] for turn in turns]


def test_what_all_need_is_kept_in_the_words_of_the_shortest() -> None:
    first = calls("get_watchlist(); get_stock_info(symbol='AAPL'); add_to_watchlist(stock='AAPL')")
    second = calls("add_to_watchlist(stock='AAPL'); get_stock_info(symbol='AAPL')")
    found = find_agreed_entry(entry(), [first, second])
    assert found.turns[0].ground_truth == (
        "add_to_watchlist(stock='AAPL')",
        "get_stock_info(symbol='AAPL')",
    )


def test_calls_that_failed_or_do_nothing_are_left_out() -> None:
    one = calls(
        "add_to_watchlist(stock='APPLE'); get_stock_info(symbol='AAPL'); "
        "get_stock_info(symbol='AAPL'); add_to_watchlist(stock='AAPL')"
    )
    found = find_agreed_entry(entry(), [one, one])
    assert found.turns[0].ground_truth == (
        "get_stock_info(symbol='AAPL')",
        "add_to_watchlist(stock='AAPL')",
    )


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("add_to_watchlist(stock='AAPL')", "add_to_watchlist(stock='MSFT')", "different states"),
        ("add_to_watchlist(stock='AAPL')", "", "different states"),
        ("get_watchlist()", "get_account_info()", "the solutions have no call in common"),
        ("", "", "the solutions have no call in common"),
    ],
)
def test_solutions_that_come_to_other_ends_do_not_agree(first: str, second: str, why: str) -> None:
    with pytest.raises(RefusedInstruction, match=why):
        find_agreed_entry(entry(), [calls(first), calls(second)])


def test_turns_agree_one_by_one() -> None:
    one = calls("add_to_watchlist(stock='AAPL')", "get_watchlist()")
    other = calls("", "add_to_watchlist(stock='AAPL'); get_watchlist()")
    with pytest.raises(RefusedInstruction, match="turn 0 ends in different states"):
        find_agreed_entry(entry(2), [one, other])
    found = find_agreed_entry(entry(2), [one, one])
    assert [turn.ground_truth for turn in found.turns] == [
        ("add_to_watchlist(stock='AAPL')",),
        ("get_watchlist()",),
    ]
