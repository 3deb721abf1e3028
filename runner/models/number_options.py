"""Parsers of numbers in options."""

from __future__ import annotations

from argparse import ArgumentTypeError
from math import inf, nan

_MAX_DIGITS = 18


def positive(text: str) -> int:
    """Read an integer of at least 1."""
    if not text.isdecimal() or len(text) > _MAX_DIGITS or int(text) < 1:
        raise ArgumentTypeError(f"{text!r:.40} is not a whole number from 1 to 1e{_MAX_DIGITS}")
    return int(text)


def index(text: str) -> int:
    """Read an integer of at least 0."""
    if not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise ArgumentTypeError(f"{text!r:.40} is not a whole number of at least 0")
    return int(text)


def port(text: str) -> int:
    """Read a port number."""
    if not text.isdecimal() or len(text) > len("65535") or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r:.40} is not a port number from 0 to 65535")
    return int(text)


def from_zero(text: str) -> float:
    """Read a finite number of at least 0."""
    value = _read_float(text)
    if not 0 <= value < inf:
        raise ArgumentTypeError(f"{text!r} is not a number of at least 0")
    return value


def above_zero(text: str) -> float:
    """Read a finite number above 0."""
    value = _read_float(text)
    if not 0 < value < inf:
        raise ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def _read_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan
