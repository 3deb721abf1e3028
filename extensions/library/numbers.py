"""Number functions: primes, combinations, notations, equations, matrices, statistics, areas.

They are stateless. Integers are exact; all other numbers are IEEE doubles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from envs.backend import Backend, NoConfig, reads
from envs.errors import InvalidArgument
from extensions.library.bounds import check_between, check_count, check_numbers

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_MAX_NUMBER = 10**9


class NumberTools(Backend):
    """Functions of numbers."""

    Config = NoConfig

    @reads
    def greatest_common_divisor(self, numbers: list[int]) -> dict[str, Any]:
        """Find the largest integer that divides several integers.

        Args:
            numbers: One to 100 integers.

        Returns:
            divisor: The greatest common divisor, 0 if all are 0.

        Examples:
            >>> greatest_common_divisor(numbers=[12, 18, 30])
            {"divisor": 6}
            >>> greatest_common_divisor(numbers=[])
            {"error": "numbers has 0 members: give 1 to 100."}
        """
        check_numbers("numbers", numbers, 100)
        return {"divisor": math.gcd(*numbers)}

    @reads
    def least_common_multiple(self, numbers: list[int]) -> dict[str, Any]:
        """Find the smallest positive integer that several integers divide.

        Args:
            numbers: One to 100 integers.

        Returns:
            multiple: The least common multiple, 0 if one of them is 0.

        Examples:
            >>> least_common_multiple(numbers=[4, 6, 10])
            {"multiple": 60}
            >>> least_common_multiple(numbers=[])
            {"error": "numbers has 0 members: give 1 to 100."}
        """
        check_numbers("numbers", numbers, 100)
        return {"multiple": math.lcm(*numbers)}

    @reads
    def prime_factors(self, number: int) -> dict[str, Any]:
        """Take an integer apart into primes.

        Args:
            number: The integer, from 2 to 1000000000.

        Returns:
            factors: The primes whose product it is, ascending, repeated as often as they occur.

        Examples:
            >>> prime_factors(number=360)
            {"factors": [2, 2, 2, 3, 3, 5]}
            >>> prime_factors(number=1)
            {"error": "number is 1: give 2 to 1000000000."}
        """
        check_between("number", number, 2, _MAX_NUMBER)
        return {"factors": factors_of(number)}

    @reads
    def primes_between(self, low: int, high: int) -> dict[str, Any]:
        """List the primes of a range.

        Args:
            low: Start of the range, from 0 to 1000000.
            high: End of the range, included; at most 1000 above the start.

        Returns:
            primes: The primes, ascending.

        Examples:
            >>> primes_between(low=10, high=20)
            {"primes": [11, 13, 17, 19]}
            >>> primes_between(low=20, high=10)
            {"error": "high is 10: give 20 to 1020."}
        """
        check_between("low", low, 0, 1_000_000)
        check_between("high", high, low, low + 1000)
        candidates = range(max(low, 2), high + 1)
        return {"primes": [number for number in candidates if factors_of(number) == [number]]}

    @reads
    def binomial_coefficient(self, n: int, k: int) -> dict[str, Any]:
        """Count the ways to choose some of several things, their order left aside.

        Args:
            n: How many things there are, from 0 to 1000.
            k: How many to choose, from 0 to n.

        Returns:
            ways: How many ways there are.

        Examples:
            >>> binomial_coefficient(n=5, k=2)
            {"ways": 10}
            >>> binomial_coefficient(n=5, k=6)
            {"error": "k is 6: give 0 to 5."}
        """
        check_between("n", n, 0, 1000)
        check_between("k", k, 0, n)
        return {"ways": math.comb(n, k)}

    @reads
    def fibonacci_number(self, index: int) -> dict[str, Any]:
        """Return a number of the Fibonacci sequence 0, 1, 1, 2, 3, 5 and so on.

        Args:
            index: Its place in the sequence, from 0 to 1000; the number at place 0 is 0.

        Returns:
            number: The number.

        Examples:
            >>> fibonacci_number(index=10)
            {"number": 55}
            >>> fibonacci_number(index=-1)
            {"error": "index is -1: give 0 to 1000."}
        """
        check_between("index", index, 0, 1000)
        return {"number": fibonacci(index + 1)[-1]}

    @reads
    def convert_base(self, digits: str, from_base: int, to_base: int) -> dict[str, Any]:
        """Write a natural number in another base.

        Args:
            digits: The number, up to 100 digits; the digits above 9 are letters.
            from_base: The base that it is written in, from 2 to 36.
            to_base: The base to write it in, from 2 to 36.

        Returns:
            digits: The number in the new base, letters in lower case.

        Examples:
            >>> convert_base(digits='ff', from_base=16, to_base=2)
            {"digits": "11111111"}
            >>> convert_base(digits='12', from_base=2, to_base=10)
            {"error": "'2' is no digit in base 2."}
        """
        check_count("digits", digits, 1, 100)
        check_between("from_base", from_base, 2, 36)
        check_between("to_base", to_base, 2, 36)
        for digit in digits.lower():
            if digit not in _DIGITS[:from_base]:
                raise InvalidArgument(f"{digit!r} is no digit in base {from_base}.")
        return {"digits": _written(int(digits.lower(), from_base), to_base)}

    @reads
    def solve_quadratic(self, a: float, b: float, c: float) -> dict[str, Any]:
        """Solve the equation a x^2 + b x + c = 0 in real numbers.

        Args:
            a: Factor of the square, not 0.
            b: Factor of x.
            c: Constant term.

        Returns:
            roots: The solutions, ascending: none, one or two.

        Examples:
            >>> solve_quadratic(a=1, b=-3, c=2)
            {"roots": [1.0, 2.0]}
            >>> solve_quadratic(a=0, b=1, c=2)
            {"error": "a is 0, so the equation is not quadratic: give another a."}
        """
        check_numbers("the equation", [a, b, c])
        if a == 0:
            raise InvalidArgument("a is 0, so the equation is not quadratic: give another a.")
        exact_a, exact_b = Fraction(a), Fraction(b)
        discriminant = exact_b * exact_b - 4 * exact_a * Fraction(c)
        if discriminant < 0:
            return {"roots": []}
        root = Fraction(math.sqrt(discriminant))
        ends = {(-exact_b - root) / (2 * exact_a), (-exact_b + root) / (2 * exact_a)}
        return {"roots": sorted(map(_as_float, ends))}

    @reads
    def solve_linear_system(
        self, coefficients: list[list[float]], constants: list[float]
    ) -> dict[str, Any]:
        """Solve as many linear equations as there are unknowns.

        Args:
            coefficients: Per equation the factors of the unknowns; one to ten equations.
            constants: Per equation its right side.

        Returns:
            solution: The unknowns in order.

        Examples:
            >>> solve_linear_system(coefficients=[[2, 1], [1, -1]], constants=[5, 1])
            {"solution": [2.0, 1.0]}
            >>> solve_linear_system(coefficients=[[1, 1], [2, 2]], constants=[1, 2])
            {"error": "The equations have no single solution."}
        """
        check_count("coefficients", coefficients, 1, 10)
        _check_shape("coefficients", coefficients, len(coefficients))
        check_numbers("constants", constants)
        check_count("constants", constants, len(coefficients), len(coefficients))
        rows = [
            [Fraction(number) for number in (*row, constant)]
            for row, constant in zip(coefficients, constants, strict=True)
        ]
        return {"solution": [_as_float(value) for value in _eliminated(rows)]}

    @reads
    def matrix_product(self, left: list[list[float]], right: list[list[float]]) -> dict[str, Any]:
        """Multiply two matrices.

        Args:
            left: Rows of the left matrix, of one to ten numbers each.
            right: Rows of the right matrix, as many as the left one has columns.

        Returns:
            product: Rows of the product.

        Examples:
            >>> matrix_product(left=[[1, 2]], right=[[3], [4]])
            {"product": [[11]]}
            >>> matrix_product(left=[[1, 2]], right=[[3, 4]])
            {"error": "right has 1 members: give 2 to 2."}
        """
        for name, matrix in (("left", left), ("right", right)):
            check_count(name, matrix, 1, 10)
            _check_shape(name, matrix, len(matrix[0]))
        check_count("right", right, len(left[0]), len(left[0]))
        columns = list(zip(*right, strict=True))
        return {"product": [[_dot(row, column) for column in columns] for row in left]}

    @reads
    def polynomial_value(self, coefficients: list[float], x: float) -> dict[str, Any]:
        """Calculate the value of a polynomial.

        Args:
            coefficients: One to 20 factors, that of the highest power first.
            x: Where to calculate it, from -1000000 to 1000000.

        Returns:
            value: The value.

        Examples:
            >>> polynomial_value(coefficients=[2, 0, -1], x=3)
            {"value": 17}
            >>> polynomial_value(coefficients=[], x=3)
            {"error": "coefficients has 0 members: give 1 to 20."}
        """
        check_numbers("coefficients", coefficients, 20)
        check_between("x", x, -1_000_000, 1_000_000)
        value: float = 0
        for coefficient in coefficients:
            value = value * x + coefficient
        return {"value": value}

    @reads
    def percentile(self, numbers: list[float], percent: float) -> dict[str, Any]:
        """Find the value below which a percentage of numbers lies, interpolated linearly.

        Args:
            numbers: One to 1000 numbers.
            percent: The percentage, from 0 to 100; 50 gives the median.

        Returns:
            value: The percentile.

        Examples:
            >>> percentile(numbers=[4, 1, 3, 2], percent=50)
            {"value": 2.5}
            >>> percentile(numbers=[1], percent=101)
            {"error": "percent is 101: give 0 to 100."}
        """
        check_numbers("numbers", numbers)
        check_between("percent", percent, 0, 100)
        ordered = sorted(numbers)
        place = (len(ordered) - 1) * percent / 100
        low, part = int(place), place - int(place)
        high = min(low + 1, len(ordered) - 1)
        return {"value": ordered[low] + (ordered[high] - ordered[low]) * part}

    @reads
    def fit_line(self, x: list[float], y: list[float]) -> dict[str, Any]:
        """Fit the line y = slope * x + intercept to points by least squares.

        Args:
            x: Positions of two to 1000 points on the x axis, not all the same.
            y: Their positions on the y axis.

        Returns:
            slope: Slope of the line.
            intercept: Its y at x = 0.

        Examples:
            >>> fit_line(x=[0, 1, 2], y=[1, 3, 5])
            {"slope": 2.0, "intercept": 1.0}
            >>> fit_line(x=[1, 1], y=[1, 2])
            {"error": "All points have the same x: no line fits best."}
        """
        check_numbers("x", x)
        check_numbers("y", y)
        check_count("x", x, 2, 1000)
        check_count("y", y, len(x), len(x))
        xs, ys = [Fraction(value) for value in x], [Fraction(value) for value in y]
        mean_x, mean_y = sum(xs, Fraction()) / len(xs), sum(ys, Fraction()) / len(ys)
        spread = sum(((value - mean_x) ** 2 for value in xs), Fraction())
        if not spread:
            raise InvalidArgument("All points have the same x: no line fits best.")
        pairs = zip(xs, ys, strict=True)
        both = sum(((one - mean_x) * (other - mean_y) for one, other in pairs), Fraction())
        slope = both / spread
        return {"slope": _as_float(slope), "intercept": _as_float(mean_y - slope * mean_x)}

    @reads
    def triangle_area(self, a: float, b: float, c: float) -> dict[str, Any]:
        """Calculate the area of a triangle from its sides.

        Args:
            a: Length of one side, from 0.001 to 1000000.
            b: Length of another side.
            c: Length of the third side, shorter than the other two together.

        Returns:
            area: The area, in the square of the sides' unit.

        Examples:
            >>> triangle_area(a=3, b=4, c=5)
            {"area": 6.0}
            >>> triangle_area(a=1, b=1, c=3)
            {"error": "Sides of 1, 1 and 3 make no triangle."}
        """
        for name, side in (("a", a), ("b", b), ("c", c)):
            check_between(name, side, 0.001, 1_000_000)
        short, middle, long = sorted(map(Fraction, (a, b, c)))
        if short + middle <= long:
            raise InvalidArgument(f"Sides of {a}, {b} and {c} make no triangle.")
        half = (short + middle + long) / 2
        return {"area": math.sqrt(half * (half - short) * (half - middle) * (half - long))}


def factors_of(number: int) -> list[int]:
    """Return the prime factors of an integer above 1."""
    factors, candidate = [], 2
    while candidate * candidate <= number:
        while number % candidate == 0:
            factors.append(candidate)
            number //= candidate
        candidate += 1
    return [*factors, number] if number > 1 else factors


def fibonacci(count: int) -> list[int]:
    """Return the first Fibonacci numbers, from 0 and 1."""
    numbers = [0, 1]
    while len(numbers) < count:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers[:count]


def _written(value: int, base: int) -> str:
    digits = ""
    while value:
        value, place = divmod(value, base)
        digits = _DIGITS[place] + digits
    return digits or "0"


def _check_shape(name: str, rows: list[list[float]], columns: int) -> None:
    for index, row in enumerate(rows):
        check_numbers(f"{name}[{index}]", row, 10)
        check_count(f"{name}[{index}]", row, columns, columns)


def _eliminated(rows: list[list[Fraction]]) -> list[Fraction]:
    """Return the solution of linear equations; the last item of a row is the right side.

    Raises InvalidArgument if the equations have no solution or more than one.
    """
    for column in range(len(rows)):
        pivot = next((row for row in range(column, len(rows)) if rows[row][column]), None)
        if pivot is None:
            raise InvalidArgument("The equations have no single solution.")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(len(rows)):
            factor = rows[row][column]
            if row != column and factor:
                pairs = zip(rows[row], rows[column], strict=True)
                rows[row] = [value - factor * pivoted for value, pivoted in pairs]
    return [row[-1] for row in rows]


def _dot(row: list[float], column: tuple[float, ...]) -> float:
    # Integers stay exact; sum() adds floats differently since Python 3.12.
    total: float = 0
    for one, other in zip(row, column, strict=True):
        total += one * other
    return total


def _as_float(value: Fraction) -> float:
    """Return the nearest float. Raises InvalidArgument if the number is too large for a float."""
    try:
        return float(value)
    except OverflowError:
        raise InvalidArgument("The result is too large: give other numbers.") from None
