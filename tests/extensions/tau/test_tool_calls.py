"""Calls on the desks, with the texts and state changes that tau2 gives."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.tau.airline import AirlineDesk
from extensions.tau.arithmetic import calculate
from extensions.tau.retail import RetailDesk
from extensions.tau.telecom import TelecomDesk
from extensions.tau.telecom_setup import run_function
from extensions.tau.tool_calls import call
from extensions.tau.worlds import make_desk
from tests.extensions.tau.conftest import world


def desk(name):
    return make_desk(name.removesuffix("Desk").lower(), world(name))


@pytest.mark.parametrize(
    ("name", "arguments", "side", "said"),
    [
        ("fly", {}, "assistant", "Error: Tool 'fly' not found."),
        ("get_user_details", {}, "user", "Error: User tools not available"),
        (
            "cancel_pending_order",
            {},
            "assistant",
            "Error: RetailTools.cancel_pending_order() missing 2 required positional arguments: "
            "'order_id' and 'reason'",
        ),
        (
            "calculate",
            {"expression": "1", "x": 2},
            "assistant",
            "Error: RetailTools.calculate() got an unexpected keyword argument 'x'",
        ),
        ("get_order_details", {"order_id": ["#W1"]}, "assistant", "Error: unhashable type: 'list'"),
        (
            "find_user_id_by_email",
            {"email": 3},
            "assistant",
            "Error: 'int' object has no attribute 'lower'",
        ),
    ],
)
def test_a_wrong_call_has_the_text_of_tau2(name, arguments, side, said):
    shop = desk("RetailDesk")
    before = shop.__dict__.copy()
    outcome = call(shop, name, arguments, side)
    assert outcome.failed
    assert outcome.text == said
    assert shop.__dict__ == before


def test_an_item_exchange_prices_all_items_by_the_last_pair():
    shop = desk("RetailDesk")
    order = shop.orders["#W2"]
    shop.orders = {**shop.orders, "#W2": {**order, "status": "pending"}}
    outcome = call(
        shop,
        "modify_pending_order_items",
        {
            "order_id": "#W2",
            "item_ids": ["2000000011", "2000000001"],
            "new_item_ids": ["2000000012", "2000000002"],
            "payment_method_id": "credit_card_1",
        },
    )
    changed = json.loads(outcome.text)
    assert [item["price"] for item in changed["items"]] == [42.25, 42.25]
    assert changed["status"] == "pending (item modified)"
    assert changed["payment_history"][-1]["amount"] == 3.75 + 2.75


def test_a_booking_uses_up_a_certificate_and_takes_seats():
    airline = desk("AirlineDesk")
    outcome = call(
        airline,
        "book_reservation",
        {
            "user_id": "mira_lund_2001",
            "origin": "SEA",
            "destination": "BOS",
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [{"flight_number": "HAT903", "date": "2024-05-20", "seat": "1A"}],
            "passengers": [{"first_name": "Mira", "last_name": "Lund", "dob": "1988-03-09"}],
            "payment_methods": [
                {"payment_id": "certificate_7", "amount": "109"},
                {"payment_id": "gift_card_7", "amount": 150},
            ],
            "total_baggages": 0,
            "nonfree_baggages": 0,
            "insurance": "no",
        },
    )
    assert not outcome.failed, outcome.text
    methods = airline.users["mira_lund_2001"]["payment_methods"]
    assert "certificate_7" not in methods
    assert methods["gift_card_7"]["amount"] == 0
    seats = airline.flights["HAT903"]["dates"]["2024-05-20"]["available_seats"]
    assert seats["economy"] == 7


def test_a_missing_member_is_described_as_pydantic_does():
    airline = desk("AirlineDesk")
    given = {"reservation_id": "LUND01", "passengers": [{"first_name": "A", "last_name": 3}]}
    text = call(airline, "update_reservation_passengers", given).text
    assert text.startswith("Error: 2 validation errors for Passenger\nlast_name\n")
    assert "[type=missing, input_value={'first_name': 'A', 'last_name': 3}" in text


def test_the_phone_follows_the_line_and_pays_its_bills():
    telecom = desk("TelecomDesk")
    assert isinstance(telecom, TelecomDesk)
    telecom.sync()
    owner = {"customer_id": "C1", "line_id": "L1"}
    assert call(telecom, "run_speed_test", {}, "user").text == "Speed test failed: No Connection."
    assert not call(telecom, "refuel_data", {**owner, "gb_amount": 1}).failed
    assert "275.00 Mbps" not in call(telecom, "run_speed_test", {}, "user").text
    call(telecom, "send_payment_request", {"customer_id": "C1", "bill_id": "B1"})
    assert "bill B1 of 80.0 USD" in call(telecom, "check_payment_request", {}, "user").text
    call(telecom, "make_payment", {}, "user")
    assert telecom.find("B", "B1")["status"] == "Paid"
    assert telecom.surroundings["payment_request"] is None


def test_a_new_bill_has_an_unused_id_after_its_state_was_loaded():
    telecom = desk("TelecomDesk")
    given = {"customer_id": "C1", "line_id": "L1", "gb_amount": 1}
    telecom.put("B", {**telecom.find("B", "B2"), "status": "Paid"})
    call(telecom, "refuel_data", given, syncs=False)
    telecom.put("B", {**telecom.find("B", "B00000001"), "status": "Paid"})
    state = {name: getattr(telecom, field) for name, field in TelecomDesk.KEYS.items()}
    loaded = make_desk("telecom", state)
    for each in (telecom, loaded):
        call(each, "refuel_data", given, syncs=False)
        ids = [bill["bill_id"] for bill in each.bills]
        assert ids[-2:] == ["B00000001", "B00000002"]


def test_a_gold_action_leaves_the_phone_behind():
    telecom = desk("TelecomDesk")
    telecom.sync()
    given = {"customer_id": "C1", "line_id": "L1", "gb_amount": 1}
    call(telecom, "refuel_data", given, syncs=False)
    assert telecom.surroundings["mobile_data_usage_exceeded"]


def test_a_missing_field_of_a_nested_record_is_named():
    user = {"user_id": "U1", "name": {"last_name": "Holm"}, "address": {}, "email": "a@b.example"}
    user |= {"payment_methods": {"card_1": {"source": "paypal"}, "card_2": {}}}
    address = ("address1", "address2", "city", "country", "state", "zip")
    assert [*map(str, RetailDesk.check_config({"users": {"U1": user}}))] == [
        "$.RetailDesk.users['U1'].name: has no first_name",
        *[f"$.RetailDesk.users['U1'].address: has no {field}" for field in address],
        "$.RetailDesk.users['U1'].payment_methods['card_1']: has no id",
        "$.RetailDesk.users['U1'].payment_methods['card_2']: has no source",
        "$.RetailDesk.users['U1']: has no orders",
    ]
    payment = [{"transaction_type": "payment", "amount": 1.0}]
    order = {"order_id": "O1", "user_id": "U1", "address": dict.fromkeys(address, ""), "items": []}
    order |= {"status": "pending", "fulfillments": [], "payment_history": payment}
    [problem] = RetailDesk.check_config({"orders": {"O1": order}})
    assert str(problem) == (
        "$.RetailDesk.orders['O1'].payment_history[0]: has no payment_method_id"
    )


def test_a_vpn_profile_needs_all_fields():
    [problem] = TelecomDesk.check_config({"vpn_profile": {"server_address": "", "protocol": ""}})
    assert str(problem) == "$.TelecomDesk.vpn_profile: has no server_performance"


def test_a_spoiled_vpn_stays_slow():
    telecom = desk("TelecomDesk")
    run_function(telecom, "user", "break_vpn", {})
    call(telecom, "disconnect_vpn", {}, "user")
    call(telecom, "connect_vpn", {}, "user")
    assert "PerformanceLevel.POOR" in call(telecom, "check_vpn_status", {}, "user").text
    fresh = desk("TelecomDesk")
    call(fresh, "connect_vpn", {}, "user")
    assert "PerformanceLevel.EXCELLENT" in call(fresh, "check_vpn_status", {}, "user").text


@pytest.mark.parametrize(
    ("expression", "value"),
    [("2.675", "2.67"), ("1e", None), ("10 // 4", "2.0"), ("1/0", None), ("9**9**9", None)],
)
def test_arithmetic_is_python_s_within_bounds(expression, value):
    outcome = call(desk("RetailDesk"), "calculate", {"expression": expression})
    assert outcome.failed == (value is None)
    assert value is None or outcome.text == value


@given(st.text(alphabet="0123456789+-*/(). ", max_size=12))
def test_arithmetic_never_raises_anything_but_a_refusal(expression):
    outcome = call(RetailDesk(), "calculate", {"expression": expression})
    assert outcome.failed or outcome.text == calculate(expression)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.data())
def test_hostile_arguments_never_break_a_desk(data):
    kind = data.draw(st.sampled_from([RetailDesk, AirlineDesk, TelecomDesk]))
    shop = desk(kind.__name__)
    name = data.draw(st.sampled_from(kind.AGENT_TOOLS + kind.USER_TOOLS))
    side = "user" if name in kind.USER_TOOLS else "assistant"
    names = kind.TOOLS[name].function.__annotations__
    arguments = {each: data.draw(JSON) for each in names if each != "return"}
    before = shop.__dict__.copy()
    outcome = call(shop, name, arguments, side)
    if outcome.failed and kind.TOOLS[name].keeps_on_refusal is None:
        assert shop.__dict__ == before
