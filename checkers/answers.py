"""What a turn tells the user: facts that the answer at its end should hold.

A fact is a number, a text, a list, a yes or no about something, or a date. Which kind it is shows
in the member that its JSON object has to have: ``number``, ``text``, ``items``, ``yes``, ``date``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_DECIMALS, LARGEST = 12, 10**15
"""Bounds of a number: decimals that a rounding may have, and its size."""
_LARGEST = 1e300
_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])", re.ASCII)


@dataclass(frozen=True)
class Number:
    """A number, told by its value.

    Attributes:
        number: Its exact value.
        unit: What it counts or is measured in: a unit or currency under any usual name (``USD``,
            ``gallon``, ``%``), or the thing that is counted (``messages``). An answer may leave it
            out; a number with another unit does not tell it.
        decimals: Fewest decimals that an answer may round it to; None where it may not round.
        tolerance: Largest difference that does no harm, in the unit.
    """

    number: int | float
    unit: str = ""
    decimals: int | None = None
    tolerance: int | float = 0

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ValueError: A member is out of its bounds.
        """
        if not abs(self.number) <= LARGEST:
            raise ValueError(f"number must be from -{LARGEST} to {LARGEST}")
        if self.decimals is not None and not 0 <= self.decimals <= MOST_DECIMALS:
            raise ValueError(f"decimals must be from 0 to {MOST_DECIMALS}")
        if not 0 <= self.tolerance < float("inf"):
            raise ValueError("tolerance must be a finite number that is not negative")

    def __str__(self) -> str:
        """Return the number with its unit."""
        return f"{self.number} {self.unit}".rstrip()


@dataclass(frozen=True)
class Text:
    """A text, told by its words; case, punctuation and marks of layout do not matter.

    Attributes:
        text: What stands in the result.
        alternatives: Other wordings that say the same.
    """

    text: str
    alternatives: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that there is something to tell.

        Raises:
            ValueError: A text is blank.
        """
        _check_texts((self.text, *self.alternatives), "text and alternatives")

    def __str__(self) -> str:
        """Return the text in quotes."""
        return repr(self.text)


@dataclass(frozen=True)
class Items:
    """A list, told by all that stands in it; an answer may hold more.

    Attributes:
        items: Texts and numbers, at least one.
        ordered: Whether they have to come in this order.
    """

    items: tuple[str | int | float, ...]
    ordered: bool = False

    def __post_init__(self) -> None:
        """Check that there is something to tell.

        Raises:
            ValueError: There is no item, or one is blank or not finite.
        """
        if not self.items:
            raise ValueError("items must not be empty; an empty list is told as a no")
        _check_texts([item for item in self.items if isinstance(item, str)], "items")
        if not all(isinstance(item, str) or abs(item) <= _LARGEST for item in self.items):
            raise ValueError("items must be finite")

    def __str__(self) -> str:
        """Return the items in a row."""
        return (" > " if self.ordered else ", ").join(map(str, self.items))


@dataclass(frozen=True)
class YesNo:
    """Whether something is so.

    Attributes:
        yes: Whether it is.
        about: Words of which any says that it is so: ``locked``, ``logged in``.
        opposite: Words of which any says that it is not so, but for those that only negate
            (``not locked``) and the usual opposites (``unlocked``).
        subject: What it is said of, where an answer may say it of several: ``rear left``.
    """

    yes: bool
    about: tuple[str, ...]
    opposite: tuple[str, ...] = ()
    subject: str = ""

    def __post_init__(self) -> None:
        """Check that there is something that it is about.

        Raises:
            ValueError: There is not, or a text is blank.
        """
        if not self.about:
            raise ValueError("about must name what is so, or is not")
        _check_texts((*self.about, *self.opposite), "about and opposite")

    def __str__(self) -> str:
        """Return what is so, or is not."""
        of = f"{self.subject}: " if self.subject else ""
        return f"{of}{'' if self.yes else 'not '}{self.about[0]}"


@dataclass(frozen=True)
class Date:
    """A day.

    Attributes:
        date: As ``2024-06-01``; an answer may leave out the year.
    """

    date: str

    def __post_init__(self) -> None:
        """Check the form.

        Raises:
            ValueError: It has another one.
        """
        if not _DATE.fullmatch(self.date):
            raise ValueError("date must have the form 2024-06-01")

    def __str__(self) -> str:
        """Return the day."""
        return self.date


Fact = Number | Text | Items | YesNo | Date
"""One thing that the user asked to hear."""


def _check_texts(texts: tuple[str, ...] | list[str], names: str) -> None:
    if not all(re.search(r"\w", text) for text in texts):
        raise ValueError(f"{names} must hold a letter or digit")
