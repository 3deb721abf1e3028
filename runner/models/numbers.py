"""Numbers as a user types them."""

from __future__ import annotations

from argparse import ArgumentTypeError

_MOST_DIGITS = 18


def positive(text: str) -> int:
    """Read a whole number above 0, of no more digits than anything here is counted in."""
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise ArgumentTypeError(f"{text!r:.40} is not a positive whole number")
    return int(text)


def index(text: str) -> int:
    """Read a whole number from 0, of no more digits than anything here is counted in."""
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise ArgumentTypeError(f"{text!r:.40} is not a whole number from 0")
    return int(text)


def port(text: str) -> int:
    """Read the number of a port."""
    if not text.isdecimal() or len(text) > len("65535") or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r:.40} is not a port, a number from 0 to 65535")
    return int(text)


def from_zero(text: str) -> float:
    """Read a finite number that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number from 0")
    return value


def above_zero(text: str) -> float:
    """Read a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number above 0")
    return value
