"""The broker: every function's success and refusals, chains, long context, config check."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from envs.backend import AS_BFCL
from envs.backends.trading_bot import TradingBot
from envs.calls import Call
from envs.errors import AccessDenied, ConfigError, InvalidArgument, NotFound, Refused, ToolError
from envs.long_context import LongContextPack
from envs.results import Result
from envs.session import Session
from tests.envs.backends.calling import assert_refused, call, state
from tests.examples import examples

OPEN = {"authenticated": True, "market_status": "Open"}
PACK = LongContextPack(
    file_suffix="",
    untouched_files=[],
    extra_files=[],
    car_status="",
    parking_brake="",
    weather={},
    cities=[],
    watch_list=["LONG", ...],
    transactions=[{"type": "deposit", "amount": 1.5, "timestamp": "2020-01-01 00:00:00.5"}],
    moving_average_5=[5.0, 5.5],
    moving_average_20=[20.0],
    sector_stocks={"Technology": ["AAPL", "LONG"]},
    order_metadata={"overview": "{symbol} is {symbol}", "outlook": "bright"},
    credit_cards={},
    bookings={},
)


def broker(pack: LongContextPack | None = None, **config: Any) -> Session:
    """Return a session that is logged in while the market is open, unless the config differs."""
    config = {"TradingBot": OPEN | config}
    return Session.load(["TradingBot"], config, pack, behaviour=AS_BFCL)


def irregular(pack: LongContextPack | None = None, **config: Any) -> Session:
    """Return a session with a config that the strict check would refuse."""
    return Session.load(["TradingBot"], {"TradingBot": OPEN | config}, pack, tolerant=True)


def orders(session: Session) -> Any:
    return session.backends["TradingBot"].orders


def test_default_state_has_numbers_as_order_ids() -> None:
    backend = TradingBot.load({})
    assert list(backend.orders) == [12345, 12446]
    assert backend.account_info["balance"] == 10000.0
    assert (backend.authenticated, backend.market_status) == (False, "Closed")
    assert backend.order_counter == 12446
    assert len(backend.stocks) == 11
    assert backend.watch_list == ["NVDA"]
    assert not backend.long_context


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("get_current_time()", {"current_time": "10:30 AM"}),
        ("get_symbol_by_name(name='Zeta Corp')", {"symbol": "ZETA"}),
        ("get_symbol_by_name(name='zeta corp')", {"symbol": "Stock not found"}),
        (
            "get_stock_info(symbol='ZETA')",
            {
                "price": 22.09,
                "percent_change": -0.05,
                "volume": 0.789,
                "MA(5)": 22.12,
                "MA(20)": 22.34,
            },
        ),
        (
            "get_order_details(order_id=12446)",
            {
                "id": 12446,
                "order_type": "Sell",
                "symbol": "GOOG",
                "price": 2840.56,
                "amount": 5,
                "status": "Pending",
            },
        ),
        (
            "get_account_info()",
            {"account_id": 12345, "balance": 10000.0, "binding_card": 1974202140965533},
        ),
        ("trading_get_login_status()", {"status": True}),
        ("trading_login(username='', password='')", {"status": "Already logged in"}),
        ("get_watchlist()", {"watchlist": ["NVDA"]}),
        ("get_order_history()", {"history": [12345, 12446]}),
        ("get_transaction_history()", {"transaction_history": []}),
        (
            "get_available_stocks(sector='Technology')",
            {"stock_list": ["AAPL", "GOOG", "MSFT", "NVDA"]},
        ),
        ("get_available_stocks(sector='technology')", {"stock_list": []}),
        (
            "filter_stocks_by_price(['ZETA', 'AAPL', 'NEPT', 'ZETA'], 22.09, 88.34)",
            {"filtered_stocks": ["ZETA", "NEPT", "ZETA"]},
        ),
        ("filter_stocks_by_price(['NONE'], 0, 1)", {"filtered_stocks": ["NONE"]}),
        ("filter_stocks_by_price(['NONE'], 1, 2)", {"filtered_stocks": []}),
        ("add_to_watchlist(stock='NVDA')", {"watchlist": ["NVDA"]}),
        ("add_to_watchlist(stock='NONE')", {"watchlist": ["NVDA"]}),
        (
            "notify_price_change(['TSLA', 'NONE', 'AAPL', 'GOOG'], 0.12)",
            {"notification": "Stocks TSLA, AAPL, GOOG have significant price changes."},
        ),
        (
            "notify_price_change(stocks=['AAPL', 'NONE'], threshold=5)",
            {"notification": "No significant price changes in the selected stocks."},
        ),
    ],
)
def test_what_shows_and_leaves_no_trace(text: str, value: Any) -> None:
    session = broker()
    before = session.snapshot().states
    result = call(session, text)
    assert (result.value, result.error, result.changed) == (value, None, False)
    assert session.snapshot().states == before


NEW_ORDER = {"id": 12446, "order_type": "Buy", "symbol": "AAPL", "price": 100.0, "amount": 100}


@pytest.mark.parametrize(
    ("config", "text", "value", "changes"),
    [
        (
            {"orders": {}},
            "place_order('Buy', 'AAPL', 100, 100)",
            {
                "order_id": 12446,
                "order_type": "Buy",
                "status": "Pending",
                "price": 100.0,
                "amount": 100,
            },
            {"orders": {"12446": {**NEW_ORDER, "status": "Open"}}, "order_counter": 12447},
        ),
        (
            {"orders": {"5": {"symbol": "AAPL", "price": 1, "num_shares": 1, "status": "Open"}}},
            "cancel_order(order_id=5)",
            {"order_id": 5, "status": "Cancelled"},
            {
                "orders": {
                    "5": {"symbol": "AAPL", "price": 1, "num_shares": 1, "status": "Cancelled"}
                }
            },
        ),
        (
            {"account_info": {"account_id": 1, "balance": 70, "binding_card": 2}},
            "withdraw_funds(amount=70)",
            {"status": "Withdrawal successful", "new_balance": 0},
            {
                "account_info": {"account_id": 1, "balance": 0, "binding_card": 2},
                "transaction_history": [
                    {"type": "withdrawal", "amount": 70, "timestamp": "2024-09-02 05:40:15"}
                ],
            },
        ),
        (
            {"account_info": {"account_id": 1, "balance": 70, "binding_card": 2}},
            "fund_account(amount=0.5)",
            {"status": "Account funded successfully", "new_balance": 70.5},
            {
                "account_info": {"account_id": 1, "balance": 70.5, "binding_card": 2},
                "transaction_history": [
                    {"type": "deposit", "amount": 0.5, "timestamp": "2024-09-02 05:40:15"}
                ],
            },
        ),
        (
            {"authenticated": False},
            "trading_login(username='', password='')",
            {"status": "Logged in successfully"},
            {"authenticated": True},
        ),
        ({}, "trading_logout()", {"status": "Logged out successfully"}, {"authenticated": False}),
        (
            {"authenticated": False},
            "trading_logout()",
            {"status": "No user is currently logged in"},
            {},
        ),
        (
            {"watch_list": ["NVDA", "AAPL", "NVDA"]},
            "remove_stock_from_watchlist(symbol='NVDA')",
            {"status": "Stock NVDA removed from watchlist successfully."},
            {"watch_list": ["AAPL", "NVDA"]},
        ),
        (
            {"authenticated": False},
            "add_to_watchlist(stock='TSLA')",
            {"watchlist": ["NVDA", "TSLA"]},
            {"watch_list": ["NVDA", "TSLA"]},
        ),
    ],
)
def test_what_changes_the_account(
    config: dict[str, Any], text: str, value: Any, changes: dict[str, Any]
) -> None:
    session = broker(**config)
    before = state(session)
    result = call(session, text)
    assert (result.value, result.error, result.changed) == (value, None, bool(changes))
    # As text, because the order of members and the kind of numbers count.
    assert result.text == json.dumps(value)
    assert json.dumps(state(session)) == json.dumps({**before, **changes})


@pytest.mark.parametrize(
    ("text", "error", "part"),
    [
        ("get_stock_info(symbol='X')", NotFound, "no stock 'X'; there are AAPL, GOOG,"),
        ("get_order_details(order_id=7)", NotFound, "no order 7; there are 12345, 12446"),
        ("get_order_details(order_id='12446')", NotFound, "no order '12446'"),
        ("cancel_order(order_id=7)", NotFound, "no order 7; there are 12345, 12446"),
        ("cancel_order(order_id=12345)", Refused, "12345 is completed"),
        ("place_order('Buy', 'X', 1, 1)", NotFound, "no stock 'X'"),
        ("place_order('Buy', 'AAPL', 0, 1)", InvalidArgument, "Price 0 and amount 1"),
        ("place_order('Sell', 'AAPL', 1, 0)", InvalidArgument, "above 0"),
        ("place_order('bUY', 'AAPL', 10001, 1)", Refused, "10001.00, but the balance is 10000.0"),
        (f"place_order('Buy', 'AAPL', 1, {10**400})", InvalidArgument, "too large to calculate"),
        ("place_order('Buy', 'AAPL', '1', 1)", InvalidArgument, "price = '1'"),
        ("place_order(None, 'AAPL', 1, 1)", InvalidArgument, "order_type = None"),
        ("withdraw_funds(amount=0)", InvalidArgument, "0 must be above 0"),
        ("withdraw_funds(amount=10000.01)", Refused, "Cannot withdraw 10000.01"),
        ("fund_account(amount=-1)", InvalidArgument, "-1 must be above 0"),
        ("fund_account(amount='5')", InvalidArgument, "amount = '5'"),
        ("remove_stock_from_watchlist(symbol='AAPL')", NotFound, "not on the watch list: NVDA"),
        ("get_transaction_history('None')", InvalidArgument, "'None' is not a day"),
        ("get_transaction_history(end_date='2024-02-30')", InvalidArgument, "YYYY-MM-DD"),
        ("filter_stocks_by_price(['AAPL'], 'a', 1)", InvalidArgument, "min_price = 'a'"),
        ("add_to_watchlist(stock=['AAPL'])", InvalidArgument, "stock = ['AAPL']"),
    ],
)
def test_refusals(text: str, error: type[ToolError], part: str) -> None:
    assert_refused(broker(), text, error, part)


@pytest.mark.parametrize(
    "text",
    [
        "place_order('Buy', 'AAPL', 1, 1)",
        "withdraw_funds(1)",
        "get_account_info()",
        "fund_account(1)",
        "remove_stock_from_watchlist('NVDA')",
        "get_watchlist()",
        "get_order_history()",
        "get_transaction_history()",
    ],
)
def test_login_is_needed(text: str) -> None:
    assert_refused(broker(authenticated=False), text, AccessDenied, "trading_login")


def test_withdrawing_needs_an_open_market_and_funding_does_not() -> None:
    session = broker(market_status="Closed")
    assert_refused(session, "withdraw_funds(1)", Refused, "'Closed'")
    assert call(session, "fund_account(1)").ok


@pytest.mark.parametrize(
    ("config", "text", "part"),
    [
        ({"orders": {"order_type": "Buy"}}, "cancel_order('order_type')", "not an object"),
        ({"orders": {"1": {"symbol": "A"}}}, "cancel_order(1)", "has no status"),
        ({"account_info": {}}, "withdraw_funds(1)", "has no balance"),
        ({"account_info": {"balance": None}}, "fund_account(1)", "not a number"),
        ({"account_info": {}}, "place_order('Buy', 'AAPL', 1, 1)", "the balance is 0"),
        ({"account_info": None}, "place_order('Buy', 'AAPL', 1, 1)", "not an object"),
        ({"stocks": {"A": 5}}, "filter_stocks_by_price(['A'], 0, 1)", "not an object"),
        ({"stocks": {"A": {"price": "1"}}}, "filter_stocks_by_price(['A'], 0, 1)", "not a number"),
        ({"stocks": {"A": {"price": 1}}}, "notify_price_change(['A'], 0)", "no percent_change"),
        ({"transaction_history": [{"amount": 1}]}, "get_transaction_history()", "no timestamp"),
        ({"transaction_history": [{"timestamp": 5}]}, "get_transaction_history()", "timestamp: 5"),
        ({"transaction_history": [{"timestamp": "2024"}]}, "get_transaction_history()", "'2024'"),
    ],
)
def test_irregular_config_refuses_what_needs_more(
    config: dict[str, Any], text: str, part: str
) -> None:
    assert_refused(irregular(**config), text, Refused, part)


def test_irregular_orders_stay_in_the_state_as_they_are() -> None:
    session = irregular(orders={"order_type": "Buy", "-5": {}, "007": None})
    assert orders(session) == {"order_type": "Buy", "-5": {}, 7: None}
    assert call(session, "get_order_history()").value == {"history": ["order_type", "-5", 7]}
    assert call(session, "get_order_details('order_type')").text == "Buy"
    assert call(session, "get_order_details(7)").text == "None"


def test_order_ids_that_are_no_numbers_fail_at_load() -> None:
    with pytest.raises(ConfigError):
        irregular(orders={"²": {}})


def test_unknown_price_counts_as_zero() -> None:
    session = irregular(stocks={"A": {}})
    assert call(session, "filter_stocks_by_price(['A'], 0, 0)").value == {"filtered_stocks": ["A"]}


def test_orders_move_no_money_and_one_order_can_replace_another() -> None:
    session = broker()
    assert call(session, "place_order('Sell', 'AAPL', 1, 10)").value["order_id"] == 12446
    assert call(session, "place_order('hold', 'AAPL', 5000, 10)").value["order_id"] == 12447
    assert list(orders(session)) == [12345, 12446, 12447]
    assert orders(session)[12446]["symbol"] == "AAPL"
    for _ in range(2):
        assert call(session, "cancel_order(12447)").value["status"] == "Cancelled"
    assert call(session, "get_account_info()").value["balance"] == 10000.0


def test_shares_in_parts_are_kept_but_cost_as_whole_ones() -> None:
    session = broker()
    result = call(session, "place_order('Buy', 'AAPL', 100, 100.9)")
    assert result.value["amount"] == 100.9


def test_transactions_are_dated_by_the_seed_and_shown_by_day() -> None:
    session = broker()
    for text in ("fund_account(10)", "withdraw_funds(5)", "fund_account(1.5)"):
        assert call(session, text).ok
    assert call(session, "get_account_info()").value["balance"] == 10006.5

    def shown(arguments: str) -> list[str]:
        value = call(session, f"get_transaction_history({arguments})").value
        return [item["timestamp"] for item in value["transaction_history"]]

    first, second, third = "2024-09-02 05:40:15", "2024-09-01 12:26:34", "2024-09-02 04:29:48"
    assert shown("") == shown("'', None") == [first, second, third]
    assert shown("'2024-9-2'") == [first, third]
    assert shown("'2024-09-01', '2024-09-02'") == [second]
    assert shown("end_date='2024-09-01'") == []


def test_transaction_at_the_first_second_of_the_end_day_counts() -> None:
    item = {"type": "deposit", "amount": 1, "timestamp": "2024-09-02 00:00:00"}
    session = broker(transaction_history=[item])
    result = call(session, "get_transaction_history('2024-09-02', '2024-09-02')")
    assert result.value == {"transaction_history": [item]}


def test_another_seed_dates_otherwise() -> None:
    session = broker(random_seed=1)
    call(session, "fund_account(1)")
    assert state(session)["transaction_history"][0]["timestamp"] != "2024-09-02 05:40:15"


def test_long_context_adds_bulk_to_results_and_nothing_to_the_state() -> None:
    session = broker(PACK)
    short = state(broker())
    assert state(session) == {**short, "long_context": True}
    stock = call(session, "get_stock_info('ZETA')").value
    assert list(stock) == ["price", "percent_change", "volume", "MA(5)", "MA(20)"]
    assert (stock["MA(5)"], stock["MA(20)"]) == ([5.0, 5.5], [20.0])
    order = call(session, "get_order_details(12345)").value
    assert list(order)[-1] == "metadata"
    assert order["metadata"] == {"overview": "AAPL is AAPL", "outlook": "bright"}
    assert call(session, "get_watchlist()").text == "['NVDA', 'LONG', Ellipsis]"
    assert call(session, "add_to_watchlist('NVDA')").value == {"watchlist": ["NVDA"]}
    listed = call(session, "get_available_stocks('Technology')").value["stock_list"]
    assert listed == ["AAPL", "GOOG", "MSFT", "NVDA", "AAPL", "LONG"]
    assert call(session, "get_available_stocks('Health')").value == {"stock_list": []}
    shown = call(session, "get_transaction_history('2024-01-01')").value["transaction_history"]
    assert shown == PACK.transactions
    assert state(session) == {**short, "long_context": True}


def test_long_context_results_share_nothing_with_the_pack() -> None:
    session = broker(PACK)
    call(session, "get_watchlist()").value.clear()
    call(session, "get_available_stocks('Technology')").value["stock_list"].clear()
    call(session, "get_transaction_history()").value["transaction_history"].clear()
    assert len(PACK.watch_list) == 2
    assert len(PACK.sector_stocks["Technology"]) == 2
    assert len(PACK.transactions) == 1


@pytest.mark.parametrize(
    ("config", "text", "part"),
    [
        ({"orders": {"order_type": "Buy"}}, "get_order_details('order_type')", "not an object"),
        ({"orders": {"1": {}}}, "get_order_details(1)", "has no symbol"),
        ({"stocks": {"A": 5}}, "get_stock_info('A')", "not an object"),
    ],
)
def test_long_context_needs_objects(config: dict[str, Any], text: str, part: str) -> None:
    assert_refused(irregular(PACK, **config), text, Refused, part)


ORDER = {"symbol": "AAPL", "price": 1.5, "num_shares": 2, "status": "Completed"}


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"orders": {"12345": ORDER}, "watch_list": ["AAPL"], "random_seed": 5},
        {"orders": {"12345": {**ORDER, "id": 12345, "order_type": "Buy", "amount": 1}}},
    ],
)
def test_config_check_accepts(config: dict[str, Any]) -> None:
    assert TradingBot.check_config(config) == []


def test_config_check_accepts_the_default_state() -> None:
    compared = state(broker())
    del compared["long_context"]
    assert TradingBot.check_config(compared) == []
    assert TradingBot.load(compared).orders == TradingBot.load({}).orders


@pytest.mark.parametrize(
    ("config", "path", "part"),
    [
        ({"balance": 5}, ".balance", "unknown key"),
        ({"watchlist": []}, ".watchlist", "did you mean watch_list?"),
        ({"market_status": "open"}, ".market_status", "'Open' or 'Closed'"),
        ({"authenticated": 1}, ".authenticated", "valid boolean"),
        (
            {"account_info": {"account_id": 1, "balance": 5}},
            ".account_info.binding_card",
            "missing",
        ),
        ({"orders": {"order_type": "Buy"}}, ".orders.order_type", "got 'Buy'"),
        ({"orders": {"1": {**ORDER, "size": 1}}}, ".orders['1'].size", "unknown key"),
        ({"orders": {"1": {**ORDER, "symbol": "X"}}}, ".orders['1'].symbol", "among the stocks"),
        ({"orders": {"1": {**ORDER, "id": 2}}}, ".orders['1'].id", "differs from the key, 1"),
        ({"orders": {"-1": ORDER}}, ".orders['-1']", "digits only"),
        ({"orders": {"1": ORDER, "01": ORDER}}, ".orders['01']", "earlier order"),
        ({"stocks": {"A": {"price": 1}}}, ".stocks.A.percent_change", "missing"),
        ({"stocks": {}, "watch_list": ["AAPL"]}, ".watch_list[0]", "AAPL is not among the stocks"),
        (
            {"transaction_history": [{"type": "deposit", "amount": 1, "timestamp": "2024-09-01"}]},
            ".transaction_history[0].timestamp",
            "YYYY-MM-DD HH:MM:SS",
        ),
    ],
)
def test_config_check_refuses(config: dict[str, Any], path: str, part: str) -> None:
    problem = TradingBot.check_config(config)[0]
    assert problem.path == f"$.TradingBot{path}"
    assert part in problem.message


SYMBOLS = st.sampled_from([*TradingBot.stocks, "NONE"])
MONEY = st.sampled_from([-1, 0, 0.5, 1, 99.99, 5000, 10000, 10**7])


class AnyTrading(RuleBasedStateMachine):
    """Calls in any order keep the account sound."""

    def __init__(self) -> None:
        super().__init__()
        self.session = broker(orders={})
        self.placed: list[int] = []

    def call(self, name: str, *args: Any) -> Result:
        before = self.session.snapshot().states
        result = self.session.call(Call(name, args))
        if not result.ok:
            assert self.session.snapshot().states == before
        return result

    @rule(name=st.sampled_from(["withdraw_funds", "fund_account"]), amount=MONEY)
    def pay(self, name: str, amount: float) -> None:
        self.call(name, amount)

    @rule(kind=st.sampled_from(["Buy", "Sell"]), symbol=SYMBOLS, price=MONEY, amount=MONEY)
    def place(self, kind: str, symbol: str, price: float, amount: int) -> None:
        result = self.call("place_order", kind, symbol, price, amount)
        if result.ok:
            self.placed.append(result.value["order_id"])

    @rule(order_id=st.integers(12445, 12450))
    def cancel(self, order_id: int) -> None:
        assert self.call("cancel_order", order_id).ok == (order_id in self.placed)

    @rule(name=st.sampled_from(["add_to_watchlist", "remove_stock_from_watchlist"]), symbol=SYMBOLS)
    def watch(self, name: str, symbol: str) -> None:
        self.call(name, symbol)

    @rule(name=st.sampled_from(["trading_logout", "get_watchlist", "get_transaction_history"]))
    def look(self, name: str) -> None:
        self.call(name)
        self.call("trading_login", "", "")

    @invariant()
    def balance_is_what_was_paid_and_never_negative(self) -> None:
        now = state(self.session)
        paid = [
            item["amount"] if item["type"] == "deposit" else -item["amount"]
            for item in now["transaction_history"]
        ]
        rounding = 1e-12 * (10000 + sum(map(abs, paid)))
        assert now["account_info"]["balance"] == pytest.approx(10000 + sum(paid), abs=rounding)
        assert now["account_info"]["balance"] >= 0

    @invariant()
    def watch_list_has_known_stocks_once(self) -> None:
        watched = state(self.session)["watch_list"]
        assert len(set(watched)) == len(watched)
        assert set(watched) <= set(TradingBot.stocks)

    @invariant()
    def orders_are_those_placed(self) -> None:
        assert list(orders(self.session)) == self.placed == sorted(set(self.placed))
        assert all(order["id"] == key for key, order in orders(self.session).items())


AnyTrading.TestCase.settings = settings(
    max_examples=examples(40), stateful_step_count=25, deadline=None
)
TestAnyTrading = AnyTrading.TestCase
