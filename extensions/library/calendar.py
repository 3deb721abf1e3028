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
    """Functions of dates."""

    Config = NoConfig

    @reads
    def weekday_of(self, date: str) -> dict[str, Any]:
        """Tell on which day of the week a date falls.

        Args:
            date: The date, such as 2026-03-31.

        Returns:
            weekday: Monday to Sunday.

        Examples:
            >>> weekday_of(date='2026-03-31')
            {"weekday": "Tuesday"}
            >>> weekday_of(date='2026-02-30')
            {"error": "'2026-02-30' is no date: give one such as 2026-03-31."}
        """
        return {"weekday": _WEEKDAYS[_read(date).weekday()]}

    @reads
    def days_between(self, start: str, end: str) -> dict[str, Any]:
        """Count the days from one date to another.

        Args:
            start: The date to count from, such as 2026-03-31.
            end: The date to count to.

        Returns:
            days: The number of days, negative if the end is before the start.

        Examples:
            >>> days_between(start='2026-02-27', end='2026-03-02')
            {"days": 3}
            >>> days_between(start='today', end='2026-03-02')
            {"error": "'today' is no date: give one such as 2026-03-31."}
        """
        return {"days": (_read(end) - _read(start)).days}

    @reads
    def shift_date(
        self, date: str, years: int = 0, months: int = 0, days: int = 0
    ) -> dict[str, Any]:
        """Move a date forwards or backwards.

        Args:
            date: The date, such as 2026-03-31.
            years: Years to move it by, negative for backwards.
            months: Months to move it by; a day that the month does not have becomes its last.
            days: Days to move it by, after years and months.

        Returns:
            date: The date that this leads to.

        Examples:
            >>> shift_date(date='2026-01-31', months=1)
            {"date": "2026-02-28"}
            >>> shift_date(date='2026-01-31', years=8000)
            {"error": "This leads out of the years 1 to 9999."}
        """
        start = _read(date)
        year, month = divmod(start.year * 12 + start.month - 1 + years * 12 + months, 12)
        if not 1 <= year <= 9999 or abs(days) > 4_000_000:
            raise InvalidArgument("This leads out of the years 1 to 9999.")
        day = min(start.day, monthrange(year, month + 1)[1])
        try:
            return {"date": (Date(year, month + 1, day) + timedelta(days)).isoformat()}
        except OverflowError:
            raise InvalidArgument("This leads out of the years 1 to 9999.") from None

    @reads
    def is_leap_year(self, year: int) -> dict[str, Any]:
        """Tell whether a year has a 29th of February.

        Args:
            year: The year, from 1 to 9999.

        Returns:
            leap: Whether it has.

        Examples:
            >>> is_leap_year(year=2028)
            {"leap": true}
            >>> is_leap_year(year=0)
            {"error": "year is 0: give 1 to 9999."}
        """
        check_between("year", year, 1, 9999)
        return {"leap": isleap(year)}

    @reads
    def days_in_month(self, year: int, month: int) -> dict[str, Any]:
        """Tell how many days a month has.

        Args:
            year: The year, from 1 to 9999.
            month: The month, from 1 to 12.

        Returns:
            days: The number of its days.

        Examples:
            >>> days_in_month(year=2028, month=2)
            {"days": 29}
            >>> days_in_month(year=2028, month=13)
            {"error": "month is 13: give 1 to 12."}
        """
        _check_month(year, month)
        return {"days": monthrange(year, month)[1]}

    @reads
    def iso_week(self, date: str) -> dict[str, Any]:
        """Tell the week of a date by ISO 8601, where week 1 has the year's first Thursday.

        Args:
            date: The date, such as 2026-03-31.

        Returns:
            year: The year that the week belongs to.
            week: Its number, from 1 to 53.

        Examples:
            >>> iso_week(date='2027-01-01')
            {"year": 2026, "week": 53}
            >>> iso_week(date='')
            {"error": "'' is no date: give one such as 2026-03-31."}
        """
        year, week, _ = _read(date).isocalendar()
        return {"year": year, "week": week}

    @reads
    def day_of_year(self, date: str) -> dict[str, Any]:
        """Tell which day of its year a date is.

        Args:
            date: The date, such as 2026-03-31.

        Returns:
            day: Its number, 1 for the 1st of January.

        Examples:
            >>> day_of_year(date='2028-12-31')
            {"day": 366}
            >>> day_of_year(date='2028')
            {"error": "'2028' is no date: give one such as 2026-03-31."}
        """
        return {"day": _read(date).timetuple().tm_yday}

    @reads
    def easter_sunday(self, year: int) -> dict[str, Any]:
        """Tell when Easter Sunday of the western churches is.

        Args:
            year: The year, from 1583 to 4099.

        Returns:
            date: The date.

        Examples:
            >>> easter_sunday(year=2026)
            {"date": "2026-04-05"}
            >>> easter_sunday(year=1500)
            {"error": "year is 1500: give 1583 to 4099."}
        """
        check_between("year", year, 1583, 4099)
        return {"date": easter_of(year).isoformat()}

    @reads
    def working_days(
        self, start: str, end: str, holidays: list[str] | None = None
    ) -> dict[str, Any]:
        """Count the days from Monday to Friday in a span, holidays left out.

        Args:
            start: First day of the span, such as 2026-03-31.
            end: Last day of the span, at most 10 years later.
            holidays: Dates that are no working days, or null; at most 100.

        Returns:
            days: The number of working days.

        Examples:
            >>> working_days(start='2026-04-01', end='2026-04-07', holidays=['2026-04-03'])
            {"days": 4}
            >>> working_days(start='2026-04-07', end='2026-04-01')
            {"error": "The span from 2026-04-07 to 2026-04-01 is not 0 to 3660 days long."}
        """
        check_count("holidays", holidays or [], 0, 100)
        free = {_read(holiday) for holiday in holidays or []}
        first, length = _read(start), (_read(end) - _read(start)).days
        if not 0 <= length <= 3660:
            message = f"The span from {start} to {end} is not 0 to 3660 days long."
            raise InvalidArgument(message)
        days = [first + timedelta(day) for day in range(length + 1)]
        return {"days": sum(day.weekday() < 5 and day not in free for day in days)}

    @reads
    def age_on(self, birth_date: str, date: str) -> dict[str, Any]:
        """Tell how old someone is on a day, in whole years.

        Args:
            birth_date: Date of birth, such as 1990-03-31.
            date: The day, not before.

        Returns:
            years: The age. Who was born on a 29th of February is a year older on the 1st of March
            of other years.

        Examples:
            >>> age_on(birth_date='1990-06-15', date='2026-06-14')
            {"years": 35}
            >>> age_on(birth_date='2026-06-15', date='2026-06-14')
            {"error": "2026-06-14 is before the birth on 2026-06-15."}
        """
        born, day = _read(birth_date), _read(date)
        if day < born:
            raise InvalidArgument(f"{date} is before the birth on {birth_date}.")
        before = (day.month, day.day) < (born.month, born.day)
        return {"years": day.year - born.year - before}

    @reads
    def dates_of_weekday(self, year: int, month: int, weekday: str) -> dict[str, Any]:
        """List the dates of a month that fall on a day of the week.

        Args:
            year: The year, from 1 to 9999.
            month: The month, from 1 to 12.
            weekday: The day, Monday to Sunday.

        Returns:
            dates: The dates, four or five of them.

        Examples:
            >>> dates_of_weekday(year=2026, month=2, weekday='Friday')
            {"dates": ["2026-02-06", "2026-02-13", "2026-02-20", "2026-02-27"]}
            >>> dates_of_weekday(year=2026, month=2, weekday='Fri')
            {"error": "'Fri' is no day of the week: give Monday, Tuesday, Wednesday, Thursday, ...
        """
        _check_month(year, month)
        if weekday not in _WEEKDAYS:
            known = ", ".join(_WEEKDAYS)
            raise InvalidArgument(f"{weekday!r} is no day of the week: give {known}.")
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
        raise InvalidArgument(f"{text!r:.50} is no date: give one such as 2026-03-31.")
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
