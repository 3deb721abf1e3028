"""Numbers written as words: three, twenty-four, a hundred and five, two thousand, half."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from checkers.telling.vocabulary import NUMBERS, SCALES, TENS
from checkers.telling.words import Utterance, Word

_PRONOUN_AFTER = frozenset(
    word
    for words in (
        "that this the which no another any every each last first next new old right wrong other",
        "some correct same either neither single",
    )
    for word in words.split()
)
"""Words after which ``one`` is no number."""


def counted(answer: Utterance) -> Iterator[tuple[Decimal, int, int]]:
    """Yield each number that words stand for, and the place where they do."""
    row: list[Word] = []
    for word in answer.words:
        if row and not (word.start - row[-1].end <= 1 and _goes_on(row, word)):
            yield from _read(answer, row)
            row = []
        if row or word.text in NUMBERS or word.text in ("hundred", "thousand", "half"):
            row.append(word)
    yield from _read(answer, row)


def _goes_on(row: list[Word], word: Word) -> bool:
    """Tell whether a word belongs to the number that a row of words has begun."""
    last = row[-1].text
    if word.text == "and":
        return last == "hundred"
    if word.text in ("hundred", "thousand", "million", "billion"):
        return last != "half"
    if word.text not in NUMBERS:
        return False
    tens = last in TENS and 0 < NUMBERS[word.text] < 10
    return tens or last in ("and", "hundred", "thousand", "million")


def _read(answer: Utterance, row: list[Word]) -> Iterator[tuple[Decimal, int, int]]:
    if row and row[-1].text == "and":
        row = row[:-1]
    if not row or (len(row) == 1 and _no_number(answer, row[0])):
        return
    total = current = Decimal(0)
    for word in row:
        if word.text in NUMBERS:
            current += NUMBERS[word.text]
        elif word.text == "half":
            current += Decimal("0.5")
        elif word.text == "hundred":
            current = max(current, Decimal(1)) * 100
        elif word.text in SCALES:
            total, current = total + max(current, Decimal(1)) * SCALES[word.text], Decimal(0)
    yield total + current, row[0].start, row[-1].end


def _no_number(answer: Utterance, word: Word) -> bool:
    """Tell whether a word alone is no number: the one, one of them, half past."""
    if word.text != "one":
        return False
    before = answer.before(word.start)
    after = answer.text[word.end : word.end + 4].lower()
    return bool(before and before[-1] in _PRONOUN_AFTER) or after in (" of ", " by ", "'s", "-way")
