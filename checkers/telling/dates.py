"""Dates in an answer: 2024-06-01, 1 June, June 1st 2024, 06/01/2024."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from checkers.telling.vocabulary import MONTHS

_YEAR_FIRST = re.compile(r"(?<![\w.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)(?!-\d)")
_NUMERIC = re.compile(r"(?<![\w./-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-])(?!\.\d)")
_SHORT = re.compile(r"(?<![\w./-])(\d{1,2})/(\d{1,2})(?![\w/-])(?!\.\d)")
_MONTH = (
    "(?P<month>"
    + "|".join(
        rf"{name[:3]}(?:{name[3:]})?" if name != "september" else r"sept?(?:ember)?"
        for name in MONTHS
    )
    + r")\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_UNTIL = r"(?: ?(?:-|to|and|&|through) ?(?P<until>\d{1,2})(?:st|nd|rd|th)?)?"
_YEAR = r"(?:,? ?(?:of )?(?P<year>\d{4})\b)?"
_WRITTEN = (
    re.compile(rf"\b{_MONTH} (?:the )?{_DAY}\b{_UNTIL}\b{_YEAR}", re.IGNORECASE),
    re.compile(rf"(?<![\w.]){_DAY}{_UNTIL} ?(?:of )?{_MONTH}{_YEAR}", re.IGNORECASE),
)


class DayMention(NamedTuple):
    """One place that may mean a day."""

    year: int | None
    month: int
    day: int
    start: int
    end: int
    certain: bool
    """Whether it can be nothing but a date."""


def days(text: str) -> Iterator[DayMention]:
    """Yield what may be a day; a numeric date that can be read in two ways comes twice."""
    for match in _YEAR_FIRST.finditer(text):
        yield DayMention(int(match[1]), int(match[3]), int(match[4]), *match.span(), certain=True)
    for match in _NUMERIC.finditer(text):
        century = 2000 if len(match[4]) == 2 else 0
        for month, day in ((match[1], match[3]), (match[3], match[1])):
            yield DayMention(
                century + int(match[4]), int(month), int(day), *match.span(), certain=True
            )
    for match in _SHORT.finditer(text):
        for month, day in (match.groups(), match.groups()[::-1]):
            yield DayMention(None, int(month), int(day), *match.span(), certain=False)
    for pattern in _WRITTEN:
        for match in pattern.finditer(text):
            yield from _written(match)


def _written(match: re.Match[str]) -> Iterator[DayMention]:
    year = int(match["year"]) if match["year"] else None
    month = 1 + [name[:3] for name in MONTHS].index(match["month"][:3].lower())
    for day in (match["day"], match["until"]):
        if day:
            yield DayMention(year, month, int(day), *match.span(), certain=True)


def is_day(mention: DayMention, date: str) -> bool:
    """Tell whether a place means the day of an ISO date."""
    year, month, day = map(int, date.split("-"))
    return (mention.month, mention.day) == (month, day) and mention.year in (None, year)
