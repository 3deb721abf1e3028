"""Calendar functions: weekdays, spans, shifts and holidays of the Gregorian calendar.

The functions are stateless and have no current date. Dates are strings such as 2026-03-31; years
are from 1 to 9999.
"""

from __future__ import annotations

from calendar import isleap, monthrange
from datetime import date as Date
from datetime import timedelta
from typing import Any

from envs.backend import Backend, NoConfig, reads
from envs.errors import InvalidArgument
from extensions.library.bounds import check_between, check_count

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class CalendarTools(Backend):
    """Functions for dates."""

    Config = NoConfig

    @reads
    def weekday_of(self, date: str) -> dict[str, Any]:
        """Return the day of the week of a date.

        Args:
            date: Date, such as 2026-03-31.

        Returns:
            weekday: Name of the weekday, such as Monday.

        Examples:
            >>> weekday_of(date='2026-03-31')
            {"weekday": "Tuesday"}
            >>> weekday_of(date='2026-02-30')
            {"error": "'2026-02-30' is not a date such as 2026-03-31."}
        """
        return {"weekday": _WEEKDAYS[_read(date).weekday()]}

    @reads
    def days_between(self, start: str, end: str) -> dict[str, Any]:
        """Count the days from one date to another.

        Args:
            start: Date to count from, such as 2026-03-31.
            end: Date to count to.

        Returns:
            days: Number of days; negative if the end is before the start.

        Examples:
            >>> days_between(start='2026-02-27', end='2026-03-02')
            {"days": 3}
            >>> days_between(start='today', end='2026-03-02')
            {"error": "'today' is not a date such as 2026-03-31."}
        """
        return {"days": (_read(end) - _read(start)).days}

    @reads
    def shift_date(
        self, date: str, years: int = 0, months: int = 0, days: int = 0
    ) -> dict[str, Any]:
        """Add years, months and days to a date.

        Args:
            date: Date, such as 2026-03-31.
            years: Years to add; negative to subtract.
            months: Months to add; negative to subtract. If the new month lacks the day, its last
                day is used.
            days: Days to add after years and months; negative to subtract.

        Returns:
            date: Resulting date.

        Examples:
            >>> shift_date(date='2026-01-31', months=1)
            {"date": "2026-02-28"}
            >>> shift_date(date='2026-01-31', years=8000)
            {"error": "The result must be in the years 1 to 9999."}
        """
        start = _read(date)
        year, month = divmod(start.year * 12 + start.month - 1 + years * 12 + months, 12)
        if not 1 <= year <= 9999 or abs(days) > 4_000_000:
            raise InvalidArgument("The result must be in the years 1 to 9999.")
        day = min(start.day, monthrange(year, month + 1)[1])
        try:
            return {"date": (Date(year, month + 1, day) + timedelta(days)).isoformat()}
        except OverflowError:
            raise InvalidArgument("The result must be in the years 1 to 9999.") from None

    @reads
    def is_leap_year(self, year: int) -> dict[str, Any]:
        """Check whether a year is a leap year.

        Args:
            year: Year, from 1 to 9999.

        Returns:
            leap: Whether it is a leap year.

        Examples:
            >>> is_leap_year(year=2028)
            {"leap": true}
            >>> is_leap_year(year=0)
            {"error": "year must be from 1 to 9999, not 0."}
        """
        check_between("year", year, 1, 9999)
        return {"leap": isleap(year)}

    @reads
    def days_in_month(self, year: int, month: int) -> dict[str, Any]:
        """Return the number of days in a month.

        Args:
            year: Year, from 1 to 9999.
            month: Month, from 1 to 12.

        Returns:
            days: Number of days.

        Examples:
            >>> days_in_month(year=2028, month=2)
            {"days": 29}
            >>> days_in_month(year=2028, month=13)
            {"error": "month must be from 1 to 12, not 13."}
        """
        _check_month(year, month)
        return {"days": monthrange(year, month)[1]}

    @reads
    def iso_week(self, date: str) -> dict[str, Any]:
        """Return the ISO 8601 week of a date.

        Args:
            date: Date, such as 2026-03-31.

        Returns:
            year: Year that the week belongs to. It can differ from the year of the date.
            week: Week number, from 1 to 53. Week 1 contains the first Thursday of the year.

        Examples:
            >>> iso_week(date='2027-01-01')
            {"year": 2026, "week": 53}
            >>> iso_week(date='')
            {"error": "'' is not a date such as 2026-03-31."}
        """
        year, week, _ = _read(date).isocalendar()
        return {"year": year, "week": week}

    @reads
    def day_of_year(self, date: str) -> dict[str, Any]:
        """Return the day number of a date within its year.

        Args:
            date: Date, such as 2026-03-31.

        Returns:
            day: Day number; January 1 is day 1.

        Examples:
            >>> day_of_year(date='2028-12-31')
            {"day": 366}
            >>> day_of_year(date='2028')
            {"error": "'2028' is not a date such as 2026-03-31."}
        """
        return {"day": _read(date).timetuple().tm_yday}

    @reads
    def easter_sunday(self, year: int) -> dict[str, Any]:
        """Return the date of Easter Sunday in western churches.

        Args:
            year: Year, from 1583 to 4099.

        Returns:
            date: Date of Easter Sunday.

        Examples:
            >>> easter_sunday(year=2026)
            {"date": "2026-04-05"}
            >>> easter_sunday(year=1500)
            {"error": "year must be from 1583 to 4099, not 1500."}
        """
        check_between("year", year, 1583, 4099)
        return {"date": easter_of(year).isoformat()}

    @reads
    def working_days(
        self, start: str, end: str, holidays: list[str] | None = None
    ) -> dict[str, Any]:
        """Count the days from Monday to Friday in a period, without holidays.

        Args:
            start: First day of the period, such as 2026-03-31.
            end: Last day of the period, at most 3660 days later.
            holidays: Dates of holidays, at most 100; null for none.

        Returns:
            days: Number of working days.

        Examples:
            >>> working_days(start='2026-04-01', end='2026-04-07', holidays=['2026-04-03'])
            {"days": 4}
            >>> working_days(start='2026-04-07', end='2026-04-01')
            {"error": "The end must be 0 to 3660 days after the start, not -6."}
        """
        check_count("holidays", holidays or [], 0, 100)
        free = {_read(holiday) for holiday in holidays or []}
        first, length = _read(start), (_read(end) - _read(start)).days
        if not 0 <= length <= 3660:
            message = f"The end must be 0 to 3660 days after the start, not {length}."
            raise InvalidArgument(message)
        days = [first + timedelta(day) for day in range(length + 1)]
        return {"days": sum(day.weekday() < 5 and day not in free for day in days)}

    @reads
    def age_on(self, birth_date: str, date: str) -> dict[str, Any]:
        """Calculate how old a person is on a date.

        Args:
            birth_date: Date of birth, such as 1990-03-31.
            date: Date on which to calculate the age, not before the date of birth.

        Returns:
            years: Age in whole years. After a birth on February 29, the age increases on March 1 in
            common years.

        Examples:
            >>> age_on(birth_date='1990-06-15', date='2026-06-14')
            {"years": 35}
            >>> age_on(birth_date='2026-06-15', date='2026-06-14')
            {"error": "2026-06-14 is before the date of birth, 2026-06-15."}
        """
        born, day = _read(birth_date), _read(date)
        if day < born:
            raise InvalidArgument(f"{date} is before the date of birth, {birth_date}.")
        before = (day.month, day.day) < (born.month, born.day)
        return {"years": day.year - born.year - before}

    @reads
    def dates_of_weekday(self, year: int, month: int, weekday: str) -> dict[str, Any]:
        """List the dates of a month that fall on a weekday.

        Args:
            year: Year, from 1 to 9999.
            month: Month, from 1 to 12.
            weekday: Name of the weekday, Monday to Sunday.

        Returns:
            dates: Four or five dates.

        Examples:
            >>> dates_of_weekday(year=2026, month=2, weekday='Friday')
            {"dates": ["2026-02-06", "2026-02-13", "2026-02-20", "2026-02-27"]}
            >>> dates_of_weekday(year=2026, month=2, weekday='Fri')
            {"error": "'Fri' is not a weekday: use Monday, Tuesday, Wednesday, Thursday, ...
        """
        _check_month(year, month)
        if weekday not in _WEEKDAYS:
            known = ", ".join(_WEEKDAYS)
            raise InvalidArgument(f"{weekday!r} is not a weekday: use {known}.")
        days = [Date(year, month, day + 1) for day in range(monthrange(year, month)[1])]
        wanted = _WEEKDAYS.index(weekday)
        return {"dates": [day.isoformat() for day in days if day.weekday() == wanted]}


def _read(text: str) -> Date:
    """Parse a date. Raises InvalidArgument if the text is not a date."""
    try:
        date = Date.fromisoformat(text)
    except ValueError:
        date = None
    # Python accepts other forms, too; which ones depends on its version.
    if date is None or date.isoformat() != text:
        raise InvalidArgument(f"{text!r:.50} is not a date such as 2026-03-31.")
    return date


def _check_month(year: int, month: int) -> None:
    check_between("year", year, 1, 9999)
    check_between("month", month, 1, 12)


def easter_of(year: int) -> Date:
    """Return Easter Sunday of a year."""
    golden, century = year % 19, year // 100
    skipped = century - century // 4
    moon_correction = (8 * century + 13) // 25
    epact = (19 * golden + skipped - moon_correction + 15) % 30
    full_moon = epact - (epact == 29 or (epact == 28 and golden > 10))
    weekday = (year + year // 4 + full_moon + 2 - skipped) % 7
    return Date(year, 3, 28) + timedelta(full_moon - weekday)
