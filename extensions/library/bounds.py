"""Refusals that the functions of this package share: how large, long and many things may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from envs.errors import InvalidArgument


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number that is out of range, or none.

    Raises:
        InvalidArgument: It is not from low to high, both included.
    """
    if not low <= value <= high:
        raise InvalidArgument(f"{name} is {value}: give {low} to {high}.")


def whole(name: str, value: float, low: int, high: int) -> int:
    """Return a whole number of a range, however it is written: 5.0 is 5.

    Raises:
        InvalidArgument: It has a fraction, or is not from low to high, both included.
    """
    check_between(name, value, low, high)
    if value != int(value):
        raise InvalidArgument(f"{name} is {value}: give a whole number.")
    return int(value)


def check_numbers(name: str, values: Sequence[float], most: int = 1000) -> None:
    """Refuse an empty or long list, and a number that is no finite one of moderate size.

    Raises:
        InvalidArgument: See above.
    """
    check_count(name, values, 1, most)
    for value in values:
        if not math.isfinite(value) or abs(value) > 1e12:
            raise InvalidArgument(f"{name} has {value}: give numbers from -1e12 to 1e12.")


def check_count(name: str, values: Sequence[Any], least: int, most: int) -> None:
    """Refuse a text or list of the wrong length.

    Raises:
        InvalidArgument: Its length is not from least to most, both included.
    """
    if not least <= len(values) <= most:
        kind = "characters" if isinstance(values, str) else "members"
        raise InvalidArgument(f"{name} has {len(values)} {kind}: give {least} to {most}.")
