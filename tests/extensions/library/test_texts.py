"""The text functions: known values, refusals, and what holds for all texts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.library.calling import refusal, value

NAME = "TextTools"
SHORT = st.text(max_size=12)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("count_text(text='')", {"characters": 0, "words": 0, "lines": 1}),
        ("count_text(text='a\\nb c')", {"characters": 5, "words": 3, "lines": 2}),
        ("frequent_words(text='b a B')", [{"word": "b", "count": 2}, {"word": "a", "count": 1}]),
        ("count_letter(text='Assess', letter='S')", 4),
        ("is_palindrome(text='')", True),
        ("is_palindrome(text='ab')", False),
        ("are_anagrams(first='a', second='aa')", False),
        ("edit_distance(first='', second='abc')", 3),
        ("edit_distance(first='flaw', second='lawn')", 2),
        ("shift_letters(text='xyz XYZ', shift=3)", "abc ABC"),
        ("to_roman(number=3999)", "MMMCMXCIX"),
        ("from_roman(numeral='xlii')", 42),
        ("to_morse(text='  a  b ')", ".- / -..."),
        ("to_morse(text='Hi')", ".... .."),
        ("slug_of(title='  --  ')", ""),
        ("slug_of(title='Crème brûlée!')", "crème-brûlée"),
        ("sort_words(words=['b', 'A', 'a'])", ["A", "a", "b"]),
        ("sort_words(words=['b', 'A', 'c'], descending=True)", ["c", "b", "A"]),
    ],
)
def test_known_values(call: str, expected: Any) -> None:
    assert value(NAME, call) == expected


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            f"count_text(text={'x' * 10_001!r})",
            "The length of text must be from 0 to 10000, not 10001.",
        ),
        ("count_letter(text='a', letter='')", "The length of letter must be 1, not 0."),
        (f"edit_distance(first='', second={'x' * 201!r})", "The length of second must be"),
        ("from_roman(numeral='')", "'' is not a Roman numeral"),
        ("from_roman(numeral='MMMM')", "'MMMM' is not a Roman numeral"),
        ("from_roman(numeral='VX')", "'VX' is not a Roman numeral"),
        ("to_roman(number=0)", "number must be from 1 to 3999, not 0."),
        ("to_morse(text='ä')", "There is no Morse code for 'Ä'"),
        (
            f"sort_words(words={['x'] * 1001})",
            "The length of words must be from 0 to 1000, not 1001.",
        ),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)


@given(st.integers(1, 3999))
def test_roman_numerals_are_read_as_they_are_written(number: int) -> None:
    numeral = value(NAME, f"to_roman(number={number})")
    assert value(NAME, f"from_roman(numeral={numeral!r})") == number


@given(SHORT, st.integers(-100, 100))
def test_shifting_back_restores_a_text(text: str, shift: int) -> None:
    there = value(NAME, f"shift_letters(text={text!r}, shift={shift})")
    assert value(NAME, f"shift_letters(text={there!r}, shift={-shift})") == text


@given(SHORT, SHORT)
def test_the_edit_distance_is_a_distance(first: str, second: str) -> None:
    there = value(NAME, f"edit_distance(first={first!r}, second={second!r})")
    assert there == value(NAME, f"edit_distance(first={second!r}, second={first!r})")
    assert (there == 0) is (first == second)
    assert abs(len(first) - len(second)) <= there <= max(len(first), len(second))
