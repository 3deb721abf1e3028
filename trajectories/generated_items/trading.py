"""Generator of finished orders, further stocks, watched stocks and older transactions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from envs.backends.trading_bot import TradingBot
from trajectories.generated_items.item_settings import ItemSettings
from trajectories.vocabulary import FastRandom, Vocabulary

WATCH_LIST = "watchlist"
"""If ``ItemSettings.without`` contains this word, the watch list stays unchanged."""
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_KNOWN = {*TradingBot.stocks, "AMZN", "GORI", "TSLA"}
"""All symbols that the broker knows, traded or not."""


@lru_cache(maxsize=4)
def list_symbols(seed: int, items: int) -> tuple[str, ...]:
    """Return new stock symbols; each differs from a known symbol in one or two letters."""
    draws = FastRandom(f"{seed} symbols")
    known = [*TradingBot.stocks]
    symbols: dict[str, None] = {}
    while len(symbols) < 2 * items:
        letters = list(draws.choice(known))
        for place in draws.sample((1, 2, 3), draws.choice((1, 2))):
            letters[place] = draws.choice(_LETTERS)
        symbols["".join(letters)] = None
    return tuple([symbol for symbol in symbols if symbol not in _KNOWN])


def fill(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add finished orders and transactions before the existing items."""
    symbols = list_symbols(bulk.seed, bulk.count("stocks"))
    stocks = {
        symbol: _make_figures(vocabulary) for symbol in symbols if symbol not in whole["stocks"]
    }
    known = [str(key) for key in whole["orders"]]
    numbers = [int(key) for key in known if key.isdigit()]
    first = min(numbers, default=whole["order_counter"])
    traded = [*whole["stocks"], *symbols[:20]]
    orders = {
        str(number): {
            "id": number,
            "order_type": vocabulary.choice(("Buy", "Sell")),
            "symbol": vocabulary.choice(traded),
            "price": vocabulary.amount(10, 900),
            "amount": vocabulary.number(1, 60),
            "status": vocabulary.choice(("Completed", "Cancelled")),
        }
        for number in range(max(1, first - bulk.count("orders")), first)
        if str(number) not in bulk.without
    }
    moments = sorted(
        f"{vocabulary.day()} {vocabulary.number(8, 17):02}:{vocabulary.number(0, 59):02}:00"
        for _ in range(bulk.count("transactions"))
    )
    moved = [
        {
            "type": vocabulary.choice(("deposit", "withdrawal")),
            "amount": vocabulary.amount(10, 900),
            "timestamp": moment,
        }
        for moment in moments
    ]
    config["stocks"] = {**whole["stocks"], **stocks}
    config["orders"] = {**orders, **{str(key): order for key, order in whole["orders"].items()}}
    config["order_counter"] = whole["order_counter"]
    watched = vocabulary.sample(list(stocks), len(stocks) // 2)
    if WATCH_LIST in bulk.without:
        watched = []
    config["watch_list"] = [*watched, *whole["watch_list"]]
    config["transaction_history"] = [*moved, *whole["transaction_history"]]


def _make_figures(vocabulary: Vocabulary) -> dict[str, float]:
    price = vocabulary.amount(10, 900)
    near = [round(price * vocabulary.random.uniform(0.97, 1.03), 2) for _ in range(2)]
    change, volume = vocabulary.amount(-2, 2), round(vocabulary.random.uniform(0.1, 5), 3)
    values = (price, change, volume, *near)
    return dict(zip(next(iter(TradingBot.stocks.values())), values, strict=True))
