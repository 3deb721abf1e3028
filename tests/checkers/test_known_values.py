"""Has a value been told or shown? A table of what counts, and of what a person has to look at."""

from __future__ import annotations

from calendar import month_name

import pytest

from checkers.known_values import (
    KnownValues,
    contains_value,
    list_literals,
    unescape_text,
)
from extensions.authoring.user_message_values import list_spoken_values

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MONTHS = [(month_name[month], month, days) for month, days in enumerate(_DAYS, 1)]
PLAIN = [
    ("Write: Gone fishing.", "Gone fishing"),
    ("put in the FINAL report", "final_report"),
    ("I live in New York.", "NewYork"),
    ("Tires at XX psi, says the form: Front XX, Rear XX; they are 32 and 30", "Front 32, Rear 30"),
    ("Whatever.", ""),
    ("deposit $1,500 please", 1500),
    ("deposit 1.5k please", 1500.0),
    ("three million", 3_000_000),
    ("take five hundred", 500),
    ("take twenty-five", 25),
    ("a dozen eggs", 12),
    ("5 degrees below", -5),
    ("ten percent off", 0.1),
    ("20% off", 0.2),
    ("half of it", 0.5),
    ("send it twice", 2),
    ("triple the order", 3),
    ("number 12446", "12446"),
    ("leave on March 3rd, 2026", "2026-03-03"),
    ("leave on 3 Mar", "2026-03-03"),
    ("leave on the last day of September", "2026-09-30"),
    ("leave on the last day of February", "2026-02-28"),
    *(
        (f"leave on the last day of {name}", f"2026-{month:02}-{days}")
        for name, month, days in MONTHS
    ),
    ("leave on 5 of the second month", "2026-02-05"),
    ("expires in December 2028", "12/2028"),
    ("on 2026-03-06 at 15:00", "2026-03-06T15:00"),
    ("at 15:00, on March 6", "2026-03-06T15:00"),
    ("in euros", "EUR"),
    ("how many kilometres", "km"),
]
FLAGGED = [
    ("go to Rome", "CIA", "'CIA': cia is in no message and no result"),
    ("pay it", 42, "42 is in no message"),
    ("pay 1500", 150, "150 is in no message"),
    ("leave in March", "2026-03-03", "is in no message"),
    ("on 2026-03-06 at 16:00", "2026-03-06T15:00", "is in no message"),
    ("on 2026-03-07 at 15:00", "2026-03-06T15:00", "is in no message"),
    ("leave on the last day of September", "2026-09-29", "is in no message"),
    *(
        (f"leave on the last day of {name}", f"2026-{month:02}-{days - 1}", "is in no message")
        for name, month, days in MONTHS
    ),
    ("send it twice", 3, "3 is in no message"),
    ("sort: alpha beta gamma delta", "gamma delta alpha beta", "not in this order"),
    ("log the size, then 'bytes'", "6755 bytes", "6755 is in no message"),
]


@pytest.mark.parametrize(("words", "literal"), PLAIN)
def test_what_the_user_said_may_be_used(words: str, literal: str | float) -> None:
    told = KnownValues("")
    told.hear(words)
    assert told.doubt(literal, "") is None


@pytest.mark.parametrize(("words", "literal", "message"), FLAGGED)
def test_what_nobody_said_is_flagged(words: str, literal: str | float, message: str) -> None:
    told = KnownValues("")
    told.hear(words)
    doubt = told.doubt(literal, "")
    assert doubt is not None
    assert doubt.serious
    assert message in doubt.why


def test_what_follows_from_two_numbers_is_only_worth_knowing() -> None:
    told = KnownValues("")
    told.hear("The tank takes 50 gallons.")
    told.see('{"fuelLevel": 20.5}')
    assert told.doubt(29.5, "") == (False, "29.5 is not in the conversation, but equals 50 - 20.5")


def test_nearly_all_words_told_is_only_worth_knowing() -> None:
    told = KnownValues("")
    told.hear("one two three four five")
    assert told.doubt("one two three four five x", "") == (
        False,
        "all words of the string are known, except x",
    )


def test_a_document_tells_defaults_and_choices() -> None:
    assert KnownValues("").doubt("economy", '{"enum": ["economy", "first"]}') is None


def test_what_is_seen_counts_too() -> None:
    told = KnownValues('{"owner": "Ann"}')
    assert told.doubt("Ann", "") is None
    assert told.doubt("Zoë", "") is not None
    told.see('{"name": "Zo\\u00eb"}')
    assert told.doubt("Zoë", "") is None


@pytest.mark.parametrize(
    ("value", "text", "there"),
    [
        ("pdf", "report.pdf", True),
        ("PDF", "report.pdf", False),
        (5, "5 of them", True),
        (5, "five of them", False),
        (5, "15 or 5.5", False),
        (5.0, "exactly 5.", True),
        (-5, "5 below", False),
    ],
)
def test_what_stands_in_a_text_literally(value: str | float, text: str, there: bool) -> None:
    assert contains_value(value, text) is there


def test_values_that_texts_hold() -> None:
    assert list_spoken_values(["Tell 'my friend' Ann Lee: 3 or 4.5"]) == [
        "my friend", "Tell", "my", "friend", "Ann", "Lee", 3, "or", 4.5, "Ann Lee",
    ]  # fmt: skip
    assert list(list_literals({"a": [1, True, None, {"b": "x"}], "c": 2.5})) == [1, "x", 2.5]


def test_a_result_is_read_as_a_person_does() -> None:
    assert unescape_text('\\"a\\"\\nb') == '"a"\nb'


def test_the_marks_at_the_end_of_a_word_are_left_out():
    text = "a.b. --c- !d! @x: && e" + "&" * 100_000
    assert list_spoken_values([text]) == ["a.b", "--c", "!d!", "@x", "e"]


def test_each_word_for_a_number_stands_for_its_number_only() -> None:
    words = {"half": 0.5, "quarter": 0.25, "couple": 2, "pair": 2, "single": 1, "once": 1}
    words |= {"twice": 2, "double": 2, "triple": 3, "first": 1, "second": 2, "third": 3}
    words |= {"fourth": 4, "fifth": 5, "seven": 7, "twelve": 12}
    for word, number in words.items():
        known = KnownValues()
        known.hear(f"Send {word}, please.")
        assert known.doubt(number) is None, word
        for other in (number + 1, number * 3):
            assert known.doubt(other) is not None, word
