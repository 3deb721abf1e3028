"""A stock broker: one account with its orders, its watch list and its transactions.

Money is in US dollars. Orders are only recorded: an order moves neither money nor shares. The time
is always 10:30 on 1 September 2024. Deposits and withdrawals have random times within the next day.
In BFCL's data, some orders lack fields or are not objects. These orders stay in the state; a call
fails only if it needs a missing field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NotRequired

from typing_extensions import TypedDict

from envs.backend import Backend, irreversible, random_stream, reads, writes
from envs.errors import AccessDenied, InvalidArgument, NotFound, Refused
from envs.random_stream import RandomStream

if TYPE_CHECKING:
    from envs.long_context import LongContextPack

_NOW = datetime(2024, 9, 1, 10, 30)
_LATEST = 86_400
"""Maximum seconds between the current time and the timestamp of a new transaction."""
_DAY = "%Y-%m-%d"
_MOMENT = "%Y-%m-%d %H:%M:%S"
_USUAL_MOMENT = re.compile(r"\d{4}-\d\d-\d\d (?:[01]\d|2[0-3]):\d\d:\d\d", re.ASCII)
_SEED = 1053520

_COMPANIES = {
    "Apple": "AAPL",
    "Google": "GOOG",
    "Tesla": "TSLA",
    "Microsoft": "MSFT",
    "Nvidia": "NVDA",
    "Zeta Corp": "ZETA",
    "Alpha Tech": "ALPH",
    "Omega Industries": "OMEG",
    "Quasar Ltd.": "QUAS",
    "Neptune Systems": "NEPT",
    "Synex Solutions": "SYNX",
    "Amazon": "AMZN",
    "Gorilla": "GORI",
}
_SECTORS = {"Technology": ("AAPL", "GOOG", "MSFT", "NVDA"), "Automobile": ("TSLA", "F", "GM")}


class Order(TypedDict):
    """One order. Orders are stored under their ids; the field ``id`` may repeat the id."""

    id: NotRequired[int]
    order_type: NotRequired[str]
    symbol: str
    price: float
    amount: NotRequired[int]
    num_shares: NotRequired[int]
    status: Literal["Open", "Pending", "Completed", "Cancelled"]


Stock = TypedDict(
    "Stock",
    {"price": float, "percent_change": float, "volume": float, "MA(5)": float, "MA(20)": float},
)
Stock.__doc__ = "One stock. Its volume is in millions of shares; MA(n) is the mean price of n days."


class Account(TypedDict):
    """The customer's account."""

    account_id: int
    balance: float
    binding_card: int


class Transaction(TypedDict):
    """One deposit or withdrawal."""

    type: Literal["deposit", "withdrawal"]
    amount: float
    timestamp: str


class TradingConfig(TypedDict, total=False):
    """Initial config of the broker."""

    orders: dict[str, Order]
    account_info: Account
    authenticated: bool
    market_status: Literal["Open", "Closed"]
    order_counter: int
    stocks: dict[str, Stock]
    watch_list: list[str]
    transaction_history: list[Transaction]
    random_seed: int


def _figures(
    price: float, percent_change: float, volume: float, average_5: float, average_20: float
) -> Stock:
    return {
        "price": price,
        "percent_change": percent_change,
        "volume": volume,
        "MA(5)": average_5,
        "MA(20)": average_20,
    }


class TradingBot(Backend):
    """A stock broker with one account."""

    Config = TradingConfig
    # These lists are sets of stocks; their order has no meaning.
    unordered = frozenset({"watch_list", "watchlist", "stock_list", "filtered_stocks"})

    orders: Mapping[int | str, Any] = {
        12345: {
            "id": 12345,
            "order_type": "Buy",
            "symbol": "AAPL",
            "price": 210.65,
            "amount": 10,
            "status": "Completed",
        },
        12446: {
            "id": 12446,
            "order_type": "Sell",
            "symbol": "GOOG",
            "price": 2840.56,
            "amount": 5,
            "status": "Pending",
        },
    }
    account_info: Mapping[str, Any] = {
        "account_id": 12345,
        "balance": 10000.0,
        "binding_card": 1974202140965533,
    }
    authenticated: bool = False
    market_status: str = "Closed"
    order_counter: int = 12446
    stocks: Mapping[str, Any] = {
        "AAPL": _figures(227.16, 0.17, 2.552, 227.11, 227.09),
        "GOOG": _figures(2840.34, 0.24, 1.123, 2835.67, 2842.15),
        "TSLA": _figures(667.92, -0.12, 1.654, 671.15, 668.2),
        "MSFT": _figures(310.23, 0.09, 3.234, 309.88, 310.11),
        "NVDA": _figures(220.34, 0.34, 1.234, 220.45, 220.67),
        "ALPH": _figures(1320.45, -0.08, 1.567, 1321.12, 1325.78),
        "OMEG": _figures(457.23, 0.12, 2.345, 456.78, 458.12),
        "QUAS": _figures(725.89, -0.03, 1.789, 726.45, 728.0),
        "NEPT": _figures(88.34, 0.19, 0.654, 88.21, 88.67),
        "SYNX": _figures(345.67, 0.11, 2.112, 345.34, 346.12),
        "ZETA": _figures(22.09, -0.05, 0.789, 22.12, 22.34),
    }
    watch_list: Sequence[str] = ["NVDA"]
    transaction_history: Sequence[Mapping[str, Any]] = []
    long_context: bool = False
    _pack: LongContextPack | None = None
    _random: RandomStream = RandomStream(_SEED)

    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        # Keys in JSON are strings, but the model gives an order's id as a number.
        self.orders = {_order_id(key): order for key, order in self.orders.items()}
        self.long_context = pack is not None
        self._pack = pack
        self._random = random_stream(config, _SEED)

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Find wrong or duplicate order ids, unknown symbols, and invalid timestamps."""
        stocks = config.get("stocks", cls.stocks)
        seen = set()
        for key, order in config.get("orders", {}).items():
            order_id = _order_id(key)
            path = f".orders[{key!r}]"
            if not isinstance(order_id, int):
                yield path, "an order id consists of digits only"
            if order_id in seen:
                yield path, f"{order_id} is the id of an earlier order"
            if order.get("id", order_id) != order_id:
                yield f"{path}.id", f"{order['id']} differs from the key, {order_id}"
            if order["symbol"] not in stocks:
                yield f"{path}.symbol", f"{order['symbol']} is not among the stocks"
            seen.add(order_id)
        for index, symbol in enumerate(config.get("watch_list", [])):
            if symbol not in stocks:
                yield f".watch_list[{index}]", f"{symbol} is not among the stocks"
        for index, transaction in enumerate(config.get("transaction_history", [])):
            if _parsed(transaction["timestamp"], _MOMENT) is None:
                path = f".transaction_history[{index}].timestamp"
                yield path, f"{transaction['timestamp']!r} is not written YYYY-MM-DD HH:MM:SS"

    @reads
    def get_current_time(self) -> dict[str, str]:
        """Tell the time of day.

        Returns:
            current_time: Hours and minutes with AM or PM.

        Examples:
            >>> get_current_time()
            {"current_time": "10:30 AM"}
        """
        return {"current_time": f"{_NOW:%I:%M %p}"}

    @reads
    def get_symbol_by_name(self, name: str) -> dict[str, str]:
        """Look up the symbol of a company's stock.

        Args:
            name: Name of the company, spelled exactly, such as Apple or Zeta Corp.

        Returns:
            symbol: The symbol, or "Stock not found" for a company that is not known.

        Examples:
            >>> get_symbol_by_name(name='Nvidia')
            {"symbol": "NVDA"}
        """
        return {"symbol": _COMPANIES.get(name, "Stock not found")}

    @reads
    def get_stock_info(self, symbol: str) -> Mapping[str, Any]:
        """Show the figures of one stock.

        Args:
            symbol: Symbol of the stock, such as AAPL.

        Returns:
            price in US dollars, percent_change, volume in millions of shares, and the moving
            averages over 5 and 20 days as MA(5) and MA(20).

        Examples:
            >>> get_stock_info(symbol='ZETA')
            {"price": 21.85, "percent_change": -2.4, "volume": 0.81, "MA(5)": 22.6, "MA(20)": 23.05}
            >>> get_stock_info(symbol='NONE')
            {"error": "There is no stock 'NONE'; there are NEPT, NVDA, SYNX, ZETA."}
        """
        stock: Mapping[str, Any] = self._stock(symbol)
        if self._pack is None or self._pack.moving_average_5 is None:
            return stock
        return {
            **_object(stock, f"The stock {symbol}"),
            "MA(5)": self._pack.moving_average_5,
            "MA(20)": self._pack.moving_average_20,
        }

    @reads
    def get_order_details(self, order_id: int) -> Mapping[str, Any]:
        """Show one order.

        Args:
            order_id: Id of the order.

        Returns:
            The order with all its members, among them symbol, price and status.

        Examples:
            >>> trading_login(username='ann', password='pw')
            >>> get_order_details(order_id=5103)
            {"id": 5103, "order_type": "Buy", "symbol": "NVDA", "price": 215.75, "amount": 4, ...
            >>> get_order_details(order_id=1)
            {"error": "There is no order 1; there are 5101, 5102, 5103."}
        """
        order: Mapping[str, Any] = self._order(order_id)
        if self._pack is None or self._pack.order_metadata is None:
            return order
        symbol = str(_member(order, "symbol", f"The order {order_id}"))
        metadata = {
            name: text.replace("{symbol}", symbol)
            for name, text in self._pack.order_metadata.items()
        }
        return {**order, "metadata": metadata}

    @irreversible
    @writes
    def cancel_order(self, order_id: int) -> dict[str, Any]:
        """Cancel an order that is not completed.

        Args:
            order_id: Id of the order.

        Returns:
            order_id and the order's new status.

        Examples:
            >>> trading_login(username='ann', password='pw')
            >>> cancel_order(order_id=5103)
            {"order_id": 5103, "status": "Cancelled"}
            >>> cancel_order(order_id=5102)
            {"error": "The order 5102 is completed and can no longer be cancelled."}
        """
        order = self._order(order_id)
        if _member(order, "status", f"The order {order_id}") == "Completed":
            raise Refused(
                f"The order {order_id} is completed and can no longer be cancelled.", "completed"
            )
        self.orders = {**self.orders, order_id: {**order, "status": "Cancelled"}}
        return {"order_id": order_id, "status": "Cancelled"}

    @writes
    def place_order(
        self, order_type: str, symbol: str, price: float, amount: int
    ) -> dict[str, Any]:
        """Place an order to buy or sell shares; it is recorded as open and moves no money.

        Args:
            order_type: Buy or Sell. A purchase may not cost more than the account's balance.
            symbol: Symbol of the stock, such as AAPL.
            price: Price of one share in US dollars, above 0.
            amount: Number of shares, above 0.

        Returns:
            order_id, order_type, status, price and amount of the new order.

        Examples:
            >>> trading_login(username='ann', password='pw')
            >>> place_order(order_type='Buy', symbol='ZETA', price=21.85, amount=10)
            {"order_id": 5104, "order_type": "Buy", "status": "Pending", "price": 21.85, ...
            >>> place_order(order_type='Buy', symbol='NONE', price=1.0, amount=10)
            {"error": "There is no stock 'NONE'; there are NEPT, NVDA, SYNX, ZETA."}
        """
        self._require_login("place an order")
        self._stock(symbol)
        if price <= 0 or amount <= 0:
            raise InvalidArgument(
                f"Price {price} and amount {amount} must both be above 0.", "amount"
            )
        if order_type.lower() == "buy":
            self._require_funds(price, amount)
        order_id = self.order_counter
        order = {
            "id": order_id,
            "order_type": order_type,
            "symbol": symbol,
            "price": float(price),
            "amount": amount,
            "status": "Open",
        }
        self.orders = {**self.orders, order_id: order}
        self.order_counter += 1
        return {
            "order_id": order_id,
            "order_type": order_type,
            "status": "Pending",
            "price": float(price),
            "amount": amount,
        }

    @writes
    def withdraw_funds(self, amount: float) -> dict[str, Any]:
        """Take money out of the account; only while the market is open.

        Args:
            amount: US dollars, above 0 and at most the balance.

        Returns:
            status and new_balance.

        Examples:
            >>> trading_login(username='ann', password='pw')
            >>> withdraw_funds(amount=100.0)
            {"status": "Withdrawal successful", "new_balance": 6330.75}
            >>> withdraw_funds(amount=9000.0)
            {"error": "Cannot withdraw 9000.0: the balance is 6330.75."}
        """
        self._require_login("withdraw money")
        if self.market_status != "Open":
            raise Refused(
                f"The market is {self.market_status!r}. Withdraw money when it is 'Open'.", "market"
            )
        _require_positive(amount)
        balance = self._balance()
        if amount > balance:
            raise Refused(f"Cannot withdraw {amount}: the balance is {balance}.", "balance")
        self._settle("withdrawal", amount, balance - amount)
        return {"status": "Withdrawal successful", "new_balance": balance - amount}

    @reads
    def get_account_info(self) -> Mapping[str, Any]:
        """Show the account of the user who is logged in.

        Returns:
            account_id, balance in US dollars, and the number of the binding_card.

        Examples:
            >>> get_account_info()
            {"error": "Nobody is logged in. Log in with trading_login to see the account."}
            >>> trading_login(username='ann', password='pw')
            >>> get_account_info()
            {"account_id": 778, "balance": 6430.75, "binding_card": 5500112233445566}
        """
        self._require_login("see the account")
        return self.account_info

    @writes
    def trading_login(self, username: str, password: str) -> dict[str, str]:
        """Log in to the broker; any name and password will do.

        Args:
            username: Name of the user.
            password: Password of the user.

        Returns:
            status: Whether this call or an earlier one logged the user in.

        Examples:
            >>> trading_login(username='ann', password='pw')
            {"status": "Logged in successfully"}
        """
        if self.authenticated:
            return {"status": "Already logged in"}
        self.authenticated = True
        return {"status": "Logged in successfully"}

    @reads
    def trading_get_login_status(self) -> dict[str, bool]:
        """Tell whether the user is logged in to the broker.

        Returns:
            status: Whether the user is logged in.

        Examples:
            >>> trading_get_login_status()
            {"status": false}
        """
        return {"status": bool(self.authenticated)}

    @writes
    def trading_logout(self) -> dict[str, str]:
        """Log out of the broker.

        Returns:
            status: Confirmation, or that nobody was logged in.

        Examples:
            >>> trading_logout()
            {"status": "No user is currently logged in"}
        """
        if not self.authenticated:
            return {"status": "No user is currently logged in"}
        self.authenticated = False
        return {"status": "Logged out successfully"}

    @writes
    def fund_account(self, amount: float) -> dict[str, Any]:
        """Pay money into the account; also while the market is closed.

        Args:
            amount: US dollars, above 0.

        Returns:
            status and new_balance.

        Examples:
            >>> fund_account(amount=50.0)
            {"error": "Nobody is logged in. Log in with trading_login to pay money in."}
            >>> trading_login(username='ann', password='pw')
            >>> fund_account(amount=50.0)
            {"status": "Account funded successfully", "new_balance": 6480.75}
        """
        self._require_login("pay money in")
        _require_positive(amount)
        balance = self._balance() + amount
        self._settle("deposit", amount, balance)
        return {"status": "Account funded successfully", "new_balance": balance}

    @writes
    def remove_stock_from_watchlist(self, symbol: str) -> dict[str, str]:
        """Take a stock off the watch list.

        Args:
            symbol: Symbol of a stock on the watch list.

        Returns:
            status: Confirmation.

        Examples:
            >>> trading_login(username='ann', password='pw')
            >>> remove_stock_from_watchlist(symbol='ZETA')
            {"status": "Stock ZETA removed from watchlist successfully."}
            >>> remove_stock_from_watchlist(symbol='ZETA')
            {"error": "ZETA is not on the watch list: NEPT."}
        """
        self._require_login("change the watch list")
        watched = self.watch_list
        if symbol not in watched:
            raise NotFound(f"{symbol} is not on the watch list: {_listed(watched)}.")
        position = watched.index(symbol)
        self.watch_list = [*watched[:position], *watched[position + 1 :]]
        return {"status": f"Stock {symbol} removed from watchlist successfully."}

    @reads
    def get_watchlist(self) -> Mapping[str, Any] | Sequence[Any]:
        """Show the watch list.

        Returns:
            watchlist: Symbols, in the order in which they were added.

        Examples:
            >>> get_watchlist()
            {"error": "Nobody is logged in. Log in with trading_login to see the watch list."}
            >>> trading_login(username='ann', password='pw')
            >>> get_watchlist()
            {"watchlist": ["NEPT", "ZETA"]}
        """
        self._require_login("see the watch list")
        if self._pack is not None and self._pack.watch_list is not None:
            return [*self.watch_list, *self._pack.watch_list]
        return {"watchlist": self.watch_list}

    @reads
    def get_order_history(self) -> dict[str, list[int | str]]:
        """List the ids of all orders.

        Returns:
            history: Ids of the orders, oldest first.

        Examples:
            >>> get_order_history()
            {"error": "Nobody is logged in. Log in with trading_login to see the orders."}
            >>> trading_login(username='ann', password='pw')
            >>> get_order_history()
            {"history": [5101, 5102, 5103]}
        """
        self._require_login("see the orders")
        return {"history": list(self.orders)}

    @reads
    def get_transaction_history(
        self, start_date: str | None = None, end_date: str | None = None
    ) -> dict[str, Any]:
        """List deposits and withdrawals, all of them or those of some days.

        Args:
            start_date: First day, written YYYY-MM-DD; without it, from the beginning.
            end_date: Day after the last one, written YYYY-MM-DD; a transaction at its first
                second still counts. Without it, up to the end.

        Returns:
            transaction_history: Transactions with type, amount in US dollars, and timestamp.

        Examples:
            >>> get_transaction_history()
            {"error": "Nobody is logged in. Log in with trading_login to see the transactions."}
            >>> trading_login(username='ann', password='pw')
            >>> get_transaction_history()
            {"transaction_history": []}
        """
        self._require_login("see the transactions")
        start = _day(start_date, datetime.min)
        end = _day(end_date, datetime.max)
        shown = [item for item in self.transaction_history if start <= _moment(item) <= end]
        if self._pack is not None:
            shown += self._pack.transactions
        return {"transaction_history": shown}

    @reads
    def get_available_stocks(self, sector: str) -> dict[str, list[str]]:
        """List the stocks of a sector.

        Args:
            sector: Technology or Automobile; no other sector has stocks.

        Returns:
            stock_list: Symbols of the stocks.

        Examples:
            >>> get_available_stocks(sector='Technology')
            {"stock_list": ["AAPL", "GOOG", "MSFT", "NVDA"]}
        """
        symbols = [*_SECTORS.get(sector, ())]
        if self._pack is not None:
            symbols += self._pack.sector_stocks.get(sector, ())
        return {"stock_list": symbols}

    @reads
    def filter_stocks_by_price(
        self, stocks: list[str], min_price: float, max_price: float
    ) -> dict[str, list[str]]:
        """Pick the stocks whose price lies in a range.

        Args:
            stocks: Symbols to choose from; one that is not known counts as priced at 0.
            min_price: Lowest price in US dollars, itself included.
            max_price: Highest price in US dollars, itself included.

        Returns:
            filtered_stocks: Those of the given symbols that fit, in the given order.

        Examples:
            >>> filter_stocks_by_price(stocks=['NEPT', 'ZETA'], min_price=50.0, max_price=100.0)
            {"filtered_stocks": ["NEPT"]}
        """
        fitting = [
            symbol
            for symbol in stocks
            if (price := self._price(symbol)) >= min_price and price <= max_price
        ]
        return {"filtered_stocks": fitting}

    @writes
    def add_to_watchlist(self, stock: str) -> Mapping[str, Any]:
        """Put a stock on the watch list, unless it is there already or is not known.

        Args:
            stock: Symbol of the stock, such as AAPL.

        Returns:
            watchlist: Symbols now on the watch list.

        Examples:
            >>> add_to_watchlist(stock='NVDA')
            {"watchlist": ["NEPT", "ZETA", "NVDA"]}
        """
        if stock not in self.watch_list and stock in self.stocks:
            self.watch_list = [*self.watch_list, stock]
        return {"watchlist": self.watch_list}

    @reads
    def notify_price_change(self, stocks: list[str], threshold: float) -> dict[str, str]:
        """Name the stocks whose price has changed by at least some percentage.

        Args:
            stocks: Symbols to look at; those that are not known are left out.
            threshold: Smallest change that counts, up or down, in percent.

        Returns:
            notification: The symbols in a sentence, or that there are none.

        Examples:
            >>> notify_price_change(stocks=['NEPT', 'NVDA'], threshold=1.0)
            {"notification": "Stocks NEPT have significant price changes."}
        """
        moved = [symbol for symbol in stocks if self._moved(symbol, threshold)]
        if not moved:
            return {"notification": "No significant price changes in the selected stocks."}
        return {"notification": f"Stocks {', '.join(moved)} have significant price changes."}

    def _require_login(self, purpose: str) -> None:
        if not self.authenticated:
            raise AccessDenied(f"Nobody is logged in. Log in with trading_login to {purpose}.")

    def _require_funds(self, price: float, amount: int) -> None:
        try:
            cost = float(price) * int(amount)
        except OverflowError:
            raise InvalidArgument("The cost of so many shares is too large to calculate.") from None
        account = _object(self.account_info, "The account")
        balance = _number({"balance": 0, **account}, "balance", "The account")
        if cost > balance:
            raise Refused(
                f"{amount} shares at {price} cost {cost:.2f}, but the balance is {balance}.",
                "balance",
                {"cost": cost, "balance": balance},
            )

    def _balance(self) -> float:
        return _number(self.account_info, "balance", "The account")

    def _settle(self, kind: str, amount: float, balance: float) -> None:
        self.account_info = {**self.account_info, "balance": balance}
        offset, self._random = self._random.randint(
            0, _LATEST, kind, amount, len(self.transaction_history)
        )
        timestamp = f"{_NOW + timedelta(seconds=offset):{_MOMENT}}"
        transaction = {"type": kind, "amount": amount, "timestamp": timestamp}
        self.transaction_history = [*self.transaction_history, transaction]

    def _order(self, order_id: int) -> Any:
        if order_id not in self.orders:
            raise NotFound(
                f"There is no order {order_id!r}; there are {_listed(self.orders)}.", "order"
            )
        return self.orders[order_id]

    def _stock(self, symbol: str) -> Any:
        if symbol not in self.stocks:
            raise NotFound(
                f"There is no stock {symbol!r}; there are {_listed(self.stocks)}.", "stock"
            )
        return self.stocks[symbol]

    def _price(self, symbol: str) -> float:
        stock = _object(self.stocks.get(symbol, {}), f"The stock {symbol}")
        return _number({"price": 0, **stock}, "price", f"The stock {symbol}")

    def _moved(self, symbol: str, threshold: float) -> bool:
        if symbol not in self.stocks:
            return False
        change = _number(self.stocks[symbol], "percent_change", f"The stock {symbol}")
        return abs(change) >= threshold


def _order_id(key: str | int) -> str | int:
    return int(key) if isinstance(key, str) and key.isdigit() else key


def _require_positive(amount: float) -> None:
    if amount <= 0:
        raise InvalidArgument(f"The amount {amount} must be above 0.", "amount")


def _parsed(text: str, form: str) -> datetime | None:
    try:
        # strptime accepts more formats, but takes ten times as long.
        if form == _MOMENT and _USUAL_MOMENT.fullmatch(text):
            return datetime.fromisoformat(text)
        return datetime.strptime(text, form)
    except ValueError:
        return None


def _day(text: str | None, unbounded: datetime) -> datetime:
    if not text:
        return unbounded
    try:
        return datetime.strptime(text, _DAY)
    except ValueError as error:
        raise InvalidArgument(
            f"{text!r} is not a day. Write YYYY-MM-DD, such as 2024-09-01.",
            error,
        ) from None


def _moment(transaction: Mapping[str, Any]) -> datetime:
    timestamp = _member(transaction, "timestamp", "A transaction")
    moment = _parsed(timestamp, _MOMENT) if isinstance(timestamp, str) else None
    if moment is None:
        raise Refused(f"A transaction has an invalid timestamp: {timestamp!r}.")
    return moment


def _object(value: Any, owner: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Refused(f"{owner} is {value!r}, not an object.")
    return value


def _member(value: Any, name: str, owner: str) -> Any:
    members = _object(value, owner)
    if name not in members:
        raise Refused(f"{owner} has no {name}.", KeyError(name))
    return members[name]


def _number(value: Any, name: str, owner: str) -> float:
    number = _member(value, name, owner)
    if not isinstance(number, (int, float)):
        raise Refused(f"{owner} has a wrong {name}: {number!r} is not a number.")
    return number


def _listed(names: Mapping[Any, Any] | Sequence[Any]) -> str:
    return ", ".join(map(str, names)) or "none"
