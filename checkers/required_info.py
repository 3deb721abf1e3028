"""Required information of a turn: facts that the final answer should report.

A fact's JSON object has one of these fields, named after the fact's kind: ``number``, ``text``,
``items``, ``yes`` or ``date``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_DECIMALS, MAX_VALUE = 12, 10**15
"""Maximum number of decimals, and maximum absolute value, of a required number."""
_MAX_READ_VALUE = 1e300
_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Number:
    """Required number, compared by value."""

    number: int | float
    """Exact value."""
    unit: str = ""
    """Unit or currency such as ``USD``, ``gallon`` or ``%``, or a counted noun such as
    ``messages``. An answer may omit the unit, but must not use another unit.
    """
    decimals: int | None = None
    """Minimum number of decimals in a rounded answer; None if rounding is forbidden."""
    tolerance: int | float = 0
    """Maximum absolute difference."""

    def __post_init__(self) -> None:
        """Check the bounds. Raises ValueError if a field is out of bounds."""
        if not abs(self.number) <= MAX_VALUE:
            raise ValueError(f"`number` must be from -{MAX_VALUE} to {MAX_VALUE}")
        if self.decimals is not None and not 0 <= self.decimals <= MAX_DECIMALS:
            raise ValueError(f"`decimals` must be from 0 to {MAX_DECIMALS}")
        if not 0 <= self.tolerance < float("inf"):
            raise ValueError("`tolerance` must be finite and at least 0")

    def __str__(self) -> str:
        """Return the number with its unit."""
        return f"{self.number} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Text:
    """Required string, compared by words, regardless of case, punctuation and markup."""

    text: str
    """Text that the result contains."""
    alternatives: tuple[str, ...] = ()
    """Other wordings."""

    def __post_init__(self) -> None:
        """Check the strings. Raises ValueError if a string is blank."""
        _check_texts((self.text, *self.alternatives), "text and alternatives")

    def __str__(self) -> str:
        """Return the text in quotes."""
        return repr(self.text)


@dataclass(frozen=True, slots=True)
class Items:
    """Required list; an answer must contain all items, and may contain further items."""

    items: tuple[str | int | float, ...]
    """Strings or numbers that an answer must contain; at least one."""
    ordered: bool = False
    """Whether the answer must report the items in this order."""

    def __post_init__(self) -> None:
        """Check the items.

        Raises ValueError if there is no item, or an item is blank or not finite.
        """
        if not self.items:
            raise ValueError('`items` is empty; if there are no items, use `"yes": false`')
        _check_texts([item for item in self.items if isinstance(item, str)], "items")
        if not all(isinstance(item, str) or abs(item) <= _MAX_READ_VALUE for item in self.items):
            raise ValueError("items must be finite")

    def __str__(self) -> str:
        """Return the items in one line."""
        return (" > " if self.ordered else ", ").join(map(str, self.items))


@dataclass(frozen=True, slots=True)
class YesNo:
    """A statement that is true or false."""

    yes: bool
    """Whether the statement is true."""
    about: tuple[str, ...]
    """Phrases that state the fact, such as ``locked`` or ``logged in``."""
    opposite: tuple[str, ...] = ()
    """Phrases for the opposite of the statement. Negations (``not locked``) and common opposites
    (``unlocked``) are known without this field.
    """
    subject: str = ""
    """Subject of the statement, such as ``rear left``; needed if answers have several subjects."""

    def __post_init__(self) -> None:
        """Check the strings. Raises ValueError if ``about`` is empty, or a string is blank."""
        if not self.about:
            raise ValueError("`about` must not be empty")
        _check_texts((*self.about, *self.opposite), "about and opposite")

    def __str__(self) -> str:
        """Return the statement as text; ``not`` marks a statement that the answer must deny."""
        of = f"{self.subject}: " if self.subject else ""
        return f"{of}{'' if self.yes else 'not '}{self.about[0]}"


@dataclass(frozen=True, slots=True)
class Date:
    """A date such as ``2024-06-01``; an answer may omit the year."""

    date: str

    def __post_init__(self) -> None:
        """Check the format. Raises ValueError if the format is wrong."""
        if not _DATE.fullmatch(self.date):
            raise ValueError("`date` must have the form 2024-06-01")

    def __str__(self) -> str:
        """Return the date."""
        return self.date


Fact = Number | Text | Items | YesNo | Date


def _check_texts(texts: tuple[str, ...] | list[str], names: str) -> None:
    if not all(re.search(r"\w", text) for text in texts):
        raise ValueError(f"{names} must contain a letter or digit")
