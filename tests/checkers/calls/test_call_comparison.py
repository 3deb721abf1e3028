from __future__ import annotations

import pytest

from checkers.calls.call_comparison import normalise, normalise_but_numbers


@pytest.mark.parametrize(
    ("text", "plain", "numbers"),
    [
        ("New York, N.Y.", "newyorkny", "newyorkny"),
        ("it's", 'it"s', 'it"s'),
        ("a_b-c/d*e^f", "abcdef", "abcdef"),
        ("(a)\n", "(a)\n", "(a)\n"),
        ("2023-01-02", "20230102", "20230102"),
        ("5 -6 May", "56may", "56may"),
        ("1,000", "1000", "1000"),
        ("", "", ""),
    ],
)
def test_marks_do_not_count(text: str, plain: str, numbers: str) -> None:
    assert normalise(text) == plain
    assert normalise_but_numbers(text) == numbers


@pytest.mark.parametrize(("text", "other"), [("1.5", "15"), ("-5", "5"), ("x = -.5", "x = .5")])
def test_signs_and_points_of_numbers_count_where_they_should(text: str, other: str) -> None:
    assert normalise(text) == normalise(other)
    assert normalise_but_numbers(text) != normalise_but_numbers(other)
