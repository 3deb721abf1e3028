"""Numbers are found by value, however they are written, and by what they are numbers of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.answer_text.numbers import list_mentions
from checkers.answer_text.reader import list_unreported
from checkers.answer_text.units import find_units
from checkers.answer_text.words import FinalAnswer
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


DOLLARS = frozenset({"AUD", "CAD", "HKD", "NZD", "SGD", "USD"})
MENTIONS = {
    "1.5k": "0-4: 1500.0 (-2)",
    "$3M": "1-3: 3000000 $ (-6)",
    "£3m": "1-3: 3000000 GBP (-6)",
    "3 m": "0-1: 3 meter (0)",
    "$1,234.50": "1-9: 1234.50 $ (2)",
    "-$5": "2-3: -5 $ (0)",
    "- 5": "2-3: 5 (0)",
    "5 -": "0-1: 5 (0)",
    "(5)": "1-2: 5 (0)",
    "a-5": "",
    "_5": "",
    "5_": "",
    "5_x": "",
    "_5_6": "",
    "5 _": "0-1: 5 (0)",
    "10-5": "0-2: 10 (0), 3-4: 5 (0)",
    "5%-3": "0-1: 5 percent (0), 3-4: 3 (0)",
    "1'234": "0-5: 1234 (0)",
    "1.234.567": "0-9: 1234567 (0)",
    "1.234,5": "0-7: 1234.5 (1)",
    "1,234": "0-5: 1234 (0)",
    "1,23": "0-4: 1.23 (2)",
    "0,5": "0-3: 0.5 (1)",
    "1,2,3": "0-5: 1 (0), 0-5: 2 (0), 0-5: 3 (0)",
    ".5": "0-2: 0.5 (1)",
    "1 234 567": "0-1: 1 (0), 0-9: 1234567 (0), 2-5: 234 (0), 6-9: 567 (0)",
    "1 23": "0-1: 1 (0), 2-4: 23 (0)",
    "12:30": "",
    "7.30 pm": "",
    "7pm": "",
    "1. Foo": "",
    "- 2) bar": "",
    "1/2": "0-1: 1 (0), 0-3: 0.5 (6), 2-3: 2 (0)",
    "2 1/2": "0-1: 2 (0), 0-5: 2.5 (6), 2-3: 1 (0), 4-5: 2 (0)",
    "3 and 1/4": "0-1: 3 (0), 0-9: 3.25 (6), 6-7: 1 (0), 8-9: 4 (0)",
    "1/0": "0-1: 1 (0), 2-3: 0 (0)",
    "5 and a half": "0-12: 5.5 (1), 8-12: 0.5 (0)",
    "5-and-a-half": "0-12: 5.5 (1), 8-12: 0.5 (0)",
    "five hundred and two": "0-20: 502 (0)",
    "one": "0-3: 1 (0)",
    "the one": "",
    "one of them": "",
    "one by one": "7-10: 1 (0)",
    "one's": "",
    "hundred": "0-7: 100 (0)",
    "half": "0-4: 0.5 (0)",
    "two and a half": "0-14: 2.5 (1), 10-14: 0.5 (0)",
    "three thousand two hundred": "0-26: 3200 (0)",
    "twenty one": "0-10: 21 (0)",
    "twenty zero": "0-6: 20 (0), 7-11: 0 (0)",
    "twenty ten": "0-6: 20 (0), 7-10: 10 (0)",
    "five six": "0-4: 5 (0), 5-8: 6 (0)",
    "fifty and two": "0-5: 50 (0), 10-13: 2 (0)",
    "hundred and": "0-7: 100 (0)",
    "two dollars fifty": "0-3: 2 $ (0), 0-17: 2.5 (0), 12-17: 50 (0)",
    "two dollars and fifty cents": "0-3: 2 $ (0), 0-27: 2.5 (0), 16-21: 50 (0)",
    "two dollars and fifty": "0-3: 2 $ (0), 16-21: 50 (0)",
    "two dollars one": "0-3: 2 $ (0), 0-15: 2.01 (0), 12-15: 1 (0)",
    "two dollars ninety": "0-3: 2 $ (0), 0-18: 2.9 (0), 12-18: 90 (0)",
    "ten euros 99": "0-3: 10 EUR (0), 10-12: 99 (0)",
    "1st": "",
    "2nd": "",
    "3rd": "",
    "5th": "",
    "5 USD": "0-1: 5 USD (0)",
    "USD 5": "4-5: 5 USD (0)",
    "US$5": "3-4: 5 USD (0)",
    "C$5": "2-3: 5 CAD (0)",
    "R$ 5": "3-4: 5 BRL (0)",
    "5 US dollars": "0-1: 5 USD (0)",
    "5 Canadian dollars": "0-1: 5 CAD (0)",
    "5 miles per hour": "0-1: 5 mile per hour (0)",
    "5 miles per month": "0-1: 5 mile (0)",
    "5 km an hour": "0-1: 5 kilometer per hour (0)",
    "5 km/h": "0-1: 5 kilometer per hour (0)",
    "5-gallon": "0-1: 5 gallon (0)",
    "5 in": "0-1: 5 (0)",
    "5in": "0-1: 5 inch (0)",
    "5'": "0-1: 5 foot (0)",
    "5°": "0-1: 5 celsius/fahrenheit (0)",
    "5°F": "0-1: 5 fahrenheit (0)",
    "5 berries": "0-1: 5 (0)",
    "5 s": "0-1: 5 (0)",
    "5s": "0-1: 5 second (0)",
    "5 grand": "0-7: 5000 (-3)",
    "5 k": "0-3: 5000 (-3)",
    "5 million dollars": "0-9: 5000000 $ (-6)",
    "USR305": "",
    "5x": "",
    "$3mi": "1-2: 3 mile (0)",
    "£3oz": "1-2: 3 ounce (0)",
    "2024-06-01": "",
    "6/1/24": "",
    "1-3 June": "",
    "100 %": "0-3: 100 percent (0)",
    "5.000,00 €": "0-8: 5000.00 EUR (2)",
    "12,345.6": "0-8: 12345.6 (1)",
    "x-1": "",
    "%-1": "2-3: 1 (0)",
    ")-1": "2-3: 1 (0)",
    "a dozen": "2-7: 12 (0)",
    "one hundred million": "0-19: 100000000 (0)",
    "thousand": "0-8: 1000 (0)",
    "xUSD5": "",
    "five hundred million": "0-20: 500000000 (0)",
    "hundred thousand": "0-16: 100000 (0)",
}
"""Numbers in a text: start, end, value, units ($ for all dollars), and decimals in brackets."""


def describe_mentions(text: str) -> str:
    """Return the numbers in a text as they stand in the table."""
    shown = []
    for value, decimals, start, end, units in list_mentions(FinalAnswer(text)):
        unit = "$" if units == DOLLARS else "/".join(sorted(units))
        shown.append(f"{f'{start}-{end}: {value} {unit}'.strip()} ({decimals})")
    return ", ".join(shown)


def test_every_number_has_its_value_unit_decimals_and_place() -> None:
    assert {text: describe_mentions(text) for text in MENTIONS} == MENTIONS


def test_only_the_first_300_characters_of_a_number_count() -> None:
    values = [list_mentions(FinalAnswer("1" * length))[0].value for length in (299, 300, 301)]
    assert [value.adjusted() for value in values] == [298, 299, 299]


@pytest.mark.parametrize(
    ("fact", "answer", "told"),
    [
        # A noun belongs to a number among the four words before it, or the eight words after it.
        (Number(5, "orders"), "5 very old late orders, and 6 more", True),
        (Number(6, "orders"), "5 very old late orders, and 6 more", False),
        (Number(6, "orders"), "5 very old and late orders, and 6 more", True),
        (Number(6, "orders"), "The orders a b c d e f g 6, then 5", True),
        (Number(5, "orders"), "The orders a b c d e f g 6, then 5", False),
        (Number(5, "orders"), "The orders a b c d e f g h 6, then 5", True),
        (Number(6, "orders"), "As of now and for all of us, orders are a b c 6, then 5", True),
        (Number(5, "orders"), "As of now and for all of us, orders are a b c 6, then 5", False),
        (Number(5, "orders"), "5 in all; orders: 6", False),
        (Number(6, "orders"), "5 in all; orders: 6", True),
        (Number(5, "open orders"), "5 orders of 6 open ones", True),
        (Number(6, "open orders"), "5 orders of 6 open ones", False),
        (Number(5, "orders"), "5 orders", True),
        (Number(5, "order"), "5 orders", True),
        (Number(5, "orders"), "orders", False),
        # A word such as "down" counts within the clause and within 100 characters.
        (Number(-4), "It fell a lot; now it is 4.", False),
        (Number(-4), "It fell a lot, now it is 4.", False),
        (Number(-4), "It is 4 lower.", True),
        (Number(-4), "It is 4. It fell.", False),
        (Number(-4), "It is down by -4.", True),
        (Number(-4), f"down {'x' * 94} 4", True),
        (Number(-4), f"down {'x' * 95} 4", False),
        (Number(-4), f"4 {'x' * 94} down", True),
        (Number(-4), f"4 {'x' * 95} down", False),
        (Number(0.5, tolerance=1), "It is down 1.2.", True),
        # No, none and other zeros.
        (Number(0, "orders"), "There are no open red orders.", True),
        (Number(0, "orders"), "There are no old open red orders.", False),
        (Number(0, "orders"), "Without any orders.", True),
        (Number(0, "orders"), "It never had any orders.", True),
        (Number(0, "orders"), "It had any orders.", False),
        (Number(0, "orders"), "nobody", True),
        (Number(0, "orders", tolerance=1), "nobody", True),
        (Number(1, "orders", tolerance=1), "nobody", False),
        # Comparisons and negations turn a number down.
        (Number(5), "less than 5", False),
        (Number(5), "fewer than 5", False),
        (Number(5), "rather than 5", False),
        (Number(5), "no longer at 5", False),
    ],
)
def test_a_number_is_read_with_its_noun_and_its_clause(
    fact: Number, answer: str, told: bool
) -> None:
    assert tells(fact, answer) is told
