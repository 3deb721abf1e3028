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
    """Functions for numbers."""

    Config = NoConfig

    @reads
    def greatest_common_divisor(self, numbers: list[int]) -> dict[str, Any]:
        """Calculate the greatest common divisor of integers.

        Args:
            numbers: One to 100 integers.

        Returns:
            divisor: Greatest common divisor; 0 if all integers are 0.

        Examples:
            >>> greatest_common_divisor(numbers=[12, 18, 30])
            {"divisor": 6}
            >>> greatest_common_divisor(numbers=[])
            {"error": "The length of numbers must be from 1 to 100, not 0."}
        """
        check_numbers("numbers", numbers, 100)
        return {"divisor": math.gcd(*numbers)}

    @reads
    def least_common_multiple(self, numbers: list[int]) -> dict[str, Any]:
        """Calculate the least common multiple of integers.

        Args:
            numbers: One to 100 integers.

        Returns:
            multiple: Least common multiple; 0 if one of the integers is 0.

        Examples:
            >>> least_common_multiple(numbers=[4, 6, 10])
            {"multiple": 60}
            >>> least_common_multiple(numbers=[])
            {"error": "The length of numbers must be from 1 to 100, not 0."}
        """
        check_numbers("numbers", numbers, 100)
        return {"multiple": math.lcm(*numbers)}

    @reads
    def prime_factors(self, number: int) -> dict[str, Any]:
        """Factor an integer into primes.

        Args:
            number: Integer, from 2 to 1000000000.

        Returns:
            factors: Prime factors in ascending order, with repetitions.

        Examples:
            >>> prime_factors(number=360)
            {"factors": [2, 2, 2, 3, 3, 5]}
            >>> prime_factors(number=1)
            {"error": "number must be from 2 to 1000000000, not 1."}
        """
        check_between("number", number, 2, _MAX_NUMBER)
        return {"factors": factors_of(number)}

    @reads
    def primes_between(self, low: int, high: int) -> dict[str, Any]:
        """List the prime numbers in a range.

        Args:
            low: First number of the range, from 0 to 1000000.
            high: Last number of the range, at most 1000 above the first one.

        Returns:
            primes: Prime numbers in ascending order.

        Examples:
            >>> primes_between(low=10, high=20)
            {"primes": [11, 13, 17, 19]}
            >>> primes_between(low=20, high=10)
            {"error": "high must be from 20 to 1020, not 10."}
        """
        check_between("low", low, 0, 1_000_000)
        check_between("high", high, low, low + 1000)
        candidates = range(max(low, 2), high + 1)
        return {"primes": [number for number in candidates if factors_of(number) == [number]]}

    @reads
    def binomial_coefficient(self, n: int, k: int) -> dict[str, Any]:
        """Count how many ways there are to choose k of n items, ignoring order.

        Args:
            n: Number of items, from 0 to 1000.
            k: Number of items to choose, from 0 to n.

        Returns:
            ways: Number of ways.

        Examples:
            >>> binomial_coefficient(n=5, k=2)
            {"ways": 10}
            >>> binomial_coefficient(n=5, k=6)
            {"error": "k must be from 0 to 5, not 6."}
        """
        check_between("n", n, 0, 1000)
        check_between("k", k, 0, n)
        return {"ways": math.comb(n, k)}

    @reads
    def fibonacci_number(self, index: int) -> dict[str, Any]:
        """Return a number of the Fibonacci sequence 0, 1, 1, 2, 3, 5, ...

        Args:
            index: Index in the sequence, from 0 to 1000; the number at index 0 is 0.

        Returns:
            number: Fibonacci number.

        Examples:
            >>> fibonacci_number(index=10)
            {"number": 55}
            >>> fibonacci_number(index=-1)
            {"error": "index must be from 0 to 1000, not -1."}
        """
        check_between("index", index, 0, 1000)
        return {"number": fibonacci(index + 1)[-1]}

    @reads
    def convert_base(self, digits: str, from_base: int, to_base: int) -> dict[str, Any]:
        """Convert a natural number to another base.

        Args:
            digits: Natural number with 1 to 100 digits; letters are the digits above 9.
            from_base: Base of the given digits, from 2 to 36.
            to_base: Base of the result, from 2 to 36.

        Returns:
            digits: Number in the new base, with letters in lower case.

        Examples:
            >>> convert_base(digits='ff', from_base=16, to_base=2)
            {"digits": "11111111"}
            >>> convert_base(digits='12', from_base=2, to_base=10)
            {"error": "'2' is not a digit in base 2."}
        """
        check_count("digits", digits, 1, 100)
        check_between("from_base", from_base, 2, 36)
        check_between("to_base", to_base, 2, 36)
        for digit in digits.lower():
            if digit not in _DIGITS[:from_base]:
                raise InvalidArgument(f"{digit!r} is not a digit in base {from_base}.")
        return {"digits": _written(int(digits.lower(), from_base), to_base)}

    @reads
    def solve_quadratic(self, a: float, b: float, c: float) -> dict[str, Any]:
        """Solve the equation a x^2 + b x + c = 0 in real numbers.

        Args:
            a: Coefficient of x^2, not 0.
            b: Coefficient of x.
            c: Constant term.

        Returns:
            roots: Solutions in ascending order: none, one or two.

        Examples:
            >>> solve_quadratic(a=1, b=-3, c=2)
            {"roots": [1.0, 2.0]}
            >>> solve_quadratic(a=0, b=1, c=2)
            {"error": "a is 0, so the equation is not quadratic."}
        """
        check_numbers("[a, b, c]", [a, b, c])
        if a == 0:
            raise InvalidArgument("a is 0, so the equation is not quadratic.")
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
        """Solve a system of n linear equations with n unknowns.

        Args:
            coefficients: List of coefficients for each equation; one to ten equations.
            constants: Right side of each equation.

        Returns:
            solution: Values of the unknowns, in order.

        Examples:
            >>> solve_linear_system(coefficients=[[2, 1], [1, -1]], constants=[5, 1])
            {"solution": [2.0, 1.0]}
            >>> solve_linear_system(coefficients=[[1, 1], [2, 2]], constants=[1, 2])
            {"error": "The equations have no unique solution."}
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
            left: Rows of the left matrix; at most ten rows of at most ten numbers each.
            right: Rows of the right matrix, one for each column of the left matrix.

        Returns:
            product: Rows of the product.

        Examples:
            >>> matrix_product(left=[[1, 2]], right=[[3], [4]])
            {"product": [[11]]}
            >>> matrix_product(left=[[1, 2]], right=[[3, 4]])
            {"error": "The length of right must be 2, not 1."}
        """
        for name, matrix in (("left", left), ("right", right)):
            check_count(name, matrix, 1, 10)
            _check_shape(name, matrix, len(matrix[0]))
        check_count("right", right, len(left[0]), len(left[0]))
        columns = list(zip(*right, strict=True))
        return {"product": [[_dot(row, column) for column in columns] for row in left]}

    @reads
    def polynomial_value(self, coefficients: list[float], x: float) -> dict[str, Any]:
        """Evaluate a polynomial at a point.

        Args:
            coefficients: One to 20 coefficients, highest power first.
            x: Value of x, from -1000000 to 1000000.

        Returns:
            value: Value of the polynomial.

        Examples:
            >>> polynomial_value(coefficients=[2, 0, -1], x=3)
            {"value": 17}
            >>> polynomial_value(coefficients=[], x=3)
            {"error": "The length of coefficients must be from 1 to 20, not 0."}
        """
        check_numbers("coefficients", coefficients, 20)
        check_between("x", x, -1_000_000, 1_000_000)
        value: float = 0
        for coefficient in coefficients:
            value = value * x + coefficient
        return {"value": value}

    @reads
    def percentile(self, numbers: list[float], percent: float) -> dict[str, Any]:
        """Calculate a percentile of numbers, with linear interpolation.

        Args:
            numbers: One to 1000 numbers.
            percent: Percentage, from 0 to 100; 50 is the median.

        Returns:
            value: Percentile.

        Examples:
            >>> percentile(numbers=[4, 1, 3, 2], percent=50)
            {"value": 2.5}
            >>> percentile(numbers=[1], percent=101)
            {"error": "percent must be from 0 to 100, not 101."}
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
            x: x coordinates of two to 1000 points, not all equal.
            y: y coordinates of the points.

        Returns:
            slope: Slope of the line.
            intercept: Value of the line at x = 0.

        Examples:
            >>> fit_line(x=[0, 1, 2], y=[1, 3, 5])
            {"slope": 2.0, "intercept": 1.0}
            >>> fit_line(x=[1, 1], y=[1, 2])
            {"error": "All x coordinates are equal, so no line fits best."}
        """
        check_numbers("x", x)
        check_numbers("y", y)
        check_count("x", x, 2, 1000)
        check_count("y", y, len(x), len(x))
        xs, ys = [Fraction(value) for value in x], [Fraction(value) for value in y]
        mean_x, mean_y = sum(xs, Fraction()) / len(xs), sum(ys, Fraction()) / len(ys)
        spread = sum(((value - mean_x) ** 2 for value in xs), Fraction())
        if not spread:
            raise InvalidArgument("All x coordinates are equal, so no line fits best.")
        pairs = zip(xs, ys, strict=True)
        both = sum(((one - mean_x) * (other - mean_y) for one, other in pairs), Fraction())
        slope = both / spread
        return {"slope": _as_float(slope), "intercept": _as_float(mean_y - slope * mean_x)}

    @reads
    def triangle_area(self, a: float, b: float, c: float) -> dict[str, Any]:
        """Calculate the area of a triangle from its sides.

        Args:
            a: Length of the first side, from 0.001 to 1000000.
            b: Length of the second side, in the same range.
            c: Length of the third side, in the same range.

        Returns:
            area: Area of the triangle.

        Examples:
            >>> triangle_area(a=3, b=4, c=5)
            {"area": 6.0}
            >>> triangle_area(a=1, b=1, c=3)
            {"error": "No triangle has sides of 1, 1 and 3."}
        """
        for name, side in (("a", a), ("b", b), ("c", c)):
            check_between(name, side, 0.001, 1_000_000)
        short, middle, long = sorted(map(Fraction, (a, b, c)))
        if short + middle <= long:
            raise InvalidArgument(f"No triangle has sides of {a}, {b} and {c}.")
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

    Raises InvalidArgument if there is no unique solution.
    """
    for column in range(len(rows)):
        pivot = next((row for row in range(column, len(rows)) if rows[row][column]), None)
        if pivot is None:
            raise InvalidArgument("The equations have no unique solution.")
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
        raise InvalidArgument("The result is too large.") from None
