"""Days in the usual forms."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.answer_text.reader import list_unreported
from checkers.required_info import Date


def tells(date: str, answer: str) -> bool:
    return not list_unreported([Date(date)], answer)


@pytest.mark.parametrize(
    "answer",
    [
        "2024-06-01",
        "2024/06/01",
        "2024-06-01T10:00",
        "June 1st 2024",
        "Saturday, June 1, 2024",
        "1 June",
        "1st of June",
        "on Jun. 1",
        "1 Jun 2024",
        "06/01/2024",
        "01/06/2024",
        "6/1/24",
        "6/1",
        "June 1-3",
        "1\N{EN DASH}3 June 2024",
    ],
)
def test_a_day_is_found_in_any_form(answer: str) -> None:
    assert tells("2024-06-01", answer)


@pytest.mark.parametrize(
    "answer",
    [
        "2024-06-02",
        "June 11",
        "June 1, 2023",
        "2023-06-01",
        "06/02/2024",
        "not June 1",
        "12024-06-01",
        "the 1st",
        "Mayor 1",
        "version 6.1",
    ],
)
def test_another_day_is_not(answer: str) -> None:
    assert not tells("2024-06-01", answer)


@given(st.dates(datetime.date(1000, 1, 1)), st.dates(datetime.date(1000, 1, 1)))
def test_written_out_a_day_tells_itself_and_no_other(day, other) -> None:
    for form in ("%B {}, %Y", "{} %b %Y", "%Y-%m-%d"):
        answer = f"It is {day.strftime(form).format(day.day)}."
        assert tells(day.isoformat(), answer)
        assert tells(other.isoformat(), answer) is (day == other)
