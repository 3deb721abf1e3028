"""The calculator: exact results, refusals, numbers with a precision, bounds, config check."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.backends.math_api import MathAPI, Multiprecision
from envs.calls import Call, parse_call
from envs.errors import InvalidArgument
from envs.results import Result
from envs.session import Session

HUGE = 10**400
"""Too large for a float, small enough to be written in a call."""


def call(name: str, *args: Any) -> Result:
    return Session.load(["MathAPI"], {}, checks_arguments=False).call(Call(name, args))


def text(name: str, *args: Any) -> str:
    result = call(name, *args)
    assert result.error is None
    assert not result.changed
    return result.text


def refuse(message: str, name: str, *args: Any) -> None:
    result = call(name, *args)
    assert type(result.error) is InvalidArgument
    assert message in result.error.message


def number(name: str, *args: Any) -> str:
    """Return what stands between the quotes of a result such as ``mpf('2.0')``."""
    return text(name, *args).split("'")[3]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("mean([1, 2])", "1.5"),
        ("mean([37])", "37.0"),
        ("mean((1, 2))", "1.5"),
        ("mean([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])", "0.09999999999999999"),
        (f"mean([{HUGE}, -{HUGE}])", "0.0"),
        ("mean([1e308, 1e308])", "Infinity"),
        ("standard_deviation([100, 95, 85, 90, 88, 92])", "4.85340659285368"),
        ("standard_deviation([5])", "0.0"),
        ("si_unit_conversion(1, 'm', 'nm')", "999999999.9999999"),
        ("si_unit_conversion(5, 'm', 'm')", "5.0"),
        ("si_unit_conversion(2.5, 'km', 'cm')", "250000.0"),
        ("si_unit_conversion(1e308, 'km', 'nm')", "Infinity"),
        ("imperial_si_conversion(5, 'miles', 'km')", "8.0467"),
        ("imperial_si_conversion(3, 'lb', 'kg')", "1.360776"),
        ("imperial_si_conversion(10, 'celsius', 'fahrenheit')", "50.0"),
        ("imperial_si_conversion(100.5, 'fahrenheit', 'celsius')", "38.05555555555556"),
        ("imperial_si_conversion(5, 'furlong', 'furlong')", "5"),
        ("imperial_si_conversion(True, None, None)", "true"),
        ("add(1, 2)", "3"),
        ("add(0.1, 0.2)", "0.30000000000000004"),
        ("add('a', 'b')", '"ab"'),
        ("add([1], [2])", "[1, 2]"),
        ("subtract(1, 2.5)", "-1.5"),
        ("multiply(True, 3)", "3"),
        ("multiply(0.1, 3)", "0.30000000000000004"),
        ("multiply(1e308, 10)", "Infinity"),
        ("divide(6, 3)", "2.0"),
        (f"divide({HUGE}, {HUGE})", "1.0"),
        ("power(2, 3)", "8"),
        ("power(2, -1)", "0.5"),
        ("power(0, 0)", "1"),
        ("power(1, 1000000000000)", "1"),
        ("power(-1, 1000000000001)", "-1"),
        ("power(1e200, -2)", "0.0"),
        ("absolute_value(-5)", "5"),
        ("absolute_value(-2.5)", "2.5"),
        ("round_number(2.5)", "2.0"),
        ("round_number(3.5)", "4.0"),
        ("round_number(2.675, 2)", "2.67"),
        ("round_number(5, 2)", "5"),
        ("round_number(1250, -2)", "1200"),
        ("round_number(2.5, None)", "2"),
        (f"round_number({HUGE}, None)", str(HUGE)),
        (f"round_number(2.5, {HUGE})", "2.5"),
        (f"round_number(5, -{HUGE})", "0"),
        (f"round_number({HUGE}, -400)", str(HUGE)),
        ("percentage(7, 100)", "7.000000000000001"),
        ("percentage(1, 3)", "33.33333333333333"),
        ("min_value([3, 1.0, 1])", "1.0"),
        ("min_value(['b', 'a'])", '"a"'),
        ("max_value([1.0, 1])", "1.0"),
        ("max_value((1, 2))", "2"),
        ("sum_values([1, 2])", "3"),
        ("sum_values([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])", "0.9999999999999999"),
        ("sum_values({1: 2, 3: 4})", "4"),
    ],
)
def test_results(expression, result):
    live = Session.load(["MathAPI"], {}, checks_arguments=False)
    assert live.call(parse_call(expression)).text == f'{{"result": {result}}}'


def test_a_complex_power():
    assert text("power", -8, 1 / 3) == "{'result': (1.0000000000000002+1.7320508075688772j)}"


def test_numbers_that_are_none():
    assert text("add", math.inf, 1) == '{"result": Infinity}'
    assert text("subtract", math.inf, math.inf) == '{"result": NaN}'
    assert text("standard_deviation", [math.inf, 1]) == '{"result": NaN}'


@pytest.mark.parametrize(
    "name", ["mean", "standard_deviation", "min_value", "max_value", "sum_values"]
)
@pytest.mark.parametrize("numbers", [[], 0, None, ""])
def test_there_must_be_numbers(name, numbers):
    refuse("give a list of at least one", name, numbers)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("mean", ("abc",)),
        ("mean", (5,)),
        ("standard_deviation", ([1, None],)),
        ("sum_values", (["a"],)),
        ("sum_values", ([[1]],)),
        ("min_value", (5,)),
        ("max_value", ([1, "a"],)),
        ("add", ("a", 1)),
        ("subtract", ("a", "b")),
        ("multiply", ("a", 3)),
        ("divide", (1, "0")),
        ("power", ("a", 2)),
        ("percentage", (None, 2)),
        ("absolute_value", ("a",)),
        ("round_number", (2.5, 1.0)),
        ("round_number", ("5", 1)),
        ("square_root", ("4", 5)),
        ("square_root", (2, 5.0)),
        ("square_root", (2, None)),
        ("si_unit_conversion", ("5", "m", "km")),
        ("imperial_si_conversion", ("5", "xx", "xx")),
        ("logarithm", ("abc", 2, 5)),
        ("logarithm", ("1/0", 2, 5)),
        ("logarithm", ([8], 2, 5)),
        ("logarithm", (8, 2, None)),
        ("logarithm", (8, 2, "5.5")),
        ("logarithm", (8, 2, math.inf)),
    ],
)
def test_what_is_no_number(name, args):
    assert type(call(name, *args).error) is InvalidArgument


@pytest.mark.parametrize(
    ("args", "advice"),
    [((5, "ft", "m"), "no unit 'ft': give km, m"), ((5, "m", "M"), "no unit 'M': give km, m")],
)
def test_an_unknown_metric_unit(args, advice):
    refuse(advice, "si_unit_conversion", *args)


def test_an_unknown_conversion():
    advice = "Cannot convert from 'in' to 'ft'. There are: cm to in, in to cm"
    refuse(advice, "imperial_si_conversion", 5, "in", "ft")


@pytest.mark.parametrize("zero", [0, 0.0, False])
def test_division_by_zero(zero):
    refuse("Cannot divide 'a' by zero", "divide", "a", zero)
    refuse("Cannot compute a percentage of 0", "percentage", 3, zero)


@pytest.mark.parametrize(("base", "exponent"), [(0, -1), (0.0, -2.5), (False, -1)])
def test_zero_to_a_negative_power(base, exponent):
    refuse(f"Cannot raise 0 to the negative power {exponent}.", "power", base, exponent)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("power", (10.0, 400)),
        ("power", (HUGE, 0.5)),
        ("power", (-1e300, 1.5)),
        ("standard_deviation", ([1e200, -1e200],)),
        ("mean", ([HUGE],)),
        ("sum_values", ([HUGE, 0.5],)),
        ("divide", (HUGE, 3)),
        ("percentage", (HUGE, 3)),
        ("add", (HUGE, 1.5)),
        ("subtract", (1.5, HUGE)),
        ("multiply", (HUGE, 1.5)),
        ("si_unit_conversion", (HUGE, "m", "cm")),
        ("imperial_si_conversion", (HUGE, "fahrenheit", "celsius")),
        ("round_number", (1.7e308, -308)),
    ],
)
def test_floats_that_overflow(name, args):
    refuse("keep results below 1.8e308", name, *args)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_what_has_no_nearest_integer(value):
    refuse(f"{value} cannot be rounded to an integer", "round_number", value, None)


def test_the_longest_integer():
    longest = 10**4300 - 1
    assert text("power", 10, 4299) == f'{{"result": {10**4299}}}'
    assert text("add", longest, 0) == f'{{"result": {longest}}}'


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("power", (10, 4300)),
        ("power", (-2, 10**15)),
        ("power", (10**30, 10**30)),
        ("add", (10**4300 - 1, 1)),
        ("subtract", (1 - 10**4300, 1)),
        ("multiply", (10**4299, 10)),
        ("sum_values", ([10**4299] * 10,)),
    ],
)
def test_integers_that_are_too_long(name, args):
    refuse("The result has more than 4300 digits", name, *args)


@pytest.mark.parametrize(
    ("args", "root"),
    [
        ((16, 5), "4"),
        ((2, 5), "1.4142"),
        ((2.0, 10), "1.414213562"),
        ((2.25, 9), "1.5"),
        ((0.1, 20), "0.31622776601683794198"),
        ((10**30, 5), "1.0000E+15"),
        ((1e10, 3), "1.00E+5"),
        ((10**400, 5), "1.0000E+200"),
        ((-0.0, 5), "-0"),
        ((math.nan, 5), "NaN"),
        ((2, True), "1"),
    ],
)
def test_square_root(args, root):
    assert text("square_root", *args) == f"{{'result': Decimal('{root}')}}"


def test_square_root_with_many_digits():
    assert len(number("square_root", 2, 1000)) == 1001


@pytest.mark.parametrize("precision", [0, -1, 1001, 10**300])
def test_square_root_with_an_impossible_precision(precision):
    refuse("is out of range: give 1 to 1000", "square_root", 2, precision)


def test_square_root_of_a_negative_number():
    refuse("no square root of -1: give 0 or more", "square_root", -1, 5)


@pytest.mark.parametrize(
    ("args", "logarithm"),
    [
        ((36.0, 6.0, 4), "2.0"),
        ((20, 10, 2), "1.3027"),
        ((630.0, 10, 5), "2.7993393"),
        ((980.0, 20, 10), "2.299121531134"),
        ((3287.0, 6.0, 4), "4.51947"),
        ((8, 2, 15), "3.0"),
        ((8, 2, 16), "2.999999999999999944"),
        ((7, 3, 1), "1.781"),
        ((8, 2, 0), "2.5"),
        ((8, 2, -5), "4.0"),
        ((8, 2, -(10**300)), "4.0"),
        ((8, 2, True), "3.0"),
        ((8, 2, 5.7), "3.0"),
        ((8, 2, "5"), "3.0"),
        ((123456789, 10, 7), "8.091514945"),
        ((0.5, 2, 9), "-1.0"),
        ((5, 0.5, 8), "-2.3219280951"),
        ((1e-20, 10, 4), "-20.0"),
        ((2, 1e300, 5), "0.001003433"),
        ((1.0000001, 10, 6), "4.34294449e-8"),
        ((10, 1.0000001, 6), "23025852.0"),
        ((10, 1.0000001, 2), "2.3003e+7"),
        ((10**400, 10, 5), "400.0"),
        ((1, 10, 5), "0.0"),
        ((True, 10, 5), "0.0"),
        ((0, 10, 5), "-inf"),
        ((-0.0, 0.5, 5), "+inf"),
        ((8, 0, 5), "0.0"),
        ((0, 0, 5), "nan"),
        ((math.inf, 2, 5), "+inf"),
        ((8, math.inf, 5), "0.0"),
        ((math.nan, 2, 5), "nan"),
        (("80", 2, 5), "6.3219299"),
        ((" 8_0 ", 2, 5), "6.3219299"),
        (("1/3", "3", 5), "-1.0"),
        (("1e5", 2, 5), "16.60965"),
        (("0.1", 10, 1), "-1.0"),
        (("inf", 2, 5), "+inf"),
        (("nan", 2, 5), "nan"),
    ],
)
def test_logarithm(args, logarithm):
    assert text("logarithm", *args) == f"{{'result': mpf('{logarithm}')}}"


@pytest.mark.parametrize(
    ("args", "real", "imaginary"),
    [
        ((-8, 2, 5), "3.0", "4.5323639"),
        ((8, -2, 5), "0.13926077", "-0.63118076"),
        ((-8, -2, 5), "1.0928402", "-0.42078733"),
        ((-1, 2, 5), "0.0", "4.5323639"),
        ((-1, -1, 5), "1.0", "0.0"),
        ((1, -2, 5), "0.0", "0.0"),
        ((0, -2, 5), "-inf", "+inf"),
        ((-8, 0, 5), "0.0", "0.0"),
        (("-inf", 2, 5), "+inf", "4.5323639"),
        ((17.4, -13.812334765155589, 3), "0.447388", "-0.5354"),
        ((7.44, -31.47, 17), "0.3180163451479744675", "-0.28966881963521255586"),
    ],
)
def test_complex_logarithm(args, real, imaginary):
    expected = f"{{'result': mpc(real='{real}', imag='{imaginary}')}}"
    assert text("logarithm", *args) == expected


@pytest.mark.parametrize("value", [5, 1, 0, -3, math.nan, math.inf])
@pytest.mark.parametrize("base", [1, 1.0, "1", "1.0000001"])
def test_there_is_no_logarithm_to_the_base_1(value, base):
    refuse("no logarithm to the base 1", "logarithm", value, base, 3)


@pytest.mark.parametrize("precision", [1001, 10**300, "1001"])
def test_logarithm_with_an_impossible_precision(precision):
    refuse("is too high: give 1000 or less", "logarithm", 8, 2, precision)


@pytest.mark.parametrize("value", ["1e4301", "1e-999999999", "1" * 4301, "0/" + "1" * 5000])
def test_logarithm_of_a_text_that_is_too_long(value):
    assert type(call("logarithm", value, 2, 5).error) is InvalidArgument


def test_logarithm_with_many_digits():
    assert number("logarithm", 100, 10, 1000) == "2.0"
    assert number("logarithm", -1, "2", 1000).startswith("0.0")
    assert len(number("logarithm", 10**1200, 3, 1000)) > 1000


def test_logarithms_are_values():
    first = MathAPI.load({}).logarithm(8, 2, 5)["result"]
    assert first == MathAPI.load({}).logarithm(27, 3, 5)["result"] == Multiprecision("mpf('3.0')")


def test_no_setting_of_the_process_is_read_or_changed():
    with decimal.localcontext(prec=3, rounding=decimal.ROUND_UP) as context:
        assert number("square_root", 2, 20) == "1.4142135623730950488"
        assert number("logarithm", 8, 2, 16) == "2.999999999999999944"
        assert (context.prec, context.rounding) == (3, decimal.ROUND_UP)


@given(st.floats(1e-300, 1e300), st.floats(1.5, 1e300), st.integers(5, 60))
def test_logarithms_are_as_precise_as_asked(value, base, precision):
    shown = Decimal(number("logarithm", value, base, precision))
    context = decimal.Context(prec=100)
    exact = context.divide(context.ln(Decimal(value)), context.ln(Decimal(base)))
    assert abs(shown - exact) <= abs(exact) * Decimal(10) ** (1 - precision)


numbers = st.integers(-(10**330), 10**330) | st.floats() | st.sampled_from([0, 1, -1, 10**300])
lists = st.lists(numbers, max_size=5)
small = st.integers(-30, 1100)
units = st.sampled_from(["km", "m", "nm", "cm", "ft", "celsius", "fahrenheit"])
calls = (
    st.tuples(st.just("logarithm"), numbers, numbers, small)
    | st.tuples(st.sampled_from(["mean", "standard_deviation", "sum_values", "max_value"]), lists)
    | st.tuples(
        st.sampled_from(["si_unit_conversion", "imperial_si_conversion"]), numbers, units, units
    )
    | st.tuples(
        st.sampled_from(["add", "subtract", "multiply", "divide", "power", "percentage"]),
        numbers,
        numbers,
    )
    | st.tuples(st.sampled_from(["square_root", "round_number"]), numbers, small)
    | st.tuples(st.sampled_from(["absolute_value", "round_number"]), numbers)
)


@given(calls)
def test_every_call_gives_a_text_and_the_same_one_again(made):
    result = call(*made)
    assert result.text == call(*made).text
    assert len(result.text) < 22_000


def test_there_is_no_state():
    live = Session.load(["MathAPI"], {"MathAPI": {"precision": 5}}, tolerant=True)
    assert live.snapshot().states == {"MathAPI": {}}


@pytest.mark.parametrize(
    ("config", "problems"),
    [
        ({}, []),
        ({"precision": 5}, ["$.MathAPI.precision: unknown key; remove it"]),
        ([], ["$.MathAPI: input should be a valid dictionary, got []"]),
    ],
)
def test_config_check(config, problems):
    assert [str(problem) for problem in MathAPI.check_config(config)] == problems
