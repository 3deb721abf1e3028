"""Finance functions: interest, loans, investments, depreciation, prices and shares of a bill.

The functions are stateless. All amounts are in the same currency, rates are percentages, and
periods are whole numbers.
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
    """Functions for money."""

    Config = NoConfig

    @reads
    def compound_interest(
        self, principal: float, annual_rate: float, years: int, periods_per_year: int = 12
    ) -> dict[str, Any]:
        """Calculate the balance of a deposit with compound interest.

        Args:
            principal: Initial deposit, from 0 to 1e12.
            annual_rate: Annual interest rate in percent, from 0 to 100.
            years: Number of years, from 0 to 100.
            periods_per_year: How often interest is added per year, from 1 to 365.

        Returns:
            balance: Deposit plus interest.
            interest: Interest without the deposit.

        Examples:
            >>> compound_interest(principal=1000, annual_rate=10, years=2, periods_per_year=1)
            {"balance": 1210.0..., "interest": 210.0...}
            >>> compound_interest(principal=1000, annual_rate=-1, years=2)
            {"error": "annual_rate must be from 0 to 100, not -1."}
        """
        check_between("principal", principal, 0, _MAX_AMOUNT)
        check_between("annual_rate", annual_rate, 0, 100)
        check_between("years", years, 0, 100)
        check_between("periods_per_year", periods_per_year, 1, 365)
        growth = (1 + annual_rate / 100 / periods_per_year) ** (years * periods_per_year)
        return {"balance": principal * growth, "interest": principal * growth - principal}

    @reads
    def loan_payment(self, principal: float, annual_rate: float, months: int) -> dict[str, Any]:
        """Calculate the fixed monthly payment that repays a loan.

        Args:
            principal: Amount of the loan, from 1 to 1e12.
            annual_rate: Annual interest rate in percent, from 0 to 100.
            months: Number of monthly payments, from 1 to 600.

        Returns:
            payment: Monthly payment.
            total_interest: Total interest of all payments.

        Examples:
            >>> loan_payment(principal=1200, annual_rate=0, months=12)
            {"payment": 100.0, "total_interest": 0.0}
            >>> loan_payment(principal=1200, annual_rate=5, months=0)
            {"error": "months must be from 1 to 600, not 0."}
        """
        payment = _payment(principal, annual_rate, months)
        return {"payment": payment, "total_interest": payment * months - principal}

    @reads
    def repayment_plan(self, principal: float, annual_rate: float, months: int) -> dict[str, Any]:
        """List the monthly payments of a loan.

        Args:
            principal: Amount of the loan, from 1 to 1e12.
            annual_rate: Annual interest rate in percent, from 0 to 100.
            months: Number of monthly payments, from 1 to 60.

        Returns:
            plan: For each month: month number, interest, repayment, and remaining balance.

        Examples:
            >>> repayment_plan(principal=100, annual_rate=0, months=2)
            {"plan": [{"month": 1, "interest": 0.0, "repayment": 50.0, "balance": 50.0}, ...
            >>> repayment_plan(principal=100, annual_rate=0, months=61)
            {"error": "months must be from 1 to 60, not 61."}
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
        """Calculate the net present value of yearly payments.

        Args:
            annual_rate: Annual discount rate in percent, from 0 to 100.
            cash_flows: One to 100 yearly payments, the first one today; outgoing payments are
                negative.

        Returns:
            value: Net present value.

        Examples:
            >>> net_present_value(annual_rate=25, cash_flows=[-100, 125])
            {"value": 0.0}
            >>> net_present_value(annual_rate=10, cash_flows=[])
            {"error": "The length of cash_flows must be from 1 to 100, not 0."}
        """
        check_between("annual_rate", annual_rate, 0, 100)
        check_numbers("cash_flows", cash_flows, 100)
        return {"value": _present_value(annual_rate / 100, cash_flows)}

    @reads
    def internal_rate_of_return(self, cash_flows: list[float]) -> dict[str, Any]:
        """Calculate the internal rate of return of yearly payments.

        Args:
            cash_flows: Two to 100 yearly payments. The first one must be negative, the others must
                not be negative, and the sum must be positive.

        Returns:
            annual_rate: Annual rate in percent, at most 1000, rounded to nine decimal places.

        Examples:
            >>> internal_rate_of_return(cash_flows=[-100, 110])
            {"annual_rate": 10.0}
            >>> internal_rate_of_return(cash_flows=[100, 110])
            {"error": "The first payment must be negative. No other payment may be negative. Th...
        """
        check_count("cash_flows", cash_flows, 2, 100)
        check_numbers("cash_flows", cash_flows, 100)
        first, *others = cash_flows
        if first >= 0 or min(others) < 0 or math.fsum(cash_flows) <= 0:
            raise InvalidArgument(
                "The first payment must be negative. No other payment may be negative. "
                "The sum must be positive."
            )
        low, high = 0.0, 10.0
        if _present_value(high, cash_flows) > 0:
            raise InvalidArgument("The internal rate of return is above 1000 percent.")
        for _ in range(100):
            middle = (low + high) / 2
            if _present_value(middle, cash_flows) > 0:
                low = middle
            else:
                high = middle
        return {"annual_rate": round(low * 100, 9)}

    @reads
    def savings_plan(self, monthly: float, annual_rate: float, years: int) -> dict[str, Any]:
        """Calculate the final balance of monthly deposits.

        Args:
            monthly: Deposit at the end of each month, from 0 to 1e9.
            annual_rate: Annual interest rate in percent, from 0 to 100. Interest is added monthly.
            years: Number of years, from 1 to 50.

        Returns:
            balance: Final balance.
            paid: Sum of the deposits.

        Examples:
            >>> savings_plan(monthly=100, annual_rate=0, years=1)
            {"balance": 1200.0, "paid": 1200}
            >>> savings_plan(monthly=100, annual_rate=0, years=0)
            {"error": "years must be from 1 to 50, not 0."}
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
        """Calculate the straight-line depreciation of an asset.

        Args:
            cost: Purchase price, from 0 to 1e12.
            salvage_value: Value at the end of the useful life, from 0 to the cost.
            years: Useful life in years, from 1 to 100.

        Returns:
            annual: Depreciation per year.
            book_values: Book value at the end of each year.

        Examples:
            >>> straight_line_depreciation(cost=1000, salvage_value=100, years=3)
            {"annual": 300.0, "book_values": [700.0, 400.0, 100.0]}
            >>> straight_line_depreciation(cost=1000, salvage_value=2000, years=3)
            {"error": "salvage_value must be from 0 to 1000, not 2000."}
        """
        check_between("cost", cost, 0, _MAX_AMOUNT)
        check_between("salvage_value", salvage_value, 0, cost)
        check_between("years", years, 1, 100)
        annual = (cost - salvage_value) / years
        return {"annual": annual, "book_values": [cost - annual * (n + 1) for n in range(years)]}

    @reads
    def add_tax(self, net: float, rate: float) -> dict[str, Any]:
        """Add sales tax to a net price.

        Args:
            net: Price without tax, from 0 to 1e12.
            rate: Tax rate in percent, from 0 to 100.

        Returns:
            tax: Amount of the tax.
            gross: Price with tax.

        Examples:
            >>> add_tax(net=200, rate=19)
            {"tax": 38.0, "gross": 238.0}
            >>> add_tax(net=-200, rate=19)
            {"error": "net must be from 0 to 1000000000000.0, not -200."}
        """
        check_between("net", net, 0, _MAX_AMOUNT)
        check_between("rate", rate, 0, 100)
        tax = net * rate / 100
        return {"tax": tax, "gross": net + tax}

    @reads
    def split_bill(self, total: float, people: int, tip_percent: float = 0) -> dict[str, Any]:
        """Split a bill and the tip equally among people.

        Args:
            total: Amount of the bill without tip, from 0 to 1e12.
            people: Number of people, from 1 to 1000.
            tip_percent: Tip in percent of the bill, from 0 to 100.

        Returns:
            each: Amount per person, with tip.
            tip: Total tip.

        Examples:
            >>> split_bill(total=90, people=3, tip_percent=10)
            {"each": 33.0, "tip": 9.0}
            >>> split_bill(total=90, people=0)
            {"error": "people must be from 1 to 1000, not 0."}
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
        """Calculate how many units must be sold to cover all costs.

        Args:
            fixed_costs: Costs that do not depend on the number of units, from 0 to 1e12.
            price: Price per unit, from 0.01 to 1e12.
            unit_cost: Cost per unit, at least 0, and at least 0.01 less than the price.

        Returns:
            units: Smallest number of units that covers all costs.

        Examples:
            >>> break_even_units(fixed_costs=1000, price=25, unit_cost=10)
            {"units": 67}
            >>> break_even_units(fixed_costs=1000, price=10, unit_cost=10)
            {"error": "unit_cost must be from 0 to 9.99, not 10."}
        """
        check_between("fixed_costs", fixed_costs, 0, _MAX_AMOUNT)
        check_between("price", price, 0.01, _MAX_AMOUNT)
        check_between("unit_cost", unit_cost, 0, price - 0.01)
        return {"units": math.ceil(fixed_costs / (price - unit_cost))}

    @reads
    def years_to_grow(self, annual_rate: float, factor: float = 2) -> dict[str, Any]:
        """Calculate how long a deposit takes to grow by a factor, with yearly interest.

        Args:
            annual_rate: Annual interest rate in percent, from 0.01 to 100.
            factor: Growth factor, from 1 to 1000.

        Returns:
            years: Time in years.

        Examples:
            >>> years_to_grow(annual_rate=100, factor=8)
            {"years": 3.0}
            >>> years_to_grow(annual_rate=0)
            {"error": "annual_rate must be from 0.01 to 100, not 0."}
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
