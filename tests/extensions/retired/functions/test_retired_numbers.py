"""Numbers of BFCL's retired entries: known values, refusals, and hostile functions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.extensions.library.calling import refusal, value

NAME = "RetiredNumbers"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("add_binary_numbers(a='0', b='0')", "0"),
        ("add_binary_numbers(a='0011', b='1100')", "1111"),
        ("calc_binomial_probability(n=0, k=0, p=0)", 1.0),
        ("calc_binomial_probability(n=2.0, k=1, p=0.5)", 0.5),
        ("calculate_permutations(n=5, k=0)", 1),
        ("math_factorial(n=0)", 1),
        ("math_gcd(a=0, b=-4)", 4),
        ("math_lcm(a=0, b=5)", 0),
        ("get_prime_factors(number=97)", [97]),
        ("get_fibonacci_number(n=0)", 0),
        ("get_fibonacci_number(n=1)", 1),
        ("get_fibonacci_sequence(n=1)", [0]),
        ("get_fibonacci_sequence(n=8)", [0, 1, 1, 2, 3, 5, 8, 13]),
        ("sort_array(array=[2, 2.5, -1])", [-1, 2, 2.5]),
        ("mat_mul(matA=[[1, 2], [3, 4]], matB=[[5, 6], [7, 8]])", [[19, 22], [43, 50]]),
        ("calculate_cosine_similarity(vectorA=[1, 0], vectorB=[0, 1])", 0),
        ("calculate_mean(numbers=[0.1, 0.2])", pytest.approx(0.15)),
        ("calculate_standard_deviation(numbers=[5])", 0),
        ("linear_regression(x=[1, 2, 3], y=[4, 5, 6], point=10)", pytest.approx(13)),
        (
            "quadratic_roots(a=1, b=0, c=4)",
            [{"real": 0, "imaginary": 2}, {"real": 0, "imaginary": -2}],
        ),
        ("estimate_derivative(function='lambda y: 1/y', x=2)", -0.25),
        ("estimate_derivative(function='-(x**3) + x*x - +x', x=1)", -2),
        ("estimate_derivative(function='2**x', x=0)", pytest.approx(0.6931471805599453)),
        ("estimate_derivative(function='lambda x: 7', x=3)", 0),
    ],
)
def test_known_values(call: str, expected: Any) -> None:
    assert value(NAME, call) == expected


def test_how_a_function_is_written_makes_no_difference() -> None:
    texts = ["lambda x: 3*x**2 + 2*x - 1", "lambda z: -1 + 2*z + 3*z*z", "x*(3*x + 2) - 1"]
    found = [value(NAME, f"estimate_derivative(function={text!r}, x=0.3)") for text in texts]
    assert found == pytest.approx([3.8] * 3, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("add_binary_numbers(a='', b='1')", "The length of a must be"),
        ("add_binary_numbers(a='\uff11', b='1')", "only the digits 0 and 1"),
        ("calc_binomial_probability(n=2.5, k=1, p=0.5)", "n must be a whole number"),
        ("calc_binomial_probability(n=2, k=1, p=1.5)", "p must be from"),
        ("mat_mul(matA=[[1], [2, 3]], matB=[[1]])", "rows of different lengths"),
        (
            "calculate_cosine_similarity(vectorA=[1], vectorB=[1, 2])",
            "The length of vectorB must be",
        ),
        ("linear_regression(x=[1, 2], y=[1], point=0)", "The length of y must be"),
        ("quadratic_roots(a=1e-13, b=1, c=1)", "is not quadratic"),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)


@pytest.mark.parametrize(
    "function",
    [
        "__import__('os').system('true')",
        "lambda x: (lambda y: y)(x)",
        "lambda: 1",
        "lambda x, y: x",
        "lambda *x: 1",
        "y",
        "x if x else 1",
        "[x][0]",
        "x.real",
        "x @ x",
        "x // 2",
        "True",
        "'a'",
        "x ** 9999999999",
        "9 ** 9 ** 9 ** 9",
        "1 / (x - 1)",
        "(0 - x) ** 0.5",
        "(x - 2) ** x",
        "1e308 * 1e308 * x",
        "(" * 90 + "x" + ")" * 90 + ".y",
        "-" * 400 + "x" + "()",
        "x" * 501,
        "x = 1",
        "",
    ],
)
def test_anything_else_than_a_function_of_x_is_refused(function: str) -> None:
    assert "function" in refusal(NAME, f"estimate_derivative(function={function!r}, x=1)")
