"""The calendar functions: known dates, refusals, and what holds for all dates."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.library.calling import refusal, value

NAME = "CalendarTools"
DATES = st.dates()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("weekday_of(date='1969-07-20')", "Sunday"),
        ("days_between(start='2026-03-02', end='2026-02-27')", -3),
        ("shift_date(date='2024-02-29', years=1)", "2025-02-28"),
        ("shift_date(date='2024-02-29', years=4)", "2028-02-29"),
        ("shift_date(date='2026-01-15', months=-13)", "2024-12-15"),
        ("shift_date(date='2026-01-31', months=1, days=1)", "2026-03-01"),
        ("is_leap_year(year=1900)", False),
        ("is_leap_year(year=2000)", True),
        ("days_in_month(year=1900, month=2)", 28),
        ("iso_week(date='2024-12-30')", {"year": 2025, "week": 1}),
        ("day_of_year(date='2026-03-01')", 60),
        ("easter_sunday(year=1818)", "1818-03-22"),
        ("easter_sunday(year=1943)", "1943-04-25"),
        ("easter_sunday(year=1954)", "1954-04-18"),
        ("easter_sunday(year=1981)", "1981-04-19"),
        ("easter_sunday(year=2000)", "2000-04-23"),
        ("easter_sunday(year=2011)", "2011-04-24"),
        ("easter_sunday(year=2024)", "2024-03-31"),
        ("easter_sunday(year=2025)", "2025-04-20"),
        ("easter_sunday(year=2038)", "2038-04-25"),
        ("working_days(start='2026-04-04', end='2026-04-05')", 0),
        ("working_days(start='2026-04-03', end='2026-04-03', holidays=None)", 1),
        ("age_on(birth_date='2000-02-29', date='2018-02-28')", 17),
        ("age_on(birth_date='2000-02-29', date='2018-03-01')", 18),
        ("age_on(birth_date='2000-02-29', date='2000-02-29')", 0),
        (
            "dates_of_weekday(year=2026, month=3, weekday='Sunday')",
            [f"2026-03-{day:02}" for day in (1, 8, 15, 22, 29)],
        ),
    ],
)
def test_known_dates(call: str, expected: Any) -> None:
    assert value(NAME, call) == expected


@pytest.mark.parametrize("date", ["", "2026-2-3", "20260203", "2026-W05-1", "2026-13-01", " 1"])
def test_what_is_no_date_is_refused(date: str) -> None:
    assert refusal(NAME, f"weekday_of(date={date!r})").startswith(f"{date!r} is not a date")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("shift_date(date='9999-12-31', days=1)", "must be in the years 1 to 9999"),
        ("shift_date(date='0001-01-01', months=-1)", "must be in the years 1 to 9999"),
        ("shift_date(date='2026-01-01', days=10000000000)", "must be in the years 1 to 9999"),
        ("days_in_month(year=2026, month=0)", "month must be from 1 to 12, not 0."),
        ("easter_sunday(year=4100)", "year must be from 1583 to 4099, not 4100."),
        (
            "working_days(start='2000-01-01', end='2026-01-01')",
            "must be 0 to 3660 days after the start",
        ),
        ("dates_of_weekday(year=2026, month=3, weekday='sunday')", "'sunday' is not a weekday"),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)


@given(DATES, DATES)
def test_shifting_by_the_days_between_leads_there(start: datetime.date, end: datetime.date) -> None:
    days = value(NAME, f"days_between(start='{start}', end='{end}')")
    assert value(NAME, f"shift_date(date='{start}', days={days})") == str(end)


@given(st.integers(1583, 4099))
def test_easter_is_a_sunday_in_spring(year: int) -> None:
    easter = value(NAME, f"easter_sunday(year={year})")
    assert value(NAME, f"weekday_of(date='{easter}')") == "Sunday"
    assert f"{year}-03-22" <= easter <= f"{year}-04-25"


@given(DATES, st.integers(0, 400))
def test_working_days_are_all_but_weekends(start: datetime.date, length: int) -> None:
    end = min(start.toordinal() + length, datetime.date.max.toordinal())
    days = [datetime.date.fromordinal(day) for day in range(start.toordinal(), end + 1)]
    call = f"working_days(start='{start}', end='{days[-1]}')"
    assert value(NAME, call) == sum(day.isoweekday() < 6 for day in days)
