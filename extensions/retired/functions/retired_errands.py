"""Functions for money, meals and bookings, from retired entries of BFCL.

The functions are stateless: orders and bookings are returned but not stored. Turnwise computes the
results, and judges calls by the results.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from envs.backend import Backend, NoConfig, reads
from envs.errors import InvalidArgument
from envs.state import cut_repr
from extensions.library.bounds import check_between, check_count, check_numbers, whole

_ACTIVITY = {1: 1.2, 2: 1.375, 3: 1.55, 4: 1.725, 5: 1.9}
"""Energy factor for each level of activity."""
_SEX = {"male": 5, "female": -161, "other": -78}
"""Maps the sex to a constant of the Mifflin-St Jeor formula."""
_GOAL = {"lose": -500, "maintain": 0, "gain": 500}
"""Daily kilocalories to add for each goal."""


class RetiredErrands(Backend):
    """Functions for investments, loans, orders, bookings and meals."""

    Config = NoConfig

    @reads
    def calculate_future_value(
        self, present_value: float, interest_rate: float, periods: float
    ) -> dict[str, Any]:
        """Calculate the future value of an investment.

        Args:
            present_value: Value of the investment now.
            interest_rate: Interest rate per period as a fraction, from -1 to 10.
            periods: Number of periods, from 0 to 100.

        Returns:
            value: Value after all periods.

        Examples:
            >>> calculate_future_value(present_value=100, interest_rate=0.5, periods=2)
            {"value": 225.0}
            >>> calculate_future_value(present_value=100, interest_rate=0.5, periods=-1)
            {"error": "periods must be from 0 to 100, not -1."}
        """
        check_numbers("present_value", [present_value])
        check_between("interest_rate", interest_rate, -1, 10)
        check_between("periods", periods, 0, 100)
        return {"value": present_value * (1 + interest_rate) ** periods}

    @reads
    def calculate_investment_value(
        self,
        initial_investment: float,
        annual_contribution: float,
        years: int,
        annual_return: float,
        inflation_rate: list[float],
        adjust_for_inflation: bool = True,
    ) -> dict[str, Any]:
        """Calculate the final value of an investment with yearly contributions.

        Args:
            initial_investment: Amount invested at the start.
            annual_contribution: Amount added at the end of each year.
            years: Number of years, from 1 to 100.
            annual_return: Yearly return as a fraction, from -1 to 10.
            inflation_rate: Inflation of each year as a fraction; at least one value per year.
            adjust_for_inflation: Whether to adjust the value for inflation.

        Returns:
            value: Final value.

        Examples:
            >>> calculate_investment_value(100, 10, 1, 0.5, [0.25])
            {"value": 128.0}
            >>> calculate_investment_value(100, 10, 2, 0.5, [0.25])
            {"error": "The length of inflation_rate must be from 2 to 100, not 1."}
        """
        amounts = [initial_investment, annual_contribution]
        check_numbers("[initial_investment, annual_contribution]", amounts)
        count = whole("years", years, 1, 100)
        check_between("annual_return", annual_return, -1, 10)
        check_count("inflation_rate", inflation_rate, count, 100)
        value = initial_investment
        for rate in inflation_rate[:count]:
            check_between("inflation_rate", rate, -0.9, 10)
            value = value * (1 + annual_return) + annual_contribution
            if adjust_for_inflation:
                value /= 1 + rate
        return {"value": value}

    @reads
    def mortgage_calculator(
        self, loan_amount: float, interest_rate: float, loan_period: float
    ) -> dict[str, Any]:
        """Calculate the fixed monthly payment of a mortgage.

        Args:
            loan_amount: Amount of the loan, from 0 to 1e9.
            interest_rate: Yearly interest rate as a fraction, from 0 to 10.
            loan_period: Number of years, from 1 to 100.

        Returns:
            payment: Monthly payment.

        Examples:
            >>> mortgage_calculator(loan_amount=1200, interest_rate=0, loan_period=1)
            {"payment": 100.0}
            >>> mortgage_calculator(loan_amount=1200, interest_rate=0, loan_period=0)
            {"error": "loan_period must be from 1 to 100, not 0."}
        """
        check_between("loan_amount", loan_amount, 0, 1e9)
        check_between("interest_rate", interest_rate, 0, 10)
        check_between("loan_period", loan_period, 1, 100)
        months, rate = loan_period * 12, interest_rate / 12
        if rate < 1e-12:
            return {"payment": loan_amount / months}
        return {"payment": loan_amount * rate / (1 - (1 + rate) ** -months)}

    @reads
    def order_food(
        self, item: list[str], quantity: list[int], price: list[float]
    ) -> dict[str, Any]:
        """Order food, and return the total price.

        Args:
            item: Names of 1 to 100 items.
            quantity: Quantity of each item, from 0 to 1000000.
            price: Price per unit of each item, from 0 to 1000000.

        Returns:
            total: Total price.

        Examples:
            >>> order_food(item=['tea', 'cake'], quantity=[2, 1], price=[1.5, 3])
            {"total": 6.0}
            >>> order_food(item=['tea', 'cake'], quantity=[2], price=[1.5, 3])
            {"error": "The length of quantity must be 2, not 1."}
        """
        check_count("item", item, 1, 100)
        for name, values in (("quantity", quantity), ("price", price)):
            check_count(name, values, len(item), len(item))
            for value in values:
                check_between(name, value, 0, 1_000_000)
        return {"total": sum(count * each for count, each in zip(quantity, price, strict=True))}

    @reads
    def book_room(
        self,
        room_type: str | dict[str, Any],
        check_in_date: str,
        check_out_date: str,
        customer_id: str,
        price: float = 0.0,
        discount_code: str | None = None,
    ) -> dict[str, Any]:
        """Book a room for a customer.

        Args:
            room_type: Type of the room.
            check_in_date: Arrival date as MM-DD-YYYY.
            check_out_date: Departure date as MM-DD-YYYY, after the arrival date.
            customer_id: Id of the customer.
            price: Maximum price per night; 0 for no limit.
            discount_code: Discount code, or null.

        Returns:
            booking: Booking with the number of nights.

        Examples:
            >>> book_room('twin', '01-30-2026', '02-01-2026', 'c7')
            {"booking": {"room_type": "twin", "nights": 2, "customer_id": "c7", ...}}
            >>> book_room('twin', '2026-01-30', '02-01-2026', 'c7')
            {"error": "check_in_date must be a date as MM-DD-YYYY, not '2026-01-30'."}
        """
        arrival = _day("check_in_date", check_in_date)
        nights = (_day("check_out_date", check_out_date) - arrival).days
        if nights < 1:
            raise InvalidArgument(f"check_out_date {check_out_date!r} is not after check_in_date.")
        check_between("price", price, 0, 1e9)
        return {
            "booking": {
                "room_type": room_type,
                "nights": nights,
                "customer_id": customer_id,
                "arrival": arrival.isoformat(),
                "price": price,
                "discount_code": discount_code,
            }
        }

    @reads
    def calculate_nutritional_needs(
        self,
        weight: float,
        height: float,
        age: float,
        gender: str,
        activity_level: float,
        goal: str,
    ) -> dict[str, Any]:
        """Calculate a person's daily nutritional needs with the Mifflin-St Jeor equation.

        Args:
            weight: Weight in kilograms, from 1 to 500.
            height: Height in centimetres, from 30 to 300.
            age: Age in years, from 0 to 130.
            gender: One of male, female, other.
            activity_level: Activity level from 1 (sedentary) to 5 (hard daily training).
            goal: One of lose, gain, maintain.

        Returns:
            calories: Kilocalories per day.
            protein: Grams of protein per day, for 30% of the energy.
            fat: Grams of fat per day, for 25% of the energy.
            carbohydrates: Grams of carbohydrates per day, for 45% of the energy.

        Examples:
            >>> calculate_nutritional_needs(80, 180, 30, 'male', 1, 'maintain')
            {"calories": 2136.0, "protein": 160.2, "fat": 59.33..., "carbohydrates": 240.3}
            >>> calculate_nutritional_needs(80, 180, 30, 'male', 1, 'fly')
            {"error": "goal must be one of lose, maintain, gain, not 'fly'."}
        """
        check_between("weight", weight, 1, 500)
        check_between("height", height, 30, 300)
        check_between("age", age, 0, 130)
        level = whole("activity_level", activity_level, 1, 5)
        _check_one_of("gender", gender, _SEX)
        _check_one_of("goal", goal, _GOAL)
        at_rest = 10 * weight + 6.25 * height - 5 * age + _SEX[gender]
        calories = at_rest * _ACTIVITY[level] + _GOAL[goal]
        return {
            "calories": calories,
            "protein": calories * 0.3 / 4,
            "fat": calories * 0.25 / 9,
            "carbohydrates": calories * 0.45 / 4,
        }


def _day(name: str, text: str) -> date:
    month, _, rest = text.partition("-")
    day, _, year = rest.partition("-")
    try:
        if not (text.isascii() and (len(month), len(day), len(year)) == (2, 2, 4)):
            raise ValueError
        return date(int(year), int(month), int(day))
    except ValueError:
        message = f"{name} must be a date as MM-DD-YYYY, not {cut_repr(text, 50)}."
        raise InvalidArgument(message) from None


def _check_one_of(name: str, value: str, known: dict[str, int]) -> None:
    if value not in known:
        raise InvalidArgument(
            f"{name} must be one of {', '.join(known)}, not {cut_repr(value, 50)}."
        )
