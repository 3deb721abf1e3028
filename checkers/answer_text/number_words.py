"""Reader of numbers in words, such as "three", "a hundred and five" or "two dollars fifty"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from checkers.answer_text.words import FinalAnswer, Word
from checkers.known_values import NUMBERS, SCALES, TENS

_DOLLARS = re.compile(r" (?:dollars?|euros?|pounds?)(?: and)? ", re.IGNORECASE)
_CENTS = re.compile(r" (?:cents?|pence)\b", re.IGNORECASE)
_PRONOUN_AFTER = frozenset(
    word
    for words in (
        "that this the which no another any every each last first next new old right wrong other",
        "some correct same either neither single",
    )
    for word in words.split()
)


def list_number_words(answer: FinalAnswer) -> Iterator[tuple[Decimal, int, int]]:
    """Yield each number in words with its start and end."""
    found = [*_list_rows(answer)]
    yield from found
    for (value, start, end), (cents, later, last) in pairwise(found):
        between = answer.text[end:later]
        ending = _CENTS.match(answer.text, last)
        if 0 < cents < 100 and _DOLLARS.fullmatch(between) and (ending or "and" not in between):
            yield value + cents / 100, start, ending.end() if ending else last


def _list_rows(answer: FinalAnswer) -> Iterator[tuple[Decimal, int, int]]:
    row: list[Word] = []
    for word in answer.words:
        if row and not (word.start - row[-1].end <= 1 and _is_continuation(row, word)):
            yield from _read_number(answer, row)
            row = []
        if row or word.text in NUMBERS or word.text in ("hundred", "thousand", "half"):
            row.append(word)
    yield from _read_number(answer, row)


def _is_continuation(row: list[Word], word: Word) -> bool:
    last = row[-1].text
    if word.text == "and":
        return last == "hundred"
    if word.text in ("hundred", "thousand", "million", "billion"):
        return last != "half"
    if word.text not in NUMBERS:
        return False
    tens = last in TENS and 0 < NUMBERS[word.text] < 10
    return tens or last in ("and", "hundred", "thousand", "million")


def _read_number(answer: FinalAnswer, row: list[Word]) -> Iterator[tuple[Decimal, int, int]]:
    if row and row[-1].text == "and":
        row = row[:-1]
    if not row or (len(row) == 1 and _is_pronoun(answer, row[0])):
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


def _is_pronoun(answer: FinalAnswer, word: Word) -> bool:
    """Tell whether the word ``one`` is a pronoun, as in "the one" or "one of them"."""
    if word.text != "one":
        return False
    before = answer.before(word.start)
    after = answer.text[word.end : word.end + 4].lower()
    return bool(before and before[-1] in _PRONOUN_AFTER) or after in (" of ", " by ", "'s", "-way")
