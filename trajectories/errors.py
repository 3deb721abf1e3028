"""Helpers for one-line errors in the user's input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from envs.errors import DataError as DataError
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    import difflib
else:
    # Only needed for errors.
    difflib = lazy_module("difflib")


def find_nearest(name: str, known: Iterable[str], *, least: float = 0.6) -> str | None:
    """Return the most similar known name; None if all similarities (0 to 1) are below ``least``."""
    close = difflib.get_close_matches(name, list(known), cutoff=least)
    # Two swapped letters are more likely than a surplus letter.
    return min(close, key=lambda other: sorted(other) != sorted(name), default=None)


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean NAME?" for an error message, or "" if no known name is similar."""
    close = find_nearest(name, known)
    return f"; did you mean {close}?" if close else ""


@contextmanager
def require_extra(extra: str, purpose: str) -> Iterator[None]:
    """Return a context that reports the missing extra if an import fails.

    Raises DataError if the extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        advice = f"{error.name} is missing: pip install 'turnwise[{extra}]'"
        raise DataError(purpose, advice) from None
