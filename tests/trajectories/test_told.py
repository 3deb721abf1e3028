"""Has a value been told or shown? A table of what counts, and of what a person has to look at."""

from __future__ import annotations

import pytest

from trajectories.told import Told, literals, readable, shown, spoken_values, stands_in

PLAIN = [
    # Numbers: digits, words, scales, formats.
    (5, "Add five of them."),
    (25, "twenty five"),
    (1500, "It costs 1,500 dollars."),
    (1500.0, "It costs 1.5k."),
    (3_000_000, "three million"),
    (0.2, "Give 20% off."),
    (12, "a dozen eggs"),
    (-5, "5 degrees below"),
    # Texts: case, punctuation, words put together, pieces filled in.
    ("report.pdf", "Open Report.pdf, please."),
    ("new york", "I live in New York."),
    ("NewYork", "I live in New York."),
    ("Bob", "Tell bob."),
    # Dates, expiries, currencies, numbers as texts.
    ("2024-03-12", "on the 12th of March"),
    ("03/27", "until March 2027"),
    ("EUR", "in euros"),
    ("40", "forty of them"),
    ("", "Whatever."),
]
DOUBTFUL = [
    (7, "Add five of them.", True, "7 was told by nobody and shown by nothing"),
    (7, "Take 3 and 4.", False, "7 stands nowhere, but is 3 + 4"),
    ("secret", "Tell Bob.", True, "'secret': nobody told and nothing showed secret"),
    ("c d a b", "a b, c d", True, "'c d a b': its words were told, but nowhere in this order"),
    ("one two three four five x", "one two three four five", False, "told words but for x"),
    ("2024-04-12", "on the 12th of March", True, "nobody told and nothing showed"),
]


@pytest.mark.parametrize(("value", "said"), PLAIN)
def test_a_plain_origin(value: str | float, said: str) -> None:
    told = Told("")
    assert value == "" or told.doubt(value, "") is not None
    told.hear(said)
    assert told.doubt(value, "") is None


@pytest.mark.parametrize(("value", "said", "serious", "why"), DOUBTFUL)
def test_a_doubtful_origin(value: str | float, said: str, serious: bool, why: str) -> None:
    told = Told("")
    told.hear(said)
    doubt = told.doubt(value, "")
    assert doubt is not None
    assert doubt.serious is serious
    assert why in doubt.why


def test_what_is_seen_and_what_a_document_says_count_too() -> None:
    told = Told('{"owner": "Ann"}')
    assert told.doubt("Ann", "") is None
    assert told.doubt("fast", '{"enum": ["fast", "slow"]}') is None
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
    assert stands_in(value, text) is there


def test_secrets_are_not_shown() -> None:
    config = {"users": [{"name": "Ann", "password": "x"}], "access_token": "y"}
    assert shown(config) == {"users": [{"name": "Ann"}]}


def test_values_that_texts_hold() -> None:
    assert spoken_values(["Tell 'my friend' Ann Lee: 3 or 4.5"]) == [
        "my friend", "Tell", "my", "friend", "Ann", "Lee", 3, "or", 4.5, "Ann Lee",
    ]  # fmt: skip
    assert list(literals({"a": [1, True, None, {"b": "x"}], "c": 2.5})) == [1, "x", 2.5]


def test_a_result_is_read_as_a_person_does() -> None:
    assert readable('\\"a\\"\\nb') == '"a"\nb'
