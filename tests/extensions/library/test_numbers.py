"""The number functions: known values, refusals, and what holds for all arguments."""

from __future__ import annotations

from math import comb, gcd, isclose, lcm, prod
from statistics import linear_regression, quantiles
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.library.calling import refusal, value

NAME = "NumberTools"
SMALL = st.integers(-1000, 1000)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("greatest_common_divisor(numbers=[0, 0])", 0),
        ("greatest_common_divisor(numbers=[-12, 18])", 6),
        ("least_common_multiple(numbers=[4, 0])", 0),
        ("prime_factors(number=2)", [2]),
        ("prime_factors(number=999999937)", [999999937]),
        ("prime_factors(number=1000000000)", [2] * 9 + [5] * 9),
        ("primes_between(low=0, high=3)", [2, 3]),
        ("primes_between(low=24, high=28)", []),
        ("fibonacci_number(index=0)", 0),
        ("fibonacci_number(index=100)", 354224848179261915075),
        ("convert_base(digits='0', from_base=2, to_base=36)", "0"),
        ("convert_base(digits='ZZ', from_base=36, to_base=10)", "1295"),
        ("solve_quadratic(a=1, b=0, c=1)", []),
        ("solve_quadratic(a=1, b=-2, c=1)", [1.0]),
        ("solve_quadratic(a=-1, b=0, c=4)", [-2.0, 2.0]),
        ("solve_linear_system(coefficients=[[0, 1], [1, 0]], constants=[2, 3])", [3.0, 2.0]),
        ("polynomial_value(coefficients=[0.5, 0], x=3)", 1.5),
        ("percentile(numbers=[5], percent=99)", 5),
        ("percentile(numbers=[1, 2, 3, 4], percent=100)", 4),
        ("fit_line(x=[1, 2], y=[3, 3])", {"slope": 0.0, "intercept": 3.0}),
        ("triangle_area(a=2, b=2, c=2)", 1.7320508075688772),
    ],
)
def test_known_values(call: str, expected: Any) -> None:
    assert value(NAME, call) == expected


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            "prime_factors(number=1000000001)",
            "number must be from 2 to 1000000000, not 1000000001.",
        ),
        ("primes_between(low=0, high=1001)", "high must be from 0 to 1000, not 1001."),
        ("fibonacci_number(index=1001)", "index must be from"),
        ("convert_base(digits='', from_base=2, to_base=3)", "The length of digits must be"),
        ("convert_base(digits='-1', from_base=10, to_base=3)", "'-' is not a digit in base 10."),
        (
            "convert_base(digits='1', from_base=1, to_base=3)",
            "from_base must be from 2 to 36, not 1.",
        ),
        (
            "solve_linear_system(coefficients=[[1]], constants=[])",
            "The length of constants must be",
        ),
        (
            "solve_linear_system(coefficients=[[1, 2]], constants=[1])",
            "The length of coefficients[0] must be",
        ),
        ("matrix_product(left=[[1], [1, 2]], right=[[1]])", "The length of left[1] must be"),
        ("polynomial_value(coefficients=[1e13], x=1)", "coefficients contains 10000000000000.0"),
        ("fit_line(x=[1], y=[1])", "The length of x must be from 2 to 1000, not 1."),
        ("fit_line(x=[1, 2], y=[1])", "The length of y must be 2, not 1."),
        ("triangle_area(a=0, b=1, c=1)", "a must be from 0.001 to 1000000, not 0."),
        ("triangle_area(a=1, b=2, c=3)", "No triangle has sides"),
        ("percentile(numbers=[], percent=1)", "The length of numbers must be"),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=6))
def test_divisor_and_multiple(numbers: list[int]) -> None:
    assert value(NAME, f"greatest_common_divisor(numbers={numbers})") == gcd(*numbers)
    assert value(NAME, f"least_common_multiple(numbers={numbers})") == lcm(*numbers)


@given(st.integers(2, 10**7))
def test_prime_factors_are_primes_with_that_product(number: int) -> None:
    factors = value(NAME, f"prime_factors(number={number})")
    assert prod(factors) == number
    assert factors == sorted(factors)
    for factor in set(factors):
        assert value(NAME, f"prime_factors(number={factor})") == [factor]


@given(st.integers(0, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_binomial_coefficients(pair: tuple[int, int]) -> None:
    n, k = pair
    assert value(NAME, f"binomial_coefficient(n={n}, k={k})") == comb(n, k)


@given(st.integers(0, 10**12), st.integers(2, 36))
def test_bases_are_read_as_they_are_written(number: int, base: int) -> None:
    digits = value(NAME, f"convert_base(digits='{number}', from_base=10, to_base={base})")
    assert int(digits, base) == number


@given(SMALL.filter(bool), SMALL, SMALL)
def test_roots_of_a_quadratic_solve_it(a: int, b: int, c: int) -> None:
    for root in value(NAME, f"solve_quadratic(a={a}, b={b}, c={c})"):
        size = abs(a * root * root) + abs(b * root) + abs(c)
        assert abs(a * root * root + b * root + c) <= 1e-9 * max(size, 1)


@given(st.lists(st.lists(SMALL, min_size=3, max_size=3), min_size=3, max_size=3))
def test_a_solution_of_equations_solves_them(rows: list[list[int]]) -> None:
    constants = [sum(row) for row in rows]
    call = f"solve_linear_system(coefficients={rows}, constants={constants})"
    columns = [list(column) for column in zip(*rows, strict=True)]
    (a, b, c), (d, e, f), (g, h, i) = columns
    if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) == 0:
        assert refusal(NAME, call) == "The equations have no unique solution."
    else:
        assert value(NAME, call) == [1.0, 1.0, 1.0]


@given(st.lists(st.lists(SMALL, min_size=2, max_size=2), min_size=2, max_size=2))
def test_the_unit_matrix_changes_nothing(rows: list[list[int]]) -> None:
    assert value(NAME, f"matrix_product(left={rows}, right=[[1, 0], [0, 1]])") == rows


@given(st.lists(SMALL, min_size=2, max_size=20))
def test_quartiles(numbers: list[int]) -> None:
    expected = quantiles(numbers, n=4, method="inclusive")
    found = [value(NAME, f"percentile(numbers={numbers}, percent={p})") for p in (25, 50, 75)]
    assert found == pytest.approx(expected)


@given(st.lists(st.tuples(SMALL, SMALL), min_size=2, max_size=20, unique_by=lambda p: p[0]))
def test_fitted_lines(points: list[tuple[int, int]]) -> None:
    xs, ys = zip(*points, strict=True)
    line = value(NAME, f"fit_line(x={list(xs)}, y={list(ys)})")
    expected = linear_regression(xs, ys)
    assert isclose(line["slope"], expected.slope, abs_tol=1e-6)
    assert isclose(line["intercept"], expected.intercept, rel_tol=1e-6, abs_tol=1e-6)
