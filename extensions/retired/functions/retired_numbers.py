"""Numeric functions with the names and parameters of BFCL's retired executable entries.

The functions are stateless. Turnwise computes the results, and judges calls by the results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, linear_regression, pstdev
from typing import Any

from envs.backend import Backend, NoConfig, reads
from envs.errors import InvalidArgument
from extensions.library.bounds import check_between, check_count, check_numbers, whole
from extensions.library.numbers import factors_of, fibonacci
from extensions.retired.functions.derivative import derivative_at

_MAX_NUMBER = 10**9


class RetiredNumbers(Backend):
    """Numbers, sequences, matrices and statistics of BFCL's retired executable entries."""

    Config = NoConfig

    @reads
    def add_binary_numbers(self, a: str, b: str) -> dict[str, Any]:
        """Add two binary numbers.

        Args:
            a: First binary number, 1 to 64 digits.
            b: Second binary number, 1 to 64 digits.

        Returns:
            sum: Sum in binary notation.

        Examples:
            >>> add_binary_numbers(a='0101', b='11')
            {"sum": "1000"}
            >>> add_binary_numbers(a='12', b='1')
            {"error": "a must contain only the digits 0 and 1, not '12'."}
        """
        return {"sum": f"{_binary('a', a) + _binary('b', b):b}"}

    @reads
    def calc_binomial_probability(self, n: float, k: float, p: float) -> dict[str, Any]:
        """Calculate the binomial probability of k successes in n independent trials.

        Args:
            n: Number of trials, from 0 to 1000.
            k: Number of successes, from 0 to n.
            p: Probability of success in one trial, from 0 to 1.

        Returns:
            probability: Probability from 0 to 1.

        Examples:
            >>> calc_binomial_probability(n=4, k=2, p=0.5)
            {"probability": 0.375}
            >>> calc_binomial_probability(n=4, k=5, p=0.5)
            {"error": "k must be from 0 to 4, not 5."}
        """
        trials = whole("n", n, 0, 1000)
        successes = whole("k", k, 0, trials)
        check_between("p", p, 0, 1)
        ways = math.comb(trials, successes)
        return {"probability": ways * (p**successes * (1 - p) ** (trials - successes))}

    @reads
    def calculate_permutations(self, n: int, k: int) -> dict[str, Any]:
        """Count the permutations: ordered selections of k of n items.

        Args:
            n: Number of items, from 0 to 1000.
            k: Number of selected items, from 0 to n.

        Returns:
            permutations: Number of permutations.

        Examples:
            >>> calculate_permutations(n=5, k=2)
            {"permutations": 20}
            >>> calculate_permutations(n=5, k=6)
            {"error": "k must be from 0 to 5, not 6."}
        """
        things = whole("n", n, 0, 1000)
        return {"permutations": math.perm(things, whole("k", k, 0, things))}

    @reads
    def math_factorial(self, n: int) -> dict[str, Any]:
        """Calculate the factorial of an integer.

        Args:
            n: Integer, from 0 to 1000.

        Returns:
            factorial: Factorial of n.

        Examples:
            >>> math_factorial(n=4)
            {"factorial": 24}
            >>> math_factorial(n=-1)
            {"error": "n must be from 0 to 1000, not -1."}
        """
        return {"factorial": math.factorial(whole("n", n, 0, 1000))}

    @reads
    def math_gcd(self, a: int, b: int) -> dict[str, Any]:
        """Calculate the greatest common divisor of two integers.

        Args:
            a: First integer, from -1000000000 to 1000000000.
            b: Second integer, in the same range.

        Returns:
            divisor: Greatest common divisor.

        Examples:
            >>> math_gcd(a=12, b=18)
            {"divisor": 6}
            >>> math_gcd(a=2000000000, b=1)
            {"error": "a must be from -1000000000 to 1000000000, not 2000000000."}
        """
        return {"divisor": math.gcd(_integer("a", a), _integer("b", b))}

    @reads
    def math_lcm(self, a: int, b: int) -> dict[str, Any]:
        """Calculate the least common multiple of two integers.

        Args:
            a: First integer, from -1000000000 to 1000000000.
            b: Second integer, in the same range.

        Returns:
            multiple: Least common multiple.

        Examples:
            >>> math_lcm(a=4, b=6)
            {"multiple": 12}
            >>> math_lcm(a=2000000000, b=1)
            {"error": "a must be from -1000000000 to 1000000000, not 2000000000."}
        """
        return {"multiple": math.lcm(_integer("a", a), _integer("b", b))}

    @reads
    def get_prime_factors(self, number: int) -> dict[str, Any]:
        """Factor an integer into primes.

        Args:
            number: Integer, from 2 to 1000000000.

        Returns:
            factors: Prime factors in ascending order, with repetitions.

        Examples:
            >>> get_prime_factors(number=12)
            {"factors": [2, 2, 3]}
            >>> get_prime_factors(number=0)
            {"error": "number must be from 2 to 1000000000, not 0."}
        """
        return {"factors": factors_of(whole("number", number, 2, _MAX_NUMBER))}

    @reads
    def get_fibonacci_number(self, n: int) -> dict[str, Any]:
        """Return a number of the Fibonacci sequence 0, 1, 1, 2, 3, 5, ...

        Args:
            n: Index in the sequence, from 0 to 1000; the number at index 0 is 0.

        Returns:
            number: Fibonacci number.

        Examples:
            >>> get_fibonacci_number(n=10)
            {"number": 55}
            >>> get_fibonacci_number(n=-1)
            {"error": "n must be from 0 to 1000, not -1."}
        """
        return {"number": fibonacci(whole("n", n, 0, 1000) + 1)[-1]}

    @reads
    def get_fibonacci_sequence(self, n: int) -> dict[str, Any]:
        """List the first numbers of the Fibonacci sequence 0, 1, 1, 2, 3, 5, ...

        Args:
            n: Number of Fibonacci numbers, from 1 to 1000.

        Returns:
            sequence: Fibonacci numbers.

        Examples:
            >>> get_fibonacci_sequence(n=5)
            {"sequence": [0, 1, 1, 2, 3]}
            >>> get_fibonacci_sequence(n=0)
            {"error": "n must be from 1 to 1000, not 0."}
        """
        return {"sequence": fibonacci(whole("n", n, 1, 1000))}

    @reads
    def quadratic_roots(self, a: float, b: float, c: float) -> dict[str, Any]:
        """Solve the quadratic equation a x² + b x + c = 0.

        Args:
            a: Coefficient of x², not 0.
            b: Coefficient of x.
            c: Constant term.

        Returns:
            roots: Both roots, larger one first, each with real and imaginary part.

        Examples:
            >>> quadratic_roots(a=1, b=-3, c=2)
            {"roots": [{"real": 2.0, "imaginary": 0.0}, {"real": 1.0, "imaginary": 0.0}]}
            >>> quadratic_roots(a=0, b=1, c=1)
            {"error": "a is 0, so the equation is not quadratic."}
        """
        check_numbers("[a, b, c]", [a, b, c])
        if abs(a) < 1e-12:
            raise InvalidArgument(f"a is {a}, so the equation is not quadratic.")
        under = b * b - 4 * a * c
        middle, away = -b / (2 * a), math.sqrt(abs(under)) / abs(2 * a)
        signs = (1, -1)
        if under >= 0:
            roots = [{"real": middle + sign * away, "imaginary": 0.0} for sign in signs]
        else:
            roots = [{"real": middle, "imaginary": sign * away} for sign in signs]
        return {"roots": roots}

    @reads
    def sort_array(self, array: list[float], reverse: bool = False) -> dict[str, Any]:
        """Sort numbers.

        Args:
            array: One to 1000 numbers.
            reverse: Whether to sort in descending order.

        Returns:
            sorted: Sorted numbers.

        Examples:
            >>> sort_array(array=[3, 1, 2], reverse=True)
            {"sorted": [3, 2, 1]}
            >>> sort_array(array=[])
            {"error": "The length of array must be from 1 to 1000, not 0."}
        """
        check_numbers("array", array)
        return {"sorted": sorted(array, reverse=reverse)}

    @reads
    def mat_mul(self, matA: list[list[float]], matB: list[list[float]]) -> dict[str, Any]:
        """Multiply two matrices.

        Args:
            matA: Rows of the left matrix; at most 50 rows and 50 columns.
            matB: Rows of the right matrix, one for each column of the left matrix.

        Returns:
            product: Rows of the product.

        Examples:
            >>> mat_mul(matA=[[1, 2]], matB=[[3], [4]])
            {"product": [[11.0]]}
            >>> mat_mul(matA=[[1, 2]], matB=[[3]])
            {"error": "matB has 1 rows, but matA has 2 columns; the numbers must be equal."}
        """
        columns = _columns("matA", matA)
        _columns("matB", matB)
        if len(matB) != columns:
            raise InvalidArgument(
                f"matB has {len(matB)} rows, but matA has {columns} columns; "
                "the numbers must be equal."
            )
        turned = [*zip(*matB, strict=True)]
        return {
            "product": [
                [math.fsum(a * b for a, b in zip(row, column, strict=True)) for column in turned]
                for row in matA
            ]
        }

    @reads
    def calculate_cosine_similarity(
        self, vectorA: list[float], vectorB: list[float]
    ) -> dict[str, Any]:
        """Calculate the cosine similarity of two vectors.

        Args:
            vectorA: First vector, 1 to 1000 numbers.
            vectorB: Second vector, of the same length.

        Returns:
            similarity: Cosine of the angle between the vectors, from -1 to 1.

        Examples:
            >>> calculate_cosine_similarity(vectorA=[3, 4], vectorB=[4, 3])
            {"similarity": 0.96}
            >>> calculate_cosine_similarity(vectorA=[3, 4], vectorB=[0, 0])
            {"error": "vectorB must contain a number other than 0."}
        """
        lengths = []
        for name, vector in (("vectorA", vectorA), ("vectorB", vectorB)):
            check_numbers(name, vector)
            lengths.append(math.hypot(*vector))
            if lengths[-1] < 1e-12:
                raise InvalidArgument(f"{name} must contain a number other than 0.")
        _check_as_long("vectorB", vectorB, vectorA)
        product = math.fsum(a * b for a, b in zip(vectorA, vectorB, strict=True))
        return {"similarity": product / (lengths[0] * lengths[1])}

    @reads
    def calculate_mean(self, numbers: list[float]) -> dict[str, Any]:
        """Calculate the arithmetic mean of numbers.

        Args:
            numbers: One to 1000 numbers.

        Returns:
            mean: Arithmetic mean.

        Examples:
            >>> calculate_mean(numbers=[1, 2, 6])
            {"mean": 3.0}
            >>> calculate_mean(numbers=[])
            {"error": "The length of numbers must be from 1 to 1000, not 0."}
        """
        check_numbers("numbers", numbers)
        return {"mean": fmean(numbers)}

    @reads
    def calculate_standard_deviation(self, numbers: list[float]) -> dict[str, Any]:
        """Calculate the population standard deviation of numbers.

        Args:
            numbers: One to 1000 numbers.

        Returns:
            deviation: Population standard deviation.

        Examples:
            >>> calculate_standard_deviation(numbers=[2, 4])
            {"deviation": 1.0}
            >>> calculate_standard_deviation(numbers=[])
            {"error": "The length of numbers must be from 1 to 1000, not 0."}
        """
        check_numbers("numbers", numbers)
        return {"deviation": float(pstdev(numbers))}

    @reads
    def linear_regression(self, x: list[float], y: list[float], point: float) -> dict[str, Any]:
        """Fit a line to points by least squares, and return its y at a given x.

        Args:
            x: x coordinates of 2 to 1000 points, not all equal.
            y: y coordinates of the points.
            point: x at which to evaluate the line.

        Returns:
            value: y of the line at this x.

        Examples:
            >>> linear_regression(x=[0, 1], y=[1, 3], point=2)
            {"value": 5.0}
            >>> linear_regression(x=[1, 1], y=[1, 3], point=2)
            {"error": "x must contain at least two different numbers."}
        """
        check_count("x", x, 2, 1000)
        for name, values in (("x", x), ("y", y), ("point", [point])):
            check_numbers(name, values)
        _check_as_long("y", y, x)
        if max(x) - min(x) < 1e-9:
            raise InvalidArgument("x must contain at least two different numbers.")
        slope, start = linear_regression(x, y)
        return {"value": slope * point + start}

    @reads
    def estimate_derivative(self, function: str, x: float) -> dict[str, Any]:
        """Calculate the derivative of a function at a point.

        Args:
            function: Function in Python syntax, such as lambda x: 3*x**2 + 1.
            x: Point.

        Returns:
            derivative: Derivative at the point.

        Examples:
            >>> estimate_derivative(function='lambda x: x**2 + 2*x', x=3)
            {"derivative": 8.0}
            >>> estimate_derivative(function='lambda x: open(x)', x=3)
            {"error": "function contains open(x): use only numbers, x, + - * / ** and parentheses."}
        """
        check_numbers("x", [x])
        return {"derivative": derivative_at(function, x)}


def _binary(name: str, digits: str) -> int:
    check_count(name, digits, 1, 64)
    if set(digits) - {"0", "1"}:
        raise InvalidArgument(f"{name} must contain only the digits 0 and 1, not {digits!r}.")
    return int(digits, 2)


def _integer(name: str, value: float) -> int:
    return whole(name, value, -_MAX_NUMBER, _MAX_NUMBER)


def _columns(name: str, matrix: Sequence[Sequence[float]]) -> int:
    """Return the number of columns of a matrix.

    Raises InvalidArgument if the value is not a matrix.
    """
    check_count(name, matrix, 1, 50)
    for row in matrix:
        check_numbers(f"a row of {name}", row, 50)
        if len(row) != len(matrix[0]):
            raise InvalidArgument(f"{name} has rows of different lengths.")
    return len(matrix[0])


def _check_as_long(name: str, values: Sequence[float], others: Sequence[float]) -> None:
    if len(values) != len(others):
        raise InvalidArgument(f"The length of {name} must be {len(others)}, not {len(values)}.")
