"""Finance functions: interest, loans, investments, depreciation, prices and shares of a bill.

The functions are stateless. Amounts have one currency, rates are percentages, and periods are whole
numbers.
"""

from __future__ import annotations

import math
from typing import Any

from envs.backend import Backend, NoConfig, reads
from envs.errors import InvalidArgument
from extensions.library.bounds import check_between, check_count, check_numbers

_MAX_AMOUNT = 1e12
_MAX_MONTHS = 600


class FinanceTools(Backend):
    """Functions of money."""

    Config = NoConfig

    @reads
    def compound_interest(
        self, principal: float, annual_rate: float, years: int, periods_per_year: int = 12
    ) -> dict[str, Any]:
        """Calculate what a deposit grows to.

        Args:
            principal: The deposit, from 0 to 1e12.
            annual_rate: Interest per year in percent, from 0 to 100.
            years: How long it lies, from 0 to 100.
            periods_per_year: How often interest is added in a year, from 1 to 365.

        Returns:
            balance: The deposit with its interest.
            interest: The interest alone.

        Examples:
            >>> compound_interest(principal=1000, annual_rate=10, years=2, periods_per_year=1)
            {"balance": 1210.0..., "interest": 210.0...}
            >>> compound_interest(principal=1000, annual_rate=-1, years=2)
            {"error": "annual_rate is -1: give 0 to 100."}
        """
        check_between("principal", principal, 0, _MAX_AMOUNT)
        check_between("annual_rate", annual_rate, 0, 100)
        check_between("years", years, 0, 100)
        check_between("periods_per_year", periods_per_year, 1, 365)
        growth = (1 + annual_rate / 100 / periods_per_year) ** (years * periods_per_year)
        return {"balance": principal * growth, "interest": principal * growth - principal}

    @reads
    def loan_payment(self, principal: float, annual_rate: float, months: int) -> dict[str, Any]:
        """Calculate the equal monthly payment that pays a loan off.

        Args:
            principal: The loan, from 1 to 1e12.
            annual_rate: Interest per year in percent, from 0 to 100.
            months: In how many months it is paid off, from 1 to 600.

        Returns:
            payment: The payment per month.
            total_interest: The interest paid in all.

        Examples:
            >>> loan_payment(principal=1200, annual_rate=0, months=12)
            {"payment": 100.0, "total_interest": 0.0}
            >>> loan_payment(principal=1200, annual_rate=5, months=0)
            {"error": "months is 0: give 1 to 600."}
        """
        payment = _payment(principal, annual_rate, months)
        return {"payment": payment, "total_interest": payment * months - principal}

    @reads
    def repayment_plan(self, principal: float, annual_rate: float, months: int) -> dict[str, Any]:
        """List the payments of a loan month by month.

        Args:
            principal: The loan, from 1 to 1e12.
            annual_rate: Interest per year in percent, from 0 to 100.
            months: In how many months it is paid off, from 1 to 60.

        Returns:
            plan: Per month its number, the interest, the repayment and the balance left.

        Examples:
            >>> repayment_plan(principal=100, annual_rate=0, months=2)
            {"plan": [{"month": 1, "interest": 0.0, "repayment": 50.0, "balance": 50.0}, ...
            >>> repayment_plan(principal=100, annual_rate=0, months=61)
            {"error": "months is 61: give 1 to 60."}
        """
        check_between("months", months, 1, 60)
        payment, balance, plan = _payment(principal, annual_rate, months), principal, []
        for month in range(1, months + 1):
            interest = balance * annual_rate / 1200
            repayment = balance if month == months else payment - interest
            balance -= repayment
            row = {"month": month, "interest": interest, "repayment": repayment}
            plan.append({**row, "balance": balance})
        return {"plan": plan}

    @reads
    def net_present_value(self, annual_rate: float, cash_flows: list[float]) -> dict[str, Any]:
        """Calculate what payments of coming years are worth today.

        Args:
            annual_rate: Discount per year in percent, from 0 to 100.
            cash_flows: One to 100 payments, one a year, the first one today; negative if paid out.

        Returns:
            value: Their value today.

        Examples:
            >>> net_present_value(annual_rate=25, cash_flows=[-100, 125])
            {"value": 0.0}
            >>> net_present_value(annual_rate=10, cash_flows=[])
            {"error": "cash_flows has 0 members: give 1 to 100."}
        """
        check_between("annual_rate", annual_rate, 0, 100)
        check_numbers("cash_flows", cash_flows, 100)
        return {"value": _present_value(annual_rate / 100, cash_flows)}

    @reads
    def internal_rate_of_return(self, cash_flows: list[float]) -> dict[str, Any]:
        """Find the discount at which payments of coming years are worth nothing today.

        Args:
            cash_flows: Two to 100 payments, one a year: the first paid out and so negative, the
                others not, and together more than the first.

        Returns:
            annual_rate: The rate per year in percent, at most 1000, to nine decimal places.

        Examples:
            >>> internal_rate_of_return(cash_flows=[-100, 110])
            {"annual_rate": 10.0}
            >>> internal_rate_of_return(cash_flows=[100, 110])
            {"error": "The first payment must be negative, the others not, and their sum positive."}
        """
        check_count("cash_flows", cash_flows, 2, 100)
        check_numbers("cash_flows", cash_flows, 100)
        first, *others = cash_flows
        if first >= 0 or min(others) < 0 or math.fsum(cash_flows) <= 0:
            raise InvalidArgument(
                "The first payment must be negative, the others not, and their sum positive."
            )
        low, high = 0.0, 10.0
        if _present_value(high, cash_flows) > 0:
            raise InvalidArgument("The rate is above 1000 percent.")
        for _ in range(100):
            middle = (low + high) / 2
            if _present_value(middle, cash_flows) > 0:
                low = middle
            else:
                high = middle
        return {"annual_rate": round(low * 100, 9)}

    @reads
    def savings_plan(self, monthly: float, annual_rate: float, years: int) -> dict[str, Any]:
        """Calculate what monthly payments into an account grow to.

        Args:
            monthly: Payment at the end of every month, from 0 to 1e9.
            annual_rate: Interest per year in percent, added every month, from 0 to 100.
            years: How long is saved, from 1 to 50.

        Returns:
            balance: What there is in the end.
            paid: The payments alone.

        Examples:
            >>> savings_plan(monthly=100, annual_rate=0, years=1)
            {"balance": 1200.0, "paid": 1200}
            >>> savings_plan(monthly=100, annual_rate=0, years=0)
            {"error": "years is 0: give 1 to 50."}
        """
        check_between("monthly", monthly, 0, 1e9)
        check_between("annual_rate", annual_rate, 0, 100)
        check_between("years", years, 1, 50)
        balance = 0.0
        for _ in range(12 * years):
            balance = balance * (1 + annual_rate / 1200) + monthly
        return {"balance": balance, "paid": monthly * 12 * years}

    @reads
    def straight_line_depreciation(
        self, cost: float, salvage_value: float, years: int
    ) -> dict[str, Any]:
        """List the book values of a thing that loses the same value every year.

        Args:
            cost: What it cost, from 0 to 1e12.
            salvage_value: What it is worth in the end, from 0 to its cost.
            years: How long it is used, from 1 to 100.

        Returns:
            annual: The loss per year.
            book_values: The value at the end of each year.

        Examples:
            >>> straight_line_depreciation(cost=1000, salvage_value=100, years=3)
            {"annual": 300.0, "book_values": [700.0, 400.0, 100.0]}
            >>> straight_line_depreciation(cost=1000, salvage_value=2000, years=3)
            {"error": "salvage_value is 2000: give 0 to 1000."}
        """
        check_between("cost", cost, 0, _MAX_AMOUNT)
        check_between("salvage_value", salvage_value, 0, cost)
        check_between("years", years, 1, 100)
        annual = (cost - salvage_value) / years
        return {"annual": annual, "book_values": [cost - annual * (n + 1) for n in range(years)]}

    @reads
    def add_tax(self, net: float, rate: float) -> dict[str, Any]:
        """Add a sales tax to a net price.

        Args:
            net: The price without tax, from 0 to 1e12.
            rate: The tax in percent, from 0 to 100.

        Returns:
            tax: The tax.
            gross: The price with it.

        Examples:
            >>> add_tax(net=200, rate=19)
            {"tax": 38.0, "gross": 238.0}
            >>> add_tax(net=-200, rate=19)
            {"error": "net is -200: give 0 to 1000000000000.0."}
        """
        check_between("net", net, 0, _MAX_AMOUNT)
        check_between("rate", rate, 0, 100)
        tax = net * rate / 100
        return {"tax": tax, "gross": net + tax}

    @reads
    def split_bill(self, total: float, people: int, tip_percent: float = 0) -> dict[str, Any]:
        """Divide a bill with a tip among people.

        Args:
            total: The bill without tip, from 0 to 1e12.
            people: How many pay, from 1 to 1000.
            tip_percent: The tip in percent of the bill, from 0 to 100.

        Returns:
            each: What each of them pays.
            tip: The tip in all.

        Examples:
            >>> split_bill(total=90, people=3, tip_percent=10)
            {"each": 33.0, "tip": 9.0}
            >>> split_bill(total=90, people=0)
            {"error": "people is 0: give 1 to 1000."}
        """
        check_between("total", total, 0, _MAX_AMOUNT)
        check_between("people", people, 1, 1000)
        check_between("tip_percent", tip_percent, 0, 100)
        tip = total * tip_percent / 100
        return {"each": (total + tip) / people, "tip": tip}

    @reads
    def break_even_units(
        self, fixed_costs: float, price: float, unit_cost: float
    ) -> dict[str, Any]:
        """Tell how many units must be sold before a business makes a profit.

        Args:
            fixed_costs: Costs that do not depend on the number, from 0 to 1e12.
            price: Price of a unit, from 0.01 to 1e12.
            unit_cost: Cost of a unit, from 0 and at least 0.01 below the price.

        Returns:
            units: The smallest number that covers all costs.

        Examples:
            >>> break_even_units(fixed_costs=1000, price=25, unit_cost=10)
            {"units": 67}
            >>> break_even_units(fixed_costs=1000, price=10, unit_cost=10)
            {"error": "unit_cost is 10: give 0 to 9.99."}
        """
        check_between("fixed_costs", fixed_costs, 0, _MAX_AMOUNT)
        check_between("price", price, 0.01, _MAX_AMOUNT)
        check_between("unit_cost", unit_cost, 0, price - 0.01)
        return {"units": math.ceil(fixed_costs / (price - unit_cost))}

    @reads
    def years_to_grow(self, annual_rate: float, factor: float = 2) -> dict[str, Any]:
        """Tell how long a deposit takes to grow by a factor, interest being added every year.

        Args:
            annual_rate: Interest per year in percent, from 0.01 to 100.
            factor: What it is to be multiplied by, from 1 to 1000.

        Returns:
            years: The time in years.

        Examples:
            >>> years_to_grow(annual_rate=100, factor=8)
            {"years": 3.0}
            >>> years_to_grow(annual_rate=0)
            {"error": "annual_rate is 0: give 0.01 to 100."}
        """
        check_between("annual_rate", annual_rate, 0.01, 100)
        check_between("factor", factor, 1, 1000)
        return {"years": math.log(factor) / math.log(1 + annual_rate / 100)}


def _payment(principal: float, annual_rate: float, months: int) -> float:
    check_between("principal", principal, 1, _MAX_AMOUNT)
    check_between("annual_rate", annual_rate, 0, 100)
    check_between("months", months, 1, _MAX_MONTHS)
    rate = annual_rate / 1200
    if rate == 0:
        return principal / months
    # A power of 1 + rate would lose most digits of a small rate.
    return principal * rate / -math.expm1(-months * math.log1p(rate))


def _present_value(rate: float, cash_flows: list[float]) -> float:
    return math.fsum([flow / (1 + rate) ** year for year, flow in enumerate(cash_flows)])
