"""Days in the usual forms."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.answer_text.dates import list_days
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


DAYS = {
    "2024-06-01": "0-10: 2024-6-1",
    "2024/6/1": "0-8: 2024-6-1",
    "2024.06.01": "0-10: 2024-6-1",
    "2024/6-1": "",
    "2024-06-012": "",
    "2024-06-01-2": "",
    "06/01/2024": "0-10: 2024-6-1, 0-10: 2024-1-6",
    "1.6.2024": "0-8: 2024-1-6, 0-8: 2024-6-1",
    "6/1/24": "0-6: 2024-6-1, 0-6: 2024-1-6",
    "6/1": "0-3: None-6-1?, 0-3: None-1-6?",
    "1/6.5": "",
    "6/1/2": "",
    "June 1-3": "0-8: None-6-1, 0-8: None-6-3",
    "June 1 to 3, 2024": "0-17: 2024-6-1, 0-17: 2024-6-3",
    "1 & 3 June": "0-10: None-6-1, 0-10: None-6-3",
    "June 1st": "0-8: None-6-1",
    "the first of June": "4-17: None-6-1",
    "June the second, 2024": "0-21: 2024-6-2",
    "Sept 5": "0-6: None-9-5",
    "Sep. 5": "0-6: None-9-5",
    "September 5 of 2023": "0-19: 2023-9-5",
    "twenty-first of May": "0-19: None-5-21",
    "Mayor 1": "",
    "31st December 2024": "0-18: 2024-12-31",
    "Jan 2": "0-5: None-1-2",
    "Febr 3": "",
    "Augus 4": "",
}
"""Dates in a text: start, end, year, month, day; a question mark follows an uncertain date."""


def describe_days(text: str) -> str:
    """Return the dates in a text as they stand in the table."""
    return ", ".join(
        f"{start}-{end}: {year}-{month}-{day}{'' if certain else '?'}"
        for year, month, day, start, end, certain in list_days(text)
    )


def test_every_date_has_its_day_and_its_place() -> None:
    assert {text: describe_days(text) for text in DAYS} == DAYS
