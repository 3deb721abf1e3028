"""Bad input of the user's: one line that says what is wrong, where, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from envs.lazy import lazily

if TYPE_CHECKING:
    import difflib
else:
    # Only a mistake needs it.
    difflib = lazily("difflib")


class DataError(Exception):
    """A data set, results file or option that cannot be used.

    Args:
        where: File with line, option or JSON path.
        message: What is wrong and how to mend it.
    """

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")


def nearest(name: str, known: Iterable[str], *, least: float = 0.6) -> str | None:
    """Return the known name nearest to one, None where none is near.

    Args:
        name: What the user typed.
        known: What there is.
        least: How like it the nearest must be, from 0 to 1.
    """
    close = difflib.get_close_matches(name, list(known), cutoff=least)
    # Two letters that changed places are likelier than one that is too many.
    return min(close, key=lambda other: sorted(other) != sorted(name), default=None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests the known name nearest to one, or nothing."""
    close = nearest(name, known)
    return f"; did you mean {close}?" if close else ""


@contextmanager
def needing(extra: str, purpose: str) -> Iterator[None]:
    """Say what to install where a module is loaded that needs an extra.

    Raises:
        DataError: It is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        advice = f"{error.name} is missing: pip install 'turnwise[{extra}]'"
        raise DataError(purpose, advice) from None
