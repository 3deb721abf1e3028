"""Shared argument checks of the library: ranges, lengths and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from envs.errors import InvalidArgument


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Refuse NaN and numbers out of range.

    Raises InvalidArgument if the value is not from low to high, both included.
    """
    if not low <= value <= high:
        raise InvalidArgument(f"{name} must be from {low} to {high}, not {value}.")


def whole(name: str, value: float, low: int, high: int) -> int:
    """Return a whole number as an int, such as 5 for 5.0.

    Raises:
        InvalidArgument: The value has a fraction, or is not from low to high, both included.
    """
    check_between(name, value, low, high)
    if value != int(value):
        raise InvalidArgument(f"{name} must be a whole number, not {value}.")
    return int(value)


def check_numbers(name: str, values: Sequence[float], most: int = 1000) -> None:
    """Refuse lists that are empty or too long, and numbers that are infinite, NaN or too large.

    Raises InvalidArgument if the list or a number is refused.
    """
    check_count(name, values, 1, most)
    for value in values:
        if not math.isfinite(value) or abs(value) > 1e12:
            raise InvalidArgument(f"{name} contains {value}; numbers must be from -1e12 to 1e12.")


def check_count(name: str, values: Sequence[Any], least: int, most: int) -> None:
    """Check the length of a text or list.

    Raises InvalidArgument if the length is below ``least`` or above ``most``.
    """
    if not least <= len(values) <= most:
        allowed = f"from {least} to {most}" if least < most else f"{most}"
        raise InvalidArgument(f"The length of {name} must be {allowed}, not {len(values)}.")
