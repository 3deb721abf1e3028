"""Reader that tests whether an answer reports required information."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from checkers.answer_text.dates import is_day, list_days
from checkers.answer_text.numbers import NumberMention, list_matching_mentions, list_mentions
from checkers.answer_text.polarity import is_confirmed
from checkers.answer_text.words import FinalAnswer
from checkers.required_info import Date, Fact, Items, Number, Text, YesNo

_TIME = re.compile(r"(\d{1,2}):(\d{2})")
_RANGE = re.compile(r"(?<![\w.,-])(\d{1,9}) ?(?:-|to|through) ?(\d{1,9})(?![\w-]|[.,]\d)")
Span = tuple[int, int]


def list_unreported(facts: Iterable[Fact], answer: str) -> tuple[Fact, ...]:
    """Return the facts that an answer does not report."""
    read = _AnswerReader(FinalAnswer(answer))
    return tuple([fact for fact in facts if not read.tells(fact)])


class _AnswerReader:
    def __init__(self, answer: FinalAnswer) -> None:
        self._answer = answer
        self._numbers: list[NumberMention] | None = None

    def tells(self, fact: Fact) -> bool:
        match fact:
            case Number():
                return any(True for _ in self._number(fact))
            case Text():
                wordings = (fact.text, *fact.alternatives)
                return any(True for text in wordings for _ in self._text(text))
            case Items():
                places = [[*self._item(item), *self._range(item, fact)] for item in fact.items]
                return _is_ordered(places) if fact.ordered else _is_disjoint(places)
            case YesNo():
                return is_confirmed(fact, self._answer)
            case Date():
                return any(
                    is_day(day, fact.date) and not self._answer.turned_down(day.start)
                    for day in list_days(self._answer.text)
                )

    def _item(self, item: str | float) -> Iterator[Span]:
        return self._text(item) if isinstance(item, str) else self._number(Number(item))

    def _text(self, text: str) -> Iterator[Span]:
        for wording in (text, *_list_clock_times(text)):
            yield from self._answer.find(wording)
        yield from self._answer.find_reordered(text)

    def _range(self, item: str | float, fact: Items) -> Iterator[Span]:
        """Yield each range that contains a number, such as "301 to 304" for the number 302."""
        for match in _RANGE.finditer(self._answer.text):
            numbers = range(int(match[1]), int(match[2]) + 1)
            if item in numbers and len(numbers) <= len(fact.items) and {*numbers} <= {*fact.items}:
                yield match.span()

    def _number(self, fact: Number) -> Iterator[Span]:
        if self._numbers is None:
            self._numbers = list_mentions(self._answer)
        for mention in list_matching_mentions(fact, self._answer, self._numbers):
            yield mention.start, mention.end


def _list_clock_times(text: str) -> Iterator[str]:
    """Yield the other formats of a time of day, such as "17.40", "5:40 pm" and "5:40 p.m."."""
    time = _TIME.fullmatch(text)
    if time is None or int(time[1]) > 23:
        return
    hour, minutes = int(time[1]), time[2]
    yield f"{hour}.{minutes}"
    half = "am" if hour < 12 else "pm"
    for mark in (f" {half}", half, f" {half[0]}.m."):
        for sign in ":.":
            yield f"{hour % 12 or 12}{sign}{minutes}{mark}"
        if minutes == "00":
            yield f"{hour % 12 or 12}{mark}"


def _is_ordered(places: Sequence[Sequence[Span]]) -> bool:
    """Tell whether the items occur in the given order; an item may have several positions."""
    reached = 0
    for spans in places:
        ends = [end for start, end in spans if start >= reached]
        if not ends:
            return False
        reached = min(ends)
    return True


def _is_disjoint(places: Sequence[Sequence[Span]]) -> bool:
    if not all(places):
        return False
    taken: set[Span] = set()
    for spans in sorted(places, key=lambda spans: spans[0][0] - spans[0][1]):
        free = [
            span
            for span in spans
            if not any(
                start <= span[0] and span[1] <= end and span != (start, end) for start, end in taken
            )
        ]
        if not free:
            return False
        taken.add(free[0])
    return True
