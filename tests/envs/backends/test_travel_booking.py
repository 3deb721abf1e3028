"""The travel agency: every function's success and refusals, chains, long context, config check."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from envs.backend import AS_BFCL, OWN
from envs.backends.travel_booking import TravelAPI
from envs.backends.travel_facts import AIRPORTS, CITIES, FARES
from envs.calls import Call
from envs.errors import AccessDenied, AlreadyExists, InvalidArgument, NotFound, Refused, ToolError
from envs.long_context import LongContextPack
from envs.results import Result
from envs.session import Session
from tests.envs.backends.calling import assert_refused, call, state
from tests.examples import examples

BOOKING = {
    "card_id": "c1",
    "travel_date": "2024-05-01",
    "travel_from": "SFO",
    "travel_to": "LAX",
    "travel_class": "economy",
    "travel_cost": 400.0,
    "transaction_id": "77",
}
CONFIG = {
    "access_token": "t",
    "token_type": "Bearer",
    "token_expires_in": 3600,
    "token_scope": "read_write",
    "user_first_name": "Ada",
    "user_last_name": "Byron",
    "credit_card_list": {"c1": {"balance": 1000}, "c2": {"balance": 50.5}},
    "booking_record": {"b1": BOOKING},
}
PACK = LongContextPack(
    file_suffix="",
    untouched_files=[],
    extra_files=[],
    car_status="",
    parking_brake="",
    weather={},
    cities=[],
    watch_list=[],
    transactions=[],
    moving_average_5=[],
    moving_average_20=[],
    sector_stocks={},
    order_metadata={},
    credit_cards={"c1": {"balance": 1}, "long": {"balance": 9000}},
    bookings={"b1": {}, "b_long": {"card_id": "long", "travel_cost": 10.0}},
    lists_fares=True,
)
MOVED = {"card_id": "c1", "travel_cost": 400.0}


def agency(pack: LongContextPack | None = None, **config: Any) -> Session:
    """Return a session that is logged in, unless the config differs, and behaves as BFCL's."""
    config = {"TravelAPI": CONFIG | config}
    return Session.load(["TravelAPI"], config, pack, behaviour=AS_BFCL)


def irregular(pack: LongContextPack | None = None, **config: Any) -> Session:
    """Return a session with a config that the strict check would refuse."""
    return Session.load(["TravelAPI"], {"TravelAPI": CONFIG | config}, pack, tolerant=True)


def test_default_state_is_empty_and_nobody_is_logged_in() -> None:
    session = Session.load(["TravelAPI"], {}, behaviour=AS_BFCL)
    assert state(session) == {
        "credit_card_list": {},
        "booking_record": {},
        "access_token": None,
        "token_type": None,
        "token_expires_in": None,
        "token_scope": None,
        "user_first_name": None,
        "user_last_name": None,
        "budget_limit": None,
        "long_context": False,
    }
    assert call(session, "travel_get_login_status()").value == {"status": False}
    assert call(session, "get_booking_history(None)").value == {"booking_history": {}}


INVOICE = {"booking_id": "b1", **{key: BOOKING[key] for key in BOOKING if key != "card_id"}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("travel_get_login_status()", {"status": True}),
        ("get_budget_fiscal_year()", {"budget_fiscal_year": "2018"}),
        ("get_budget_fiscal_year('2020', includeRemoved='x')", {"budget_fiscal_year": "2018"}),
        ("get_flight_cost('SFO', 'LAX', '2024-05-01', 'economy')", {"travel_cost_list": [400.0]}),
        ("get_flight_cost('SFO', 'LAX', '2024-05-02', 'economy')", {"travel_cost_list": [200.0]}),
        ("get_flight_cost('LAX', 'SFO', '2024-05-02', 'business')", {"travel_cost_list": [200.0]}),
        ("get_flight_cost('JFK', 'PVG', 'some day', 'first')", {"travel_cost_list": [9500.0]}),
        ("get_credit_card_balance('t', 'c1')", {"card_balance": 1000}),
        ("get_credit_card_balance(access_token='t', card_id='c2')", {"card_balance": 50.5}),
        ("retrieve_invoice('t', 'b1')", {"invoice": INVOICE}),
        ("retrieve_invoice('t', 'b1', insurance_id='9')", {"invoice": INVOICE}),
        ("get_booking_history('t')", {"booking_history": {"b1": BOOKING}}),
        ("list_all_airports()", list(AIRPORTS)),
        ("compute_exchange_rate('USD', 'GBP', 3)", {"exchanged_value": 2.0999999999999996}),
        ("compute_exchange_rate('USD', 'RMB', 3)", {"exchanged_value": 21.0}),
        ("compute_exchange_rate('GBP', 'USD', 3)", {"exchanged_value": 4.29}),
        (
            "verify_traveler_information('Ada', 'Byron', '1990-1-1', 'US1')",
            {"verification_status": True},
        ),
        (
            "verify_traveler_information('Ada', 'Byron', '2008-03-23', 'US1')",
            {"verification_status": True},
        ),
        ("get_nearest_airport_by_city('Tokyo')", {"nearest_airport": "HND"}),
        ("get_nearest_airport_by_city('tokyo')", {"nearest_airport": "Unknown"}),
        (
            "contact_customer_support(booking_id='b1', message='')",
            {
                "customer_support_message": "Thank you for contacting customer support. Your "
                "message has been received and we will get back to you shortly."
            },
        ),
        (
            "get_all_credit_cards()",
            {"credit_card_list": {"c1": {"balance": 1000}, "c2": {"balance": 50.5}}},
        ),
    ],
)
def test_what_shows_and_leaves_no_trace(text: str, value: Any) -> None:
    session = agency()
    before = session.snapshot().states
    result = call(session, text)
    assert (result.value, result.error, result.changed) == (value, None, False)
    assert session.snapshot().states == before


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("'Ada', 'X', '1990-01-01', 'US1'", "must be Ada Byron, not Ada X"),
        ("'X', 'Byron', '1990-01-01', 'US1'", "must be Ada Byron, not X Byron"),
        ("'Ada', 'Byron', '01/01/1990', 'US1'", "'01/01/1990' is not a day"),
        ("'Ada', 'Byron', '2008-03-24', 'US1'", "at least 18"),
        ("'Ada', 'Byron', '1990-01-01', 'us1'", "begin with US"),
    ],
)
def test_travelers_who_fail_verification_get_a_reason_and_no_error(
    arguments: str, part: str
) -> None:
    result = call(agency(), f"verify_traveler_information({arguments})")
    assert result.ok
    assert list(result.value) == ["verification_status", "verification_failure"]
    assert result.value["verification_status"] is False
    assert part in result.value["verification_failure"]


NEW_CARD = {
    "card_number": "4111",
    "expiration_date": "05/27",
    "cardholder_name": "Ada",
    "card_verification_number": 123,
}
CARDS = CONFIG["credit_card_list"]


@pytest.mark.parametrize(
    ("text", "value", "changes"),
    [
        (
            "authenticate_travel('i', 's', 'r', 'read', 'Bob', 'Ross')",
            {
                "expires_in": 2,
                "access_token": "251675",
                "token_type": "Bearer",
                "scope": "read",
            },
            {
                "access_token": "251675",
                "token_expires_in": 2,
                "token_scope": "read",
                "user_first_name": "Bob",
                "user_last_name": "Ross",
            },
        ),
        (
            "register_credit_card('t', '4111', '05/27', 'Ada', 123)",
            {"card_id": "262919693687"},
            {"credit_card_list": {**CARDS, "262919693687": {**NEW_CARD, "balance": 44620}}},
        ),
        (
            "book_flight('t', 'c1', '2024-5-1', 'SFO', 'LAX', 'economy')",
            {
                "booking_id": "3426812",
                "transaction_id": "45451592",
                "booking_status": True,
                "booking_history": {},
            },
            {
                "credit_card_list": {**CARDS, "c1": {"balance": 600.0}},
                "booking_record": {
                    "b1": BOOKING,
                    "3426812": {
                        **BOOKING,
                        "travel_date": "2024-5-1",
                        "transaction_id": "45451592",
                    },
                },
            },
        ),
        (
            "cancel_booking(access_token='t', booking_id='b1')",
            {"cancel_status": True},
            {"credit_card_list": {**CARDS, "c1": {"balance": 1400.0}}, "booking_record": {}},
        ),
        ("set_budget_limit('t', 300)", {"budget_limit": 300.0}, {"budget_limit": 300.0}),
        ("set_budget_limit('t', '-3')", {"budget_limit": -3.0}, {"budget_limit": -3.0}),
        (
            "purchase_insurance('t', 'travel', 'b1', 100, 'c2')",
            {"insurance_id": "255316027", "insurance_status": True},
            {"credit_card_list": {**CARDS, "c2": {"balance": -49.5}}},
        ),
    ],
)
def test_what_changes_the_account(text: str, value: Any, changes: dict[str, Any]) -> None:
    session = agency()
    before = state(session)
    result = call(session, text)
    assert (result.value, result.error, result.changed) == (value, None, True)
    # As text, because the order of members and the kind of numbers count.
    assert result.text == json.dumps(value)
    assert json.dumps(state(session)) == json.dumps({**before, **changes})


@pytest.mark.parametrize(
    ("text", "error", "part"),
    [
        ("register_credit_card('t', 'c1', '', '', 1)", AlreadyExists, "'c1'"),
        ("get_flight_cost('SFO', 'SFO', '', 'economy')", NotFound, "flights to: LAX, JFK,"),
        ("get_flight_cost('PVG', 'JFK', '', 'economy')", NotFound, "flights to: nowhere"),
        ("get_flight_cost('SFO', 'LAX', '', 'Economy')", InvalidArgument, "economy, business"),
        ("get_flight_cost('SFO', 'LAX', '²', 'first')", InvalidArgument, "Use 0 to 9"),
        ("get_flight_cost('SFO', 'LAX', 5, 'first')", InvalidArgument, "travel_date = 5"),
        ("get_credit_card_balance('t', 'c9')", NotFound, "no card 'c9'; registered cards: c1, c2"),
        ("retrieve_invoice('t')", NotFound, "no booking None"),
        ("retrieve_invoice('t', '9')", NotFound, "no booking '9'"),
        ("compute_exchange_rate('USD', 'USD', 1)", InvalidArgument, "'USD' to 'USD'"),
        ("compute_exchange_rate('EUR', 'GBP', 1)", InvalidArgument, "USD and RMB, EUR,"),
        ("set_budget_limit('t', 'much')", InvalidArgument, "budget_limit = 'much'"),
        ("contact_customer_support('b9', 'm')", NotFound, "no booking 'b9'"),
    ],
)
def test_refusals(text: str, error: type[ToolError], part: str) -> None:
    assert_refused(agency(), text, error, part)


@pytest.mark.parametrize(
    ("arguments", "error", "part"),
    [
        ("'x', 'c1', '2024-05-01', 'SFO', 'LAX', 'first'", AccessDenied, "'x'"),
        ("'t', 'c9', '2024-05-01', 'SFO', 'LAX', 'first'", NotFound, "registered cards: c1, c2"),
        ("'t', 'c1', '2024-05-01', 'sfo', 'LAX', 'first'", NotFound, "no airport 'sfo'"),
        ("'t', 'c1', '2024-05-01', 'JFK', 'PVG', 'first'", NotFound, "no airport 'PVG'"),
        ("'t', 'c1', '2024-02-30', 'SFO', 'LAX', 'first'", InvalidArgument, "YYYY-MM-DD"),
        ("'t', 'c1', '2024-05-01', 'SFO', 'LAX', 'First'", InvalidArgument, "economy, business"),
        ("'t', 'c1', '2024-05-01', 'LAX', 'LHR', 'first'", NotFound, "From 'LAX' there are"),
        ("'t', 'c1', '2024-05-01', 'SFO', 'LAX', 'first'", Refused, "costs 2000.0"),
    ],
)
def test_refused_bookings(arguments: str, error: type[ToolError], part: str) -> None:
    assert_refused(agency(), f"book_flight({arguments})", error, part, booking_status=False)


def test_budget_limits_the_card_and_not_the_price() -> None:
    text = "book_flight('t', 'c1', '2024-05-01', 'SFO', 'LAX', 'economy')"
    session = agency(budget_limit=1000.5)
    assert_refused(session, text, Refused, "1000.5", booking_status=False)
    assert call(agency(budget_limit=1000), text).ok
    dear = agency(budget_limit=300, credit_card_list={"c1": {"balance": 1000}})
    assert call(dear, text).ok


@pytest.mark.parametrize(
    ("arguments", "error", "part"),
    [
        ("'x', 'i', 'b1', 1, 'c1'", AccessDenied, "'x'"),
        ("'t', 'i', 'b1', 100.5, 'c1'", Refused, "100.5 exceeds the budget limit, 100"),
        ("'t', 'i', 'b9', 1, 'c1'", NotFound, "no booking 'b9'"),
        ("'t', 'i', 'b1', 1, 'c9'", NotFound, "no card 'c9'"),
    ],
)
def test_refused_insurance(arguments: str, error: type[ToolError], part: str) -> None:
    session = agency(budget_limit=100)
    text = f"purchase_insurance({arguments})"
    assert_refused(session, text, error, part, insurance_status=False)


@pytest.mark.parametrize(
    ("arguments", "error", "part"),
    [("'x', 'b1'", AccessDenied, "'x'"), ("'t', 'b9'", NotFound, "no booking 'b9'")],
)
def test_refused_cancellations(arguments: str, error: type[ToolError], part: str) -> None:
    assert_refused(agency(), f"cancel_booking({arguments})", error, part, cancel_status=False)


WITH_TOKEN = [
    ("register_credit_card({}, '1', '', '', 1)", {}),
    ("get_credit_card_balance({}, 'c1')", {}),
    ("book_flight({}, 'c1', '2024-05-01', 'SFO', 'LAX', 'economy')", {"booking_status": False}),
    ("retrieve_invoice({}, 'b1')", {}),
    ("get_booking_history({})", {}),
    ("cancel_booking({}, 'b1')", {"cancel_status": False}),
    ("set_budget_limit({}, 1)", {}),
    ("purchase_insurance({}, 'i', 'b1', 1, 'c1')", {"insurance_status": False}),
]


@pytest.mark.parametrize(("text", "flags"), WITH_TOKEN)
def test_a_valid_token_is_needed(text: str, flags: dict[str, bool]) -> None:
    assert_refused(agency(), text.format("'x'"), AccessDenied, "'x' is not", **flags)
    expired = agency(token_expires_in=0)
    assert_refused(expired, text.format("'t'"), AccessDenied, "expired", **flags)
    assert call(expired, "travel_get_login_status()").value == {"status": False}
    assert call(agency(), text.format("'t'")).ok


def test_without_authentication_no_token_will_do_but_for_registering() -> None:
    session = agency(access_token=None, token_expires_in=None)
    assert call(session, "book_flight(None, 'c1', '2024-05-01', 'SFO', 'LAX', 'economy')").ok
    text = "register_credit_card(None, '1', '', '', 1)"
    assert_refused(session, text, AccessDenied, "no access token yet")


@pytest.mark.parametrize(
    ("bookings", "text", "part"),
    [
        ({"b": {"travel_cost": 1}}, "cancel_booking('t', 'b')", "has no card_id"),
        ({"b": {"card_id": "c1"}}, "cancel_booking('t', 'b')", "has no travel_cost"),
        ({"b": {**MOVED, "travel_cost": "4"}}, "cancel_booking('t', 'b')", "not a number"),
        ({"b": {**MOVED, "card_id": "c9"}}, "cancel_booking('t', 'b')", "no card 'c9'"),
        ({"b": {**MOVED, "card_id": ["c1"]}}, "cancel_booking('t', 'b')", "no card ['c1']"),
        ({"b": {**MOVED, "card_id": "poor"}}, "cancel_booking('t', 'b')", "has no balance"),
        ({"b": "text"}, "cancel_booking('t', 'b')", "has no card_id"),
        ({"b": MOVED}, "retrieve_invoice('t', 'b')", "has no travel_date"),
        ({}, "get_credit_card_balance('t', 'poor')", "has no balance"),
        ({}, "book_flight('t', 'odd', '2024-05-01', 'SFO', 'LAX', 'first')", "not a number"),
        ({}, "book_flight('t', 'text', '2024-05-01', 'SFO', 'LAX', 'first')", "has no balance"),
        ({"b": {}}, "purchase_insurance('t', 'i', 'b', 1, 'odd')", "not a number"),
    ],
)
def test_irregular_config_refuses_what_needs_more(
    bookings: dict[str, Any], text: str, part: str
) -> None:
    cards = {**CARDS, "poor": {"number": "1"}, "odd": {"balance": "5"}, "text": "balance"}
    session = irregular(credit_card_list=cards, booking_record=bookings)
    before = session.snapshot().states
    result = call(session, text)
    assert isinstance(result.error, Refused)
    assert part in result.error.message
    assert session.snapshot().states == before


def test_irregular_balance_is_shown_as_it_is() -> None:
    session = irregular(credit_card_list={"odd": {"balance": "5"}})
    assert call(session, "get_credit_card_balance('t', 'odd')").value == {"card_balance": "5"}


def test_insurance_may_cost_the_whole_budget_and_a_flight_the_whole_balance() -> None:
    session = agency(budget_limit=400, credit_card_list={"c1": {"balance": 400}})
    assert call(session, "book_flight('t', 'c1', '2024-05-01', 'SFO', 'LAX', 'economy')").ok
    assert call(session, "get_credit_card_balance('t', 'c1')").text == '{"card_balance": 0.0}'
    assert call(session, "purchase_insurance('t', 'travel', 'b1', 400, 'c1')").ok


def test_one_random_stream_serves_all_functions() -> None:
    session = Session.load(["TravelAPI"], {}, behaviour=AS_BFCL)
    token = call(session, "authenticate_travel('i', 's', 'r', 'g', 'A', 'B')").value["access_token"]
    card = call(session, f"register_credit_card('{token}', '1', '2', '3', 4)").value["card_id"]
    text = f"book_flight('{token}', '{card}', '2024-05-01', 'SFO', 'LAX', 'economy')"
    booked = call(session, text).value
    assert (token, card) == ("251675", "391310425148")
    assert state(session)["credit_card_list"][card]["balance"] == 58617 - 400
    assert (booked["booking_id"], booked["transaction_id"]) == ("4191922", "56121276")
    number_taken = f"register_credit_card('{token}', '1', '2', '3', 4)"
    assert call(session, number_taken).ok
    assert call(session, "get_booking_history('t')").error is not None


def test_refused_bookings_draw_no_ids() -> None:
    session = agency()
    for traveler_class in ("first", "Economy", "economy"):
        result = call(
            session, f"book_flight('t', 'c1', '2024-5-1', 'SFO', 'LAX', '{traveler_class}')"
        )
    assert result.value["booking_id"] == "3426812"


def test_booking_and_cancelling_leaves_the_balance_as_it_was() -> None:
    session = agency()
    before = state(session)
    booked = call(session, "book_flight('t', 'c1', '2024-05-02', 'SFO', 'ATV', 'business')").value
    invoice = call(session, f"retrieve_invoice('t', '{booked['booking_id']}')").value["invoice"]
    assert invoice["travel_cost"] == 780.0
    assert call(session, f"cancel_booking('t', '{booked['booking_id']}')").ok
    assert state(session) == before


def test_airports_are_a_bare_list() -> None:
    text = call(agency(), "list_all_airports()").text
    assert text.startswith("['RMS', 'SBK', ")


def test_facts_fit_together() -> None:
    assert (len(FARES), len(AIRPORTS), len(CITIES)) == (153, 23, 23)
    assert {end for route in FARES for end in route} - set(AIRPORTS) == {"PVG"}
    assert set(CITIES.values()) == set(AIRPORTS)


def test_long_context_adds_copies_of_cards_and_bookings_unless_the_id_is_taken() -> None:
    session = agency(PACK)
    now = state(session)
    assert now["credit_card_list"] == {**CARDS, "long": {"balance": 9000}}
    assert list(now["booking_record"]) == ["b1", "b_long"]
    assert now["booking_record"]["b1"] == BOOKING
    assert now["long_context"] is True
    assert call(session, "cancel_booking('t', 'b_long')").ok
    assert state(session)["credit_card_list"]["long"] == {"balance": 9010.0}
    assert PACK.credit_cards["long"] == {"balance": 9000}
    cards = agency(PACK).snapshot().states["TravelAPI"]["credit_card_list"]
    assert cards["long"] is not PACK.credit_cards["long"]
    assert list(state(agency(PACK))["booking_record"]) == ["b1", "b_long"]


def test_long_context_shows_all_fares_and_the_whole_record() -> None:
    session = agency(PACK)
    costs = call(session, "get_flight_cost('OKD', 'LAX', '2024-05-01', 'business')").value
    assert costs == {"travel_cost_list": [float(fare * 4) for fare in FARES.values()]}
    assert costs["travel_cost_list"][0] == 800.0
    refused = call(session, "get_flight_cost('LAX', 'OKD', '2024-05-01', 'Business')")
    assert type(refused.error) is InvalidArgument
    booked = call(session, "book_flight('t', 'c1', '2024-05-01', 'SFO', 'LAX', 'economy')").value
    assert list(booked["booking_history"]) == ["b1", "b_long", booked["booking_id"]]
    booked["booking_history"].clear()
    assert len(state(session)["booking_record"]) == 3


@pytest.mark.parametrize(
    "config",
    [
        {},
        CONFIG,
        {
            "credit_card_list": {"1": {**NEW_CARD, "balance": 5}},
            "budget_limit": 5,
            "random_seed": 1,
        },
        {"booking_record": {"b": {"travel_cost": 5}}, "budget_limit": None},
    ],
)
def test_config_check_accepts(config: dict[str, Any]) -> None:
    assert TravelAPI.check_config(config) == []


def test_config_check_accepts_states_that_calls_lead_to() -> None:
    session = agency()
    call(session, "register_credit_card('t', '4111', '05/27', 'Ada', 123)")
    call(session, "book_flight('t', 'c1', '2024-05-01', 'SFO', 'LAX', 'economy')")
    compared = state(session)
    del compared["long_context"]
    assert TravelAPI.check_config(compared) == []


@pytest.mark.parametrize(
    ("config", "path", "part"),
    [
        ({"budget": 5}, ".budget", "unknown key"),
        ({"budget_limits": 5}, ".budget_limits", "did you mean budget_limit?"),
        ({"token_expires_in": "2"}, ".token_expires_in", "got '2'"),
        ({"credit_card_list": {"c": {}}}, ".credit_card_list.c.balance", "missing"),
        ({"credit_card_list": {"c": {"balance": "5"}}}, ".credit_card_list.c.balance", "got '5'"),
        ({"booking_record": {"b": {"price": 5}}}, ".booking_record.b.price", "unknown key"),
        (
            {"booking_record": {"b": {"travel_class": "Business"}}},
            ".booking_record.b.travel_class",
            "'economy', 'business' or 'first'",
        ),
        ({"booking_record": {"b": BOOKING}}, ".booking_record['b'].card_id", "no card 'c1'"),
        (
            {"booking_record": {"b": {"travel_to": "PVG"}}},
            ".booking_record['b'].travel_to",
            "PVG is none of RMS,",
        ),
        (
            {"booking_record": {"b": {"travel_date": "May"}}},
            ".booking_record['b'].travel_date",
            "YYYY-MM-DD",
        ),
    ],
)
def test_config_check_refuses(config: dict[str, Any], path: str, part: str) -> None:
    problem = TravelAPI.check_config(config)[0]
    assert problem.path == f"$.TravelAPI{path}"
    assert part in problem.message


CLASSES = st.sampled_from(["economy", "business", "first", "bad"])
ROUTES = st.sampled_from([*FARES, ("SFO", "SFO")])
DATES = st.sampled_from(["2024-05-01", "2024-05-02", "no date"])


class AnyTravel(RuleBasedStateMachine):
    """Calls in any order keep money and bookings together."""

    def __init__(self) -> None:
        super().__init__()
        self.session = agency(booking_record={}, credit_card_list={"c1": {"balance": 3000}})
        self.ids = ["c1"]
        self.money = 3000.0

    def call(self, name: str, *args: Any) -> Result:
        before = self.session.snapshot().states
        result = self.session.call(Call(name, args))
        if not result.ok:
            assert self.session.snapshot().states == before
        return result

    def state(self) -> dict[str, Any]:
        return state(self.session)

    def pick(self, index: int) -> str:
        return self.ids[index % len(self.ids)]

    @rule()
    def register(self) -> None:
        result = self.call("register_credit_card", "t", "number", "05/27", "Ada", 1)
        self.ids.append(result.value["card_id"])
        self.money += self.state()["credit_card_list"][self.ids[-1]]["balance"]

    @rule(card=st.integers(0, 9), date=DATES, route=ROUTES, travel_class=CLASSES)
    def book(self, card: int, date: str, route: tuple[str, str], travel_class: str) -> None:
        card_id = self.pick(card)
        result = self.call("book_flight", "t", card_id, date, *route, travel_class)
        if result.ok:
            assert self.state()["credit_card_list"][card_id]["balance"] >= 0
            self.ids += [result.value["booking_id"], result.value["transaction_id"]]

    @rule(booking=st.integers(0, 99))
    def cancel(self, booking: int) -> None:
        booking_id = self.pick(booking)
        known = booking_id in self.state()["booking_record"]
        assert self.call("cancel_booking", "t", booking_id).ok == known

    @rule(booking=st.integers(0, 99), card=st.integers(0, 9), cost=st.sampled_from([5, 100.5, -5]))
    def insure(self, booking: int, card: int, cost: float) -> None:
        result = self.call(
            "purchase_insurance", "t", "travel", self.pick(booking), cost, self.pick(card)
        )
        if result.ok:
            self.ids.append(result.value["insurance_id"])
            self.money -= cost

    @rule(limit=st.sampled_from([-1, 100, 10**5]))
    def limit(self, limit: float) -> None:
        assert self.call("set_budget_limit", "t", limit).ok

    @invariant()
    def money_is_on_cards_or_in_bookings(self) -> None:
        now = self.state()
        held = [card["balance"] for card in now["credit_card_list"].values()]
        paid = [booking["travel_cost"] for booking in now["booking_record"].values()]
        assert sum(held) + sum(paid) == self.money

    @invariant()
    def bookings_have_cards_and_ids_are_unique(self) -> None:
        now = self.state()
        cards = now["credit_card_list"]
        assert all(booking["card_id"] in cards for booking in now["booking_record"].values())
        assert len(set(self.ids)) == len(self.ids)


AnyTravel.TestCase.settings = settings(
    max_examples=examples(40), stateful_step_count=25, deadline=None
)
TestAnyTravel = AnyTravel.TestCase


def test_what_is_insured_and_what_support_is_told_is_kept_where_all_is() -> None:
    config = {"TravelAPI": CONFIG}
    calls = [
        "purchase_insurance('t', 'Travel insurance', 'b1', 10, 'c1')",
        "contact_customer_support('b1', 'A window seat, please.')",
    ]
    own, as_bfcl = (Session.load(["TravelAPI"], config, behaviour=b) for b in (OWN, AS_BFCL))
    insured, told = [call(own, text) for text in calls]
    assert insured.changed
    assert told.changed
    assert state(own)["insurances"] == {
        insured.value["insurance_id"]: {
            "insurance_type": "travel",
            "booking_id": "b1",
            "insurance_cost": 10,
            "card_id": "c1",
        }
    }
    assert state(own)["support_messages"] == [
        {"booking_id": "b1", "message": "A window seat, please."}
    ]
    insured, told = [call(as_bfcl, text) for text in calls]
    assert insured.changed
    assert not told.changed
    assert state(own).keys() - state(as_bfcl).keys() == {"insurances", "support_messages"}


def test_a_refused_message_to_support_is_not_kept() -> None:
    session = Session.load(["TravelAPI"], {"TravelAPI": CONFIG})
    assert_refused(session, "contact_customer_support('b2', 'm')", NotFound, "no booking 'b2'")
