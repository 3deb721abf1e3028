"""Reader of dates in an answer, such as "2024-06-01", "1 June", "June 1st 2024" or "06/01/2024"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from checkers.known_values import MONTHS, ORDINALS

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
_ORDINAL = f"(?P<ordinal>{'|'.join(sorted(ORDINALS, key=len, reverse=True))})"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_UNTIL = r"(?: ?(?:-|to|and|&|through) ?(?P<until>\d{1,2})(?:st|nd|rd|th)?)?"
_YEAR = r"(?:,? ?(?:of )?(?P<year>\d{4})\b)?"
_WRITTEN = (
    re.compile(rf"\b{_MONTH} (?:the )?{_DAY}\b{_UNTIL}\b{_YEAR}", re.IGNORECASE),
    re.compile(rf"(?<![\w.]){_DAY}{_UNTIL} ?(?:of )?{_MONTH}{_YEAR}", re.IGNORECASE),
)
_IN_WORDS = (
    re.compile(rf"\b{_ORDINAL} (?:of )?{_MONTH}{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} (?:the )?{_ORDINAL}\b{_YEAR}", re.IGNORECASE),
)


class DateMention(NamedTuple):
    """Part of a string that may be a date."""

    year: int | None
    month: int
    day: int
    start: int
    end: int
    certain: bool


def list_days(text: str) -> Iterator[DateMention]:
    """Yield the possible dates in a string; an ambiguous date ("06/01/2024") yields two dates."""
    for match in _YEAR_FIRST.finditer(text):
        yield DateMention(int(match[1]), int(match[3]), int(match[4]), *match.span(), certain=True)
    for match in _NUMERIC.finditer(text):
        century = 2000 if len(match[4]) == 2 else 0
        for month, day in ((match[1], match[3]), (match[3], match[1])):
            yield DateMention(
                century + int(match[4]), int(month), int(day), *match.span(), certain=True
            )
    for match in _SHORT.finditer(text):
        for month, day in (match.groups(), match.groups()[::-1]):
            yield DateMention(None, int(month), int(day), *match.span(), certain=False)
    for pattern in _WRITTEN:
        for match in pattern.finditer(text):
            yield from _read_written(match)
    for pattern in _IN_WORDS:
        for match in pattern.finditer(text):
            day = 1 + ORDINALS.index(match["ordinal"].lower())
            yield DateMention(*_read_month(match), day, *match.span(), certain=True)


def _read_written(match: re.Match[str]) -> Iterator[DateMention]:
    year, month = _read_month(match)
    for day in (match["day"], match["until"]):
        if day:
            yield DateMention(year, month, int(day), *match.span(), certain=True)


def _read_month(match: re.Match[str]) -> tuple[int | None, int]:
    year = int(match["year"]) if match["year"] else None
    return year, 1 + [name[:3] for name in MONTHS].index(match["month"][:3].lower())


def is_day(mention: DateMention, date: str) -> bool:
    """Tell whether a date in an answer matches a date in ISO format."""
    year, month, day = map(int, date.split("-"))
    return (mention.month, mention.day) == (month, day) and mention.year in (None, year)
