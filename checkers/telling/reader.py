"""Whether an answer tells the facts that the user asked to hear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checkers.answers import Date, Fact, Items, Number, Text, YesNo
from checkers.telling.dates import days, is_day
from checkers.telling.numbers import Mention, mentions, telling
from checkers.telling.polarity import says
from checkers.telling.words import Utterance

Span = tuple[int, int]


def untold(facts: Iterable[Fact], answer: str) -> tuple[Fact, ...]:
    """Return the facts that an answer does not tell."""
    read = _Reader(Utterance(answer))
    return tuple([fact for fact in facts if not read.tells(fact)])


class _Reader:
    def __init__(self, answer: Utterance) -> None:
        self._answer = answer
        self._numbers: list[Mention] | None = None

    def tells(self, fact: Fact) -> bool:
        match fact:
            case Number():
                return any(True for _ in self._number(fact))
            case Text():
                wordings = (fact.text, *fact.alternatives)
                return any(True for text in wordings for _ in self._answer.find(text))
            case Items():
                places = [[*self._item(item)] for item in fact.items]
                return _in_order(places) if fact.ordered else _apart(places)
            case YesNo():
                return says(fact, self._answer)
            case Date():
                return any(
                    is_day(day, fact.date) and not self._answer.turned_down(day.start)
                    for day in days(self._answer.text)
                )

    def _item(self, item: str | float) -> Iterator[Span]:
        return self._answer.find(item) if isinstance(item, str) else self._number(Number(item))

    def _number(self, fact: Number) -> Iterator[Span]:
        if self._numbers is None:
            self._numbers = mentions(self._answer)
        for mention in telling(fact, self._answer, self._numbers):
            yield mention.start, mention.end


def _in_order(places: Sequence[Sequence[Span]]) -> bool:
    """Tell whether one place each can be taken so that they follow one another."""
    reached = 0
    for spans in places:
        ends = [end for start, end in spans if start >= reached]
        if not ends:
            return False
        reached = min(ends)
    return True


def _apart(places: Sequence[Sequence[Span]]) -> bool:
    """Tell whether one place each can be taken so that none stands within another's.

    The longest choose first, so that what is part of another has to stand by itself.
    """
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
