"""The finance functions: known amounts, refusals, and identities of interest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.library.calling import refusal, value

NAME = "FinanceTools"
RATES = st.floats(0, 40, allow_subnormal=False)
AMOUNTS = st.floats(1, 1e6)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("loan_payment(principal=200000, annual_rate=6, months=360)", 1199.1010503),
        ("compound_interest(principal=1000, annual_rate=5, years=10)", 1647.0094977),
        ("compound_interest(principal=0, annual_rate=5, years=10)", 0),
        ("savings_plan(monthly=100, annual_rate=6, years=10)", 16387.9346807),
        ("net_present_value(annual_rate=0, cash_flows=[-1, 2, 3])", 4),
        ("internal_rate_of_return(cash_flows=[-100, 0, 121])", 10),
        ("add_tax(net=0, rate=100)", 0),
        ("split_bill(total=100, people=4)", 25),
        ("break_even_units(fixed_costs=0, price=1, unit_cost=0)", 0),
        ("break_even_units(fixed_costs=100, price=10, unit_cost=0)", 10),
        ("years_to_grow(annual_rate=7)", 10.2447684),
        ("straight_line_depreciation(cost=10, salvage_value=10, years=1)", 0),
    ],
)
def test_known_amounts(call: str, expected: float) -> None:
    given_value: Any = value(NAME, call)
    first = next(iter(given_value.values())) if isinstance(given_value, dict) else given_value
    assert first == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("loan_payment(principal=0, annual_rate=6, months=12)", "principal must be from"),
        ("loan_payment(principal=1, annual_rate=101, months=12)", "annual_rate must be from"),
        (
            "loan_payment(principal=1, annual_rate=1, months=601)",
            "months must be from 1 to 600, not 601.",
        ),
        ("internal_rate_of_return(cash_flows=[-1, 0])", "The sum must be positive"),
        ("internal_rate_of_return(cash_flows=[-1, 1000])", "above 1000 percent"),
        ("internal_rate_of_return(cash_flows=[-1])", "The length of cash_flows must be"),
        (
            "split_bill(total=1, people=1, tip_percent=-1)",
            "tip_percent must be from 0 to 100, not -1.",
        ),
        ("years_to_grow(annual_rate=5, factor=0.5)", "factor must be from 1 to 1000, not 0.5."),
        ("straight_line_depreciation(cost=1, salvage_value=0, years=0)", "years must be from"),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)


@given(AMOUNTS, RATES, st.integers(1, 60))
def test_a_repayment_plan_pays_the_loan_off(principal: float, rate: float, months: int) -> None:
    terms = f"principal={principal!r}, annual_rate={rate!r}, months={months}"
    plan = value(NAME, f"repayment_plan({terms})")
    payment = value(NAME, f"loan_payment({terms})")["payment"]
    assert [row["month"] for row in plan] == list(range(1, months + 1))
    assert sum(row["repayment"] for row in plan) == pytest.approx(principal)
    assert plan[-1]["balance"] == 0
    for row in plan:
        assert row["interest"] + row["repayment"] == pytest.approx(payment, rel=1e-6)


@given(st.floats(1, 1e6), st.lists(st.floats(0, 1e6), min_size=1, max_size=10))
def test_the_rate_of_return_makes_payments_worth_nothing(first: float, others: list[float]) -> None:
    others[-1] += first * 1.01
    if sum(others) > 9 * first:
        return
    rate = value(NAME, f"internal_rate_of_return(cash_flows={[-first, *others]})")
    if rate <= 100:
        call = f"net_present_value(annual_rate={rate!r}, cash_flows={[-first, *others]})"
        assert value(NAME, call) == pytest.approx(0, abs=1e-6 * first)


@given(RATES.filter(lambda rate: rate > 0.1), st.floats(1, 1000))
def test_a_deposit_grows_by_the_factor_in_the_time_it_takes(rate: float, factor: float) -> None:
    years = value(NAME, f"years_to_grow(annual_rate={rate!r}, factor={factor!r})")
    assert (1 + rate / 100) ** years == pytest.approx(factor)
