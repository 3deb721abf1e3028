"""Market environment; each look-up changes the price by up to three percent.

The state contains the last prices and a seeded random stream. Repeated calls return different
prices, but the same start gives the same sequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from typing_extensions import TypedDict

from envs.backend import Backend, random_stream, writes
from envs.errors import NotFound
from envs.long_context import LongContextPack
from envs.random_stream import RandomStream
from extensions.library.bounds import check_between

_DEFAULT_SEED = 20260331
_MAX_MOVE = 0.03
_MIN_PRICE, _MAX_PRICE = 0.0001, 1_000_000.0
"""Range of prices in US dollars."""
_SHARES = {"ALPN": 48.2, "BRGT": 131.0, "CRWN": 17.45, "DLTA": 305.6, "ELMS": 76.9, "FJRD": 22.8}
_CURRENCIES = {"AUD": 0.66, "CHF": 1.12, "EUR": 1.09, "GBP": 1.27, "JPY": 0.0067, "USD": 1.0}


class MarketConfig(TypedDict, total=False):
    """Initial config of the market."""

    random_seed: int
    """Seed of the moves."""
    shares: dict[str, float]
    """Maps a share's symbol to its last price in US dollars."""
    currencies: dict[str, float]
    """Maps a currency's code to the last price of one unit in US dollars."""


class MarketQuotes(Backend):
    """A market for shares and currencies."""

    Config = MarketConfig

    shares: dict[str, float] = _SHARES
    currencies: dict[str, float] = _CURRENCIES
    _random: RandomStream = RandomStream(_DEFAULT_SEED)

    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        self._random = random_stream(config, _DEFAULT_SEED)

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield a path and a message for each price that is out of range."""
        for key in ("shares", "currencies"):
            for name, price in config.get(key, {}).items():
                if not _MIN_PRICE <= price <= _MAX_PRICE:
                    yield f".{key}.{name}", f"must be from {_MIN_PRICE} to {_MAX_PRICE}"

    @writes
    def latest_price(self, symbol: str) -> dict[str, Any]:
        """Return the latest price of a share.

        Args:
            symbol: Symbol of the share, such as ALPN.

        Returns:
            symbol: Symbol of the share.
            price: Price in US dollars.

        Examples:
            >>> latest_price(symbol='ALPN')
            {"symbol": "ALPN", "price": 4...}
            >>> latest_price(symbol='ZZZZ')
            {"error": "Unknown share 'ZZZZ': use ALPN, BRGT, CRWN, DLTA, ELMS or FJRD."}
        """
        price = self._moved(_found("share", symbol, self.shares))
        self.shares = {**self.shares, symbol: price}
        return {"symbol": symbol, "price": price}

    @writes
    def exchange_rate(self, base: str, quote: str) -> dict[str, Any]:
        """Return the exchange rate between two currencies.

        Args:
            base: Code of the base currency, such as EUR.
            quote: Code of the quote currency, such as USD.

        Returns:
            rate: Cost of one unit of the base currency in units of the quote currency.

        Examples:
            >>> exchange_rate(base='EUR', quote='USD')
            {"rate": 1...}
            >>> exchange_rate(base='EUR', quote='XXX')
            {"error": "Unknown currency 'XXX': use AUD, CHF, EUR, GBP, JPY or USD."}
        """
        worth = _found("currency", base, self.currencies)
        paid = _found("currency", quote, self.currencies)
        if base == quote:
            return {"rate": 1.0}
        self.currencies = {**self.currencies, base: self._moved(worth)}
        return {"rate": self.currencies[base] / paid}

    @writes
    def price_history(self, symbol: str, days: int) -> dict[str, Any]:
        """Return estimated closing prices of a share on the last days.

        Args:
            symbol: Symbol of the share, such as ALPN.
            days: Number of days, from 1 to 30.

        Returns:
            prices: Days ago and price in US dollars for each day, latest first.

        Examples:
            >>> price_history(symbol='BRGT', days=2)
            {"prices": [{"days_ago": 1, "price": 1...}, {"days_ago": 2, "price": 1...}]}
            >>> price_history(symbol='BRGT', days=31)
            {"error": "days must be from 1 to 30, not 31."}
        """
        check_between("days", days, 1, 30)
        price, prices = _found("share", symbol, self.shares), []
        for day in range(1, days + 1):
            price = self._moved(price)
            prices.append({"days_ago": day, "price": price})
        return {"prices": prices}

    def _moved(self, price: float) -> float:
        factor, self._random = self._random.uniform(1 - _MAX_MOVE, 1 + _MAX_MOVE)
        return min(max(round(price * factor, 6), _MIN_PRICE), _MAX_PRICE)


def _found(kind: str, name: str, prices: Mapping[str, float]) -> float:
    if name not in prices:
        *first, last = sorted(prices) or ["none"]
        known = f"{', '.join(first)} or {last}" if first else last
        raise NotFound(f"Unknown {kind} {name[:50]!r}: use {known}.")
    return prices[name]
