"""A calculator: arithmetic, statistics, unit conversion, roots and logarithms.

It holds no state. Integers stay exact. Floats are IEEE doubles, which are added from left to
right. The call sets the precision of a root or logarithm. These results are written as Python code,
such as ``Decimal('1.4142')`` and ``mpf('2.0')``, and do not depend on settings of the process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeAlias

from typing_extensions import TypedDict

from envs.backend import Backend, reads
from envs.errors import InvalidArgument

_MAX_DIGITS = 4300
_TOO_LARGE = 10**_MAX_DIGITS
_MAX_PRECISION = 1000

_METRES = {"km": 1000, "m": 1, "cm": 0.01, "mm": 0.001, "um": 1e-06, "nm": 1e-09}
_FACTORS = {
    ("cm", "in"): 0.393701,
    ("in", "cm"): 2.54,
    ("m", "ft"): 3.28084,
    ("ft", "m"): 0.3048,
    ("m", "yd"): 1.09361,
    ("yd", "m"): 0.9144,
    ("km", "miles"): 0.621371,
    ("miles", "km"): 1.60934,
    ("kg", "lb"): 2.20462,
    ("lb", "kg"): 0.453592,
}
_TO_FAHRENHEIT = ("celsius", "fahrenheit")
_TO_CELSIUS = ("fahrenheit", "celsius")

# For logarithms: bits per decimal digit, extra bits of pi, extra digits of the working precision.
_BITS_PER_DIGIT = 3.3219280948873626
_GUARD_BITS = 64
_GUARD_DIGITS = 30

Real: TypeAlias = Fraction | float
"""A rational number, or a float that is infinite or NaN."""

P = ParamSpec("P")


class MathConfig(TypedDict, total=False):
    """Initial config of the calculator; it has no fields."""


@dataclass(frozen=True)
class Multiprecision:
    """Result of a logarithm, stored as its text.

    Attributes:
        notation: The number as Python code of the mpmath library, such as ``mpf('2.0')``.
    """

    notation: str

    def __repr__(self) -> str:
        """Return the notation."""
        return self.notation

    def __float__(self) -> float:
        """Return the number. Raises TypeError if the number is complex."""
        if not self.notation.startswith("mpf("):
            raise TypeError(f"{self} is complex")
        return float(self.notation.removeprefix("mpf('").removesuffix("')"))


def _bounded(function: Callable[P, dict[str, Any]]) -> Callable[P, dict[str, Any]]:
    """Refuse a call if a float overflows, or if the result is an integer with too many digits."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        try:
            answer = function(*args, **kwargs)
        except OverflowError:
            raise InvalidArgument(
                "A number gets too large for a float: keep results below 1.8e308."
            ) from None
        if isinstance(answer["result"], int) and abs(answer["result"]) >= _TOO_LARGE:
            raise InvalidArgument(_too_long(), "size")
        return answer

    return run


class MathAPI(Backend):
    """A calculator."""

    Config = MathConfig

    @reads
    def logarithm(self, value: float, base: float, precision: int) -> dict[str, Multiprecision]:
        """Take the logarithm of a number to a base.

        Args:
            value: The number.
            base: The base, any number but 1.
            precision: How many digits to calculate with, at most 1000.

        Returns:
            result: The logarithm as mpf('...'), for a negative value or base as mpc(...).

        Examples:
            >>> logarithm(value=8, base=2, precision=10)
            {'result': mpf('3.000000000029')}
            >>> logarithm(value=8, base=1, precision=10)
            {"error": "There is no logarithm to the base 1: give another base."}
        """
        digits = int(precision)
        if digits > _MAX_PRECISION:
            raise InvalidArgument(f"Precision {digits} is too high: give {_MAX_PRECISION} or less.")
        bits = max(1, round((max(digits, -1) + 1) * _BITS_PER_DIGIT))
        dividend = _natural_logarithm(_exact(value, bits), bits)
        divisor = _natural_logarithm(_exact(base, bits), bits)
        if divisor == (0, 0):
            raise InvalidArgument("There is no logarithm to the base 1: give another base.", "base")
        real, imaginary = (_notation(part, bits) for part in _quotient(dividend, divisor, bits))
        if dividend[1] or divisor[1]:
            return {"result": Multiprecision(f"mpc(real='{real}', imag='{imaginary}')")}
        return {"result": Multiprecision(f"mpf('{real}')")}

    @reads
    @_bounded
    def mean(self, numbers: list[float]) -> dict[str, Any]:
        """Take the arithmetic mean of numbers.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: The mean.

        Examples:
            >>> mean(numbers=[1, 2, 6])
            {"result": 3.0}
            >>> mean(numbers=[])
            {"error": "There are no numbers: give a list of at least one."}
        """
        _check_any(numbers)
        return {"result": _sum(numbers) / len(numbers)}

    @reads
    @_bounded
    def standard_deviation(self, numbers: list[float]) -> dict[str, Any]:
        """Take the standard deviation of numbers that are the whole population, not a sample.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: The standard deviation.

        Examples:
            >>> standard_deviation(numbers=[1, 3])
            {"result": 1.0}
            >>> standard_deviation(numbers=[])
            {"error": "There are no numbers: give a list of at least one."}
        """
        _check_any(numbers)
        mean = _sum(numbers) / len(numbers)
        variance = _sum((number - mean) ** 2 for number in numbers) / len(numbers)
        return {"result": math.sqrt(variance)}

    @reads
    @_bounded
    def si_unit_conversion(self, value: float, unit_in: str, unit_out: str) -> dict[str, Any]:
        """Convert a length between metric units.

        Args:
            value: The length.
            unit_in: Its unit: km, m, cm, mm, um or nm.
            unit_out: The unit to convert to, one of the same.

        Returns:
            result: The length in the new unit.

        Examples:
            >>> si_unit_conversion(value=2, unit_in='km', unit_out='m')
            {"result": 2000.0}
            >>> si_unit_conversion(value=2, unit_in='km', unit_out='mile')
            {"error": "There is no unit 'mile': give km, m, cm, mm, um, nm."}
        """
        _check_number(value)
        for unit in (unit_in, unit_out):
            if unit not in _METRES:
                raise InvalidArgument(f"There is no unit {unit!r}: give {', '.join(_METRES)}.")
        return {"result": (value * _METRES[unit_in]) * (1 / _METRES[unit_out])}

    @reads
    @_bounded
    def imperial_si_conversion(self, value: float, unit_in: str, unit_out: str) -> dict[str, Any]:
        """Convert a quantity between an imperial and a metric unit.

        Args:
            value: The quantity.
            unit_in: Its unit.
            unit_out: The unit to convert to. The pairs are cm and in, m and ft, m and yd, km and
                miles, kg and lb, celsius and fahrenheit, each in both directions.

        Returns:
            result: The quantity in the new unit.

        Examples:
            >>> imperial_si_conversion(value=1, unit_in='in', unit_out='cm')
            {"result": 2.54}
            >>> imperial_si_conversion(value=1, unit_in='in', unit_out='kg')
            {"error": "Cannot convert from 'in' to 'kg'. There are: cm to in, in to cm, m to ...
        """
        _check_number(value)
        units = (unit_in, unit_out)
        if unit_in == unit_out:
            return {"result": value}
        if units == _TO_FAHRENHEIT:
            return {"result": (value * 1.8) + 32}
        if units == _TO_CELSIUS:
            return {"result": (value - 32) * (5 / 9)}
        if units not in _FACTORS:
            raise InvalidArgument(_no_conversion(*units), "conversion")
        return {"result": value * _FACTORS[units]}

    @reads
    @_bounded
    def add(self, a: float, b: float) -> dict[str, Any]:
        """Add two numbers.

        Args:
            a: One number.
            b: The other number.

        Returns:
            result: a + b.

        Examples:
            >>> add(a=1, b=2.5)
            {"result": 3.5}
        """
        return {"result": a + b}

    @reads
    @_bounded
    def subtract(self, a: float, b: float) -> dict[str, Any]:
        """Subtract one number from another.

        Args:
            a: The number to subtract from.
            b: The number to subtract.

        Returns:
            result: a - b.

        Examples:
            >>> subtract(a=1, b=2.5)
            {"result": -1.5}
        """
        return {"result": a - b}

    @reads
    @_bounded
    def multiply(self, a: float, b: float) -> dict[str, Any]:
        """Multiply two numbers.

        Args:
            a: One number.
            b: The other number.

        Returns:
            result: a * b.

        Examples:
            >>> multiply(a=2, b=2.5)
            {"result": 5.0}
        """
        _check_number(a)
        _check_number(b)
        return {"result": a * b}

    @reads
    @_bounded
    def divide(self, a: float, b: float) -> dict[str, Any]:
        """Divide one number by another.

        Args:
            a: The number to divide.
            b: The number to divide by, not 0.

        Returns:
            result: a / b.

        Examples:
            >>> divide(a=1, b=4)
            {"result": 0.25}
            >>> divide(a=1, b=0)
            {"error": "Cannot divide 1 by zero: give another b."}
        """
        if b == 0:
            raise InvalidArgument(f"Cannot divide {a!r} by zero: give another b.")
        return {"result": a / b}

    @reads
    @_bounded
    def power(self, base: float, exponent: float) -> dict[str, Any]:
        """Raise a number to a power.

        Args:
            base: The number.
            exponent: The power, not negative if the number is 0.

        Returns:
            result: base ** exponent, complex for a negative base and a fractional exponent. Two
            integers give an exact integer, of at most 4300 digits.

        Examples:
            >>> power(base=2, exponent=10)
            {"result": 1024}
            >>> power(base=0, exponent=-1)
            {"error": "Cannot raise 0 to the negative power -1."}
        """
        if base == 0 and exponent < 0:
            raise InvalidArgument(
                f"Cannot raise 0 to the negative power {exponent}.",
                ZeroDivisionError("0.0 cannot be raised to a negative power"),
            )
        _check_growth(base, exponent)
        return {"result": base**exponent}

    @reads
    def square_root(self, number: float, precision: int) -> dict[str, Decimal]:
        """Take the square root of a number.

        Args:
            number: The number, 0 or more.
            precision: How many significant digits to give, from 1 to 1000.

        Returns:
            result: The root as Decimal('...').

        Examples:
            >>> square_root(number=2, precision=5)
            {'result': Decimal('1.4142')}
            >>> square_root(number=-1, precision=5)
            {"error": "There is no square root of -1: give 0 or more."}
        """
        if number < 0:
            raise InvalidArgument(
                f"There is no square root of {number}: give 0 or more.", "negative"
            )
        if not 1 <= precision <= _MAX_PRECISION:
            raise InvalidArgument(
                f"Precision {precision} is out of range: give 1 to {_MAX_PRECISION}.",
                ValueError("valid range for prec is [1, MAX_PREC]"),
            )
        context = Context(prec=precision, rounding=ROUND_HALF_EVEN)
        return {"result": context.sqrt(Decimal(number))}

    @reads
    def absolute_value(self, number: float) -> dict[str, Any]:
        """Take the absolute value of a number.

        Args:
            number: The number.

        Returns:
            result: The number without its sign.

        Examples:
            >>> absolute_value(number=-3)
            {"result": 3}
        """
        return {"result": abs(number)}

    @reads
    @_bounded
    def round_number(self, number: float, decimal_places: int | None = 0) -> dict[str, Any]:
        """Round a number; one half way between two neighbours goes to the even one.

        Args:
            number: The number.
            decimal_places: Places after the point to keep; negative ones round to tens, hundreds
                and so on, null rounds to an integer.

        Returns:
            result: The rounded number. A float stays one unless decimal_places is null.

        Examples:
            >>> round_number(number=2.718, decimal_places=1)
            {"result": 2.7}
        """
        if isinstance(number, int) and decimal_places is not None:
            # Python would calculate 10 to this power, even if the power is huge.
            decimal_places = max(decimal_places, -2 * _MAX_DIGITS)
        if decimal_places is None and isinstance(number, float) and not math.isfinite(number):
            raise InvalidArgument(f"{number} cannot be rounded to an integer.")
        return {"result": round(number, decimal_places)}

    @reads
    @_bounded
    def percentage(self, part: float, whole: float) -> dict[str, Any]:
        """Tell how many percent of a whole a part is.

        Args:
            part: The part.
            whole: The whole, not 0.

        Returns:
            result: The percentage.

        Examples:
            >>> percentage(part=1, whole=8)
            {"result": 12.5}
            >>> percentage(part=1, whole=0)
            {"error": "Cannot compute a percentage of 0. Give another value for whole."}
        """
        if whole == 0:
            raise InvalidArgument("Cannot compute a percentage of 0. Give another value for whole.")
        return {"result": (part / whole) * 100}

    @reads
    def min_value(self, numbers: list[float]) -> dict[str, Any]:
        """Find the smallest of several numbers.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: The smallest.

        Examples:
            >>> min_value(numbers=[3, 1, 2])
            {"result": 1}
            >>> min_value(numbers=[])
            {"error": "There are no numbers: give a list of at least one."}
        """
        _check_any(numbers)
        return {"result": min(numbers)}

    @reads
    def max_value(self, numbers: list[float]) -> dict[str, Any]:
        """Find the largest of several numbers.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: The largest.

        Examples:
            >>> max_value(numbers=[3, 1, 2])
            {"result": 3}
            >>> max_value(numbers=[])
            {"error": "There are no numbers: give a list of at least one."}
        """
        _check_any(numbers)
        return {"result": max(numbers)}

    @reads
    @_bounded
    def sum_values(self, numbers: list[float]) -> dict[str, Any]:
        """Add up numbers.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: Their sum.

        Examples:
            >>> sum_values(numbers=[3, 1, 2])
            {"result": 6}
            >>> sum_values(numbers=[])
            {"error": "There are no numbers: give a list of at least one."}
        """
        _check_any(numbers)
        return {"result": _sum(numbers)}


def _check_any(numbers: object) -> None:
    if not numbers:
        raise InvalidArgument("There are no numbers: give a list of at least one.", "none")


def _check_number(value: object) -> None:
    if not isinstance(value, (int, float)):
        raise InvalidArgument(f"{value!r} is not a number.", "no number")


def _check_growth(base: object, exponent: object) -> None:
    """Refuse an integer power with too many digits, without calculating the power."""
    if not (isinstance(base, int) and isinstance(exponent, int)):
        return
    if (base.bit_length() - 1) * exponent > _TOO_LARGE.bit_length():
        raise InvalidArgument(_too_long(), "size")


def _too_long() -> str:
    return f"The result has more than {_MAX_DIGITS} digits: give smaller numbers."


def _no_conversion(unit_in: object, unit_out: object) -> str:
    pairs = [*_FACTORS, _TO_FAHRENHEIT, _TO_CELSIUS]
    known = ", ".join(f"{source} to {target}" for source, target in pairs)
    return f"Cannot convert from {unit_in!r} to {unit_out!r}. There are: {known}."


def _sum(numbers: Iterable[float]) -> float:
    """Add numbers as ``sum`` did before Python 3.12."""
    total: float = 0
    for number in numbers:
        total += number
    return total


def _exact(number: Any, bits: int) -> Real:
    """Return a number exactly; a number in a string is rounded to ``bits`` bits."""
    try:
        if isinstance(number, str):
            return _rounded(_spelled(number), bits)
        if isinstance(number, float) and not math.isfinite(number):
            return number
        return Fraction(number)
    except (ArithmeticError, TypeError):
        # The message is mpmath's message.
        raise TypeError(f"cannot create mpf from {number!r}") from None


def _spelled(text: str) -> Real:
    if len(text) > _MAX_DIGITS:
        raise InvalidArgument(f"A number of {len(text)} characters is too long.")
    numerator, slash, denominator = text.partition("/")
    if slash:
        return Fraction(int(numerator), int(denominator))
    number = Decimal(text)
    if not number.is_finite():
        return float(number)
    if abs(number.adjusted()) > _MAX_DIGITS:
        raise InvalidArgument(f"{text} is out of range: stay within 1e{_MAX_DIGITS}.")
    return Fraction(number)


def _rounded(number: Real, bits: int, to_integer: Callable[[Fraction], int] = round) -> Real:
    """Round to ``bits`` significant bits."""
    if not number:
        return Fraction(0)
    if isinstance(number, float) and not math.isfinite(number):
        return number
    numerator, denominator = number.as_integer_ratio()
    shift = bits - numerator.bit_length() + denominator.bit_length()
    scaled = _shifted(number, shift)
    if abs(scaled.numerator) >= scaled.denominator << bits:
        shift -= 1
        scaled = _shifted(number, shift)
    return _shifted(to_integer(scaled), -shift)


def _shifted(number: Real, places: int) -> Fraction:
    """Multiply by 2 to the power ``places``; bit shifts are faster than a product of fractions."""
    numerator, denominator = number.as_integer_ratio()
    if places < 0:
        return Fraction(numerator, denominator << -places)
    return Fraction(numerator << places, denominator)


@lru_cache(maxsize=64)
def _natural_logarithm(number: Real, bits: int) -> tuple[Real, Real]:
    """Return the real and the imaginary part, each rounded to ``bits`` bits."""
    imaginary = _rounded(_pi(bits), bits) if number < 0 else Fraction(0)
    if number == 0:
        return -math.inf, imaginary
    if isinstance(number, float):
        return abs(number), imaginary
    digits = bits // 3 + _GUARD_DIGITS
    # The logarithm of a number close to 1 loses up to half of the digits.
    context = Context(prec=2 * digits, rounding=ROUND_HALF_EVEN)
    size = context.divide(Decimal(abs(number.numerator)), Decimal(number.denominator))
    context.prec = digits
    return _rounded(Fraction(context.ln(size)), bits), imaginary


def _pi(bits: int) -> Fraction:
    """Return pi with more than ``bits`` bits, by Machin's formula."""
    one = 1 << bits + _GUARD_BITS
    return Fraction(16 * _inverse_tangent(5, one) - 4 * _inverse_tangent(239, one), one)


def _inverse_tangent(inverse: int, one: int) -> int:
    """Return ``arctan(1 / inverse) * one`` as an integer; the last digits are inexact."""
    total, power, divisor = 0, one // inverse, 1
    while power:
        total += power // divisor if divisor % 4 == 1 else -(power // divisor)
        power //= inverse * inverse
        divisor += 2
    return total


def _quotient(
    dividend: tuple[Real, Real], divisor: tuple[Real, Real], bits: int
) -> tuple[Real, Real]:
    """Divide complex numbers with the same rounding steps as mpmath."""
    (a, b), (c, d) = dividend, divisor
    if not d:
        return _rounded(a / c, bits), _rounded(b / c, bits)
    size = _rounded(c * c + d * d, bits + 10, math.trunc)
    real, imaginary = a * c + b * d, b * c - a * d
    if b:
        real = _rounded(real, bits + 10, math.trunc)
        imaginary = _rounded(imaginary, bits + 10, math.trunc)
    return _rounded(real / size, bits), _rounded(imaginary / size, bits)


def _notation(number: Real, bits: int) -> str:
    """Write a number as mpmath does at a working precision of ``bits`` bits."""
    if isinstance(number, float):
        return "nan" if math.isnan(number) else f"{number:+}"
    precision = max(1, round(bits / _BITS_PER_DIGIT - 1))
    digits = 17 if precision == 15 else precision + 3
    context = Context(prec=digits, rounding=ROUND_HALF_UP)
    shown = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    plain = min(-(digits // 3), -5) < shown.adjusted() < digits
    mantissa, mark, exponent = f"{shown:{'f' if plain else 'e'}}".partition("e")
    whole, _, decimals = mantissa.partition(".")
    return f"{whole}.{decimals.rstrip('0') or '0'}{mark}{exponent}"
