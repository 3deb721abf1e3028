"""Money, meals and bookings of BFCL's retired entries: known values and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from tests.extensions.library.calling import refusal, value

NAME = "RetiredErrands"
STAY = "check_in_date='02-28-2024', check_out_date='03-01-2024', customer_id='c'"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("calculate_future_value(present_value=5, interest_rate=0, periods=3)", 5),
        ("calculate_investment_value(100, 10, 2, 0.0, [0.0, 0.0])", 120),
        ("calculate_investment_value(100, 0, 1, 0.1, [0.5], adjust_for_inflation=False)",
         pytest.approx(110)),
        ("mortgage_calculator(loan_amount=100000, interest_rate=0.06, loan_period=30)",
         pytest.approx(599.55, abs=0.005)),
        ("order_food(item=['tea'], quantity=[0], price=[5])", 0),
        (f"book_room(room_type={{'beds': 2}}, price=90, {STAY})",
         {"room_type": {"beds": 2}, "nights": 2, "customer_id": "c", "arrival": "2024-02-28",
          "price": 90, "discount_code": None}),
    ],
)  # fmt: skip
def test_known_values(call: str, expected: Any) -> None:
    assert value(NAME, call) == expected


@pytest.mark.parametrize(("goal", "calories"), [("lose", 1636), ("maintain", 2136), ("gain", 2636)])
def test_nutrition(goal: str, calories: float) -> None:
    found = value(NAME, f"calculate_nutritional_needs(80, 180, 30, 'male', 1.0, {goal!r})")
    assert found["calories"] == pytest.approx(calories)
    energy = 4 * found["protein"] + 9 * found["fat"] + 4 * found["carbohydrates"]
    assert energy == pytest.approx(calories)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("book_room('a', '03-01-2024', '03-01-2024', 'c')", "is not after check_in_date"),
        ("book_room('a', '13-01-2024', '03-01-2024', 'c')", "a date as MM-DD-YYYY"),
        ("book_room('a', '3-1-2024', '03-01-2024', 'c')", "a date as MM-DD-YYYY"),
        ("book_room('a', '\u0660\u0663-01-2024', '03-01-2024', 'c')", "a date as MM-DD-YYYY"),
        ("order_food(item=['a'], quantity=[-1], price=[1])", "quantity must be from"),
        ("calculate_investment_value(1, 1, 1, 0.1, [-0.95])", "inflation_rate must be from"),
        (
            "calculate_nutritional_needs(80, 180, 30, 'male', 6, 'lose')",
            "activity_level must be from",
        ),
        ("calculate_nutritional_needs(80, 180, 30, 'man', 1, 'lose')", "male, female, other"),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)
