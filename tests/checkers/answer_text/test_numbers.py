"""Numbers are found by value, however they are written, and by what they are numbers of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.answer_text.reader import list_unreported
from checkers.answer_text.units import find_units
from checkers.required_info import Number


def tells(fact: Number, answer: str) -> bool:
    return not list_unreported([fact], answer)


@pytest.mark.parametrize(
    "answer",
    [
        "It's 1234.5",
        "$1,234.50 in total",
        "1 234,50 €",
        "1\N{NARROW NO-BREAK SPACE}234,50",
        "1.234,50",
        "1'234.50",
        "**1,234.50**",
        "`1234.50`",
        "\\$1,234.50.",
        "(1,234.50)",
        "1234.50USD",
        "| total | 1,234.5 |",
    ],
)
def test_a_value_is_found_in_any_writing(answer: str) -> None:
    assert tells(Number(1234.5), answer)


@pytest.mark.parametrize(
    ("number", "answer", "told"),
    [
        (1234, "about 1.2k", False),
        (1200, "about 1.2k", True),
        (1_200_000, "1.2 million", True),
        (1_200_000, "$1.2M", True),
        (1_234_567, "1.234.567", True),
        (1_000_000, "1,000,000", True),
        (0.5, "0,5", True),
        (3, "1,2,3", True),
        (24.5, "24\N{VULGAR FRACTION ONE HALF}", True),
        (24.5, "24 1/2", True),
        (24.5, "24 and a half", True),
        (-50, "\N{MINUS SIGN}50", True),
        (-50, "-$50", True),
        (50, "-50", False),
        (60, "10-60", True),
        (60, "10\N{EN DASH}60", True),
    ],
)
def test_scales_fractions_signs_and_ranges(number: float, answer: str, told: bool) -> None:
    assert tells(Number(number), answer) is told


@pytest.mark.parametrize(
    ("number", "answer", "told"),
    [
        (7, "seven tickets", True),
        (24, "Twenty-four.", True),
        (24, "twenty four", True),
        (100, "a hundred", True),
        (105, "one hundred and five", True),
        (2500, "two thousand five hundred", True),
        (12, "a dozen", True),
        (3, "a trio of tickets", True),
        (2, "a pair of tickets", True),
        (20, "twenty-four", False),
        (29, "twenty-nine", True),
        (4, "twenty-four", False),
        (1, "That is the right one.", False),
        (1, "one of them", False),
        (1, "You have one ticket.", True),
    ],
)
def test_numbers_in_words(number: int, answer: str, told: bool) -> None:
    assert tells(Number(number), answer) is told


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (305, "USR305"),
        (204, "BR-204"),
        (7, "the 7th"),
        (7, "the seventh"),
        (6, "on 2024-06-01"),
        (1, "June 1st 2024"),
        (30, "at 10:30"),
        (2, "1. Foo\n2. Bar"),
        (3, "version 1.2.3"),
        (5, "It is not 5."),
        (5, "6 instead of 5"),
        (5, "more than 5"),
    ],
)
def test_what_is_part_of_something_else_or_turned_down_is_no_number(
    number: int, answer: str
) -> None:
    assert not tells(Number(number), answer)


@pytest.mark.parametrize(
    ("fact", "answer", "told"),
    [
        (Number(26.4172, decimals=2), "26.42", True),
        (Number(26.4172, decimals=2), "26.4172", True),
        (Number(26.4172, decimals=2), "26.417", True),
        (Number(26.4172, decimals=2), "26.41", False),
        (Number(26.4172, decimals=2), "26.4", False),
        (Number(26.4172, decimals=0), "26", True),
        (Number(26.4172), "26.42", False),
        (Number(0.125, decimals=2), "0.12", True),
        (Number(0.125, decimals=2), "0.13", True),
        (Number(924.999, decimals=2), "925", True),
        (Number(100, tolerance=5), "about 105", True),
        (Number(100, tolerance=5), "about 106", False),
    ],
)
def test_rounding_and_tolerance_are_those_stated(fact: Number, answer: str, told: bool) -> None:
    assert tells(fact, answer) is told


@pytest.mark.parametrize(
    ("unit", "answer", "told"),
    [
        ("USD", "$90", True),
        ("USD", "US$90", True),
        ("USD", "90 dollars", True),
        ("USD", "USD 90", True),
        ("USD", "90 bucks", True),
        ("USD", "It's 90.", True),
        ("USD", "90 EUR", False),
        ("USD", "\N{EURO SIGN}90", False),
        ("USD", "90 Canadian dollars", False),
        ("CAD", "$90", True),
        ("CAD", "US$90", False),
        ("gallon", "90 gal", True),
        ("gallon", "90 liters", False),
        ("gal", "90 gallons", True),
        ("%", "90%", True),
        ("percent", "90 percent", True),
        ("%", "90 km", False),
        ("mph", "90 miles per hour", True),
        ("mph", "90 miles", False),
        ("psi", "90.0 PSI", True),
        ("fahrenheit", "90 \N{DEGREE SIGN}F", True),
        ("fahrenheit", "90\N{DEGREE SIGN}C", False),
        ("kilometer", "90km", True),
    ],
)
def test_a_number_of_something_else_does_not_tell(unit: str, answer: str, told: bool) -> None:
    assert tells(Number(90, unit), answer) is told


@pytest.mark.parametrize(
    ("fact", "answer", "told"),
    [
        (Number(4, "messages"), "4 messages to 3 people", True),
        (Number(3, "people"), "4 messages to 3 people", True),
        (Number(3, "messages"), "4 messages to 3 people", False),
        (Number(4, "messages"), "- Messages: 4\n- People: 3", True),
        (Number(3, "messages"), "- Messages: 4\n- People: 3", False),
        (Number(4, "messages"), "It is 4.", True),
        (Number(4, "messages"), "People: 3\nMessages: 4", True),
        (Number(3, "messages"), "People: 3\nMessages: 4", False),
        (Number(0, "messages"), "There is no doubt about the messages.", False),
        (Number(0, "messages"), "There are no messages.", True),
        (Number(0, "messages"), "You don't have any messages.", True),
        (Number(0, "messages"), "You may send any messages.", False),
        (Number(0), "None.", True),
    ],
)
def test_a_number_belongs_to_what_it_counts(fact: Number, answer: str, told: bool) -> None:
    assert tells(fact, answer) is told


@pytest.mark.parametrize(
    ("answer", "told"),
    [("down 0.9%", True), ("-0.9%", True), ("up 0.9%", False), ("It fell by 0.9 percent.", True)],
)
def test_a_fall_tells_a_negative_number(answer: str, told: bool) -> None:
    assert tells(Number(-0.9, "%"), answer) is told


AMOUNTS = st.decimals(min_value=0, max_value=10**9, places=2)
WRITINGS = st.sampled_from(
    [
        "{:,.2f}",
        "{:.2f}",
        "${:,.2f}",
        "{:,.2f} USD",
        "**{:,.2f}**",
        "`{:.2f}`",
        "| {:,.2f} |",
        "it is {:,.2f}.",
        "={:.2f};",
    ]
)
WORDS = st.text(st.characters(categories=("Ll", "Lu", "Zs", "Po")), max_size=40)


@given(AMOUNTS, WRITINGS, WORDS, WORDS)
def test_an_amount_is_found_in_whatever_surrounds_it(amount, writing, before, after) -> None:
    answer = f"{before}: \n{writing.format(amount)} \n{after}"
    assert tells(Number(float(amount)), answer)


@given(AMOUNTS, AMOUNTS, WRITINGS)
def test_another_amount_is_not_found(amount, other, writing) -> None:
    assert tells(Number(float(amount)), writing.format(other)) is (amount == other)


@given(st.integers(min_value=10), st.text(st.characters(exclude_categories=("N",)), max_size=200))
def test_nothing_is_found_in_a_text_without_numbers(number, text) -> None:
    words = ("ten", "eleven", "twelve", "teen", "ty", "hundred", "thousand", "dozen", "half")
    fact = Number(min(number, 10**15))
    assert any(word in text.lower() for word in words) or not tells(fact, text)


@pytest.mark.parametrize("text", ["EUR -50", "EUR 50", "EUR50"])
def test_a_currency_stands_before_its_number_as_a_word(text: str) -> None:
    place = text.index("50")
    assert find_units(text, place, len(text)) == {"EUR"}
    assert not find_units(f"X{text}", place + 1, len(text) + 1)
