"""Numbers in words, each against the number that it spells."""

from __future__ import annotations

from decimal import Decimal

import pytest

from checkers.answer_text.dates import list_days
from checkers.answer_text.number_words import list_number_words
from checkers.answer_text.numbers import list_mentions
from checkers.answer_text.words import FinalAnswer
from checkers.known_values import MONTHS, ORDINALS, SCALES

SMALL = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spell(number: int) -> str:
    """Return a number below 1,000 in words."""
    if number < 20:
        return SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return TENS[tens - 2] + (f"-{SMALL[ones]}" if ones else "")
    hundreds, rest = divmod(number, 100)
    return f"{SMALL[hundreds]} hundred" + (f" and {spell(rest)}" if rest else "")


def read(text: str) -> list[tuple[Decimal, int, int]]:
    """Return the numbers in words of a text."""
    return [*list_number_words(FinalAnswer(text))]


def test_every_number_below_one_thousand_is_read_as_it_is_spelled() -> None:
    texts = {number: spell(number) for number in range(1000)}
    wrong = [text for number, text in texts.items() if read(text) != [(number, 0, len(text))]]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("two thousand and five", [2000, 5]),
        ("two thousand five", [2005]),
        ("two thousand five hundred", [2500]),
        ("three million two thousand", [3_002_000]),
        ("two billion", [2_000_000_000]),
        ("thousand million", [1_001_000]),
        ("hundred hundred", [10_000]),
        ("five six", [5, 6]),
        ("twenty thirty", [20, 30]),
        ("five  six", [5, 6]),
        ("twenty  five", [20, 5]),
        ("twenty, five", [20, 5]),
        ("a pair and a dozen and a trio", [2, 12, 3]),
        ("half a million", [Decimal("0.5")]),
        ("two and a half", [2, Decimal("0.5")]),
        ("a single one", []),
        ("this one", []),
        ("this one hundred", [100]),
        ("one of", [1]),
        ("one of us", []),
        ("one-way", []),
        ("no one", []),
        ("two euros ninety-nine", [2, 99, Decimal("2.99")]),
        ("two pounds one hundred", [2, 100]),
        ("two dollars zero", [2, 0]),
        ("two dollars and five pence", [2, 5, Decimal("2.05")]),
        ("two dollars and five", [2, 5]),
    ],
)
def test_rows_of_words_are_split_into_numbers(text: str, values: list[Decimal]) -> None:
    assert [value for value, _, _ in read(text)] == values


@pytest.mark.parametrize(
    ("word", "factor"),
    [("hundred", 100), ("thousand", 1000), ("grand", 1000), ("k", 1000), ("million", 10**6),
     ("mn", 10**6), ("billion", 10**9), ("bn", 10**9)],
)  # fmt: skip
def test_every_scale_multiplies_the_digits_before_it(word: str, factor: int) -> None:
    mention = list_mentions(FinalAnswer(f"5 {word}"))[0]
    assert (mention.value, mention.decimals) == (5 * factor, 1 - len(str(factor)))
    assert SCALES[word] == factor


def test_every_month_and_ordinal_names_a_day() -> None:
    for month, name in enumerate(MONTHS, 1):
        assert [day.month for day in list_days(f"{name} 5")] == [month]
        assert [day.month for day in list_days(f"5 {name[:3]}.")] == [month]
    for day, word in enumerate(ORDINALS, 1):
        assert [each.day for each in list_days(f"the {word} of May")][-1] == day
