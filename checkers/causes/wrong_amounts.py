"""Classification of wrong numbers that would be right at another scale or in another unit."""

from __future__ import annotations

import re
from math import isclose

SCALE = "scale"
UNIT = "unit"

_FACTORS = (
    1000, 60, 3600, 24, 1440, 7, 12, 2.54, 30.48, 0.3048, 0.9144, 1.609344, 3.785411784, 4.54609,
    0.45359237, 28.349523125, 6.894757293, 14.503773773,
)  # fmt: skip
"""Conversion factors, such as 60 for minutes and 2.54 for inches."""
_PERCENT = re.compile(r"(-?\d{1,15}(?:\.\d{1,15})?)\s*%")
_ROUNDED = 0.005


def classify_wrong_amount(expected: object, got: object) -> str | None:
    """Return ``scale`` for a wrong factor of 100, and ``unit`` for a wrong unit.

    For other numbers, the function returns None. A string such as ``5%`` counts as the number 5.
    """
    if isinstance(got, str) and (percent := _PERCENT.fullmatch(got.strip())):
        got = float(percent[1])
    if not _is_number(expected) or not _is_number(got):
        return None
    one, other = float(expected), float(got)  # type: ignore[arg-type]
    if one == 0 or other == 0 or one == other:
        return None
    ratio = other / one
    if any(isclose(ratio, factor, rel_tol=1e-6) for factor in (100, 0.01)):
        return SCALE
    for factor in _FACTORS:
        tolerance = 1e-6 if isinstance(factor, int) else _ROUNDED
        for each in (factor, 1 / factor):
            is_rounded = other == round(one * each) and abs(each - 1) > 0.2
            if isclose(ratio, each, rel_tol=(1 + is_rounded) * tolerance):
                return UNIT
    degrees = ((other - 32) / 1.8, other * 1.8 + 32)
    return UNIT if any(isclose(one, each, rel_tol=_ROUNDED) for each in degrees) else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
