"""Test process with another clock, other environment variables and another machine name.

The parent process sets the time zone with ``make_zone``. If source code of the environment reads
the clock or an environment variable, the test process records the line of the code.
"""

from __future__ import annotations

import datetime
import locale
import os
import platform
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from extensions.contract.source_lines import line_in

_OFFSET = datetime.timedelta(days=11_000, hours=5, minutes=7, seconds=13, microseconds=123457)
"""An offset of 30 years moves the clock away from most dates in a config."""
_COUNTERS = ("time", "monotonic", "perf_counter", "process_time")
_READERS = ("localtime", "gmtime", "ctime")
_MACHINE = (
    (os, "getcwd", "/another/folder"), (os, "cpu_count", 99), (os, "getlogin", "another user"),
    (locale, "getlocale", ("xx_XX", "ISO8859-1")), (locale, "getpreferredencoding", "latin-1"),
    (platform, "node", "another host"), (platform, "system", "another system"),
    (socket, "gethostname", "another host"), (tempfile, "gettempdir", "/another/folder"),
)  # fmt: skip
"""Functions that describe the machine, each with its return value in the test process."""


def make_zone(day: str, *, is_long: bool) -> str:
    """Return a ``TZ`` value for a time zone in which ``day`` has 23 or 25 hours.

    Args:
        day: Date on which summer time begins or ends.
        is_long: Whether the day has 25 hours, because summer time ends; else it has 23 hours.
    """
    _, month, number = map(int, day.split("-"))
    # The notation J counts the days of a year without 29 February.
    place = datetime.date(2025, month, min(number, 28)).timetuple().tm_yday + max(0, number - 28)
    other = (place + 180) % 365 + 1
    start, end = (other, place) if is_long else (place, other)
    return f"AAA-13:45BBB,J{start},J{end}"


def shift(source: str, readings: list[str], *, is_ahead: bool) -> None:
    """Move the clock by 30 years, and change the environment variables and machine data.

    Args:
        source: Common prefix of the paths of the source files.
        readings: Receives the line of every read.
        is_ahead: Whether the clock shows a later time; else it shows an earlier time.
    """
    offset = _OFFSET if is_ahead else -_OFFSET

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def read(*args: Any, **kwargs: Any) -> Any:
            line = line_in(source, sys._getframe(1))
            readings.extend([line] if line else [])
            return function(*args, **kwargs)

        return read

    _shift_time(noted, offset.total_seconds())
    _shift_dates(noted, offset)
    _shift_variables(source, readings)
    _shift_machine(source, readings)


def _shift_time(noted: Callable[[Callable[..., Any]], Callable[..., Any]], seconds: float) -> None:
    nanoseconds = int(seconds * 1e9)
    now, form, write = time.time, time.strftime, time.asctime
    local = time.localtime
    for name in _COUNTERS:
        count, count_ns = getattr(time, name), getattr(time, f"{name}_ns")
        setattr(time, name, noted(lambda count=count: count() + seconds))
        setattr(time, f"{name}_ns", noted(lambda count=count_ns: count() + nanoseconds))
    for name in _READERS:
        read = getattr(time, name)
        later = lambda at=None, read=read: read(now() + seconds if at is None else at)  # noqa: E731
        setattr(time, name, noted(later))

    def later_local(at: Any) -> Any:
        return local(now() + seconds) if at is None else at

    time.strftime = noted(lambda text, at=None: form(text, later_local(at)))
    time.asctime = noted(lambda at=None: write(later_local(at)))


class _InstanceCheck(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])

    def __get_pydantic_core_schema__(cls, _: object, handler: Callable[[type], Any]) -> Any:
        return handler(cls.__mro__[1])


def _shift_dates(
    noted: Callable[[Callable[..., Any]], Callable[..., Any]], offset: datetime.timedelta
) -> None:
    real_time = datetime.datetime

    class date(datetime.date, metaclass=_InstanceCheck):
        @classmethod
        def today(cls) -> Any:
            other = real_time.now() + offset
            return cls(other.year, other.month, other.day)

        def __repr__(self) -> str:
            return f"datetime.{super().__repr__()}"

    class moment(datetime.datetime, metaclass=_InstanceCheck):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return super().now(tz) + offset

        @classmethod
        def utcnow(cls) -> Any:
            return super().now(datetime.UTC).replace(tzinfo=None) + offset

        @classmethod
        def today(cls) -> Any:
            return super().now() + offset

        def __repr__(self) -> str:
            return f"datetime.{super().__repr__()}"

    for kind, names in ((date, ("today",)), (moment, ("now", "utcnow", "today"))):
        for name in names:
            setattr(kind, name, classmethod(noted(vars(kind)[name].__func__)))
    moment.__name__ = moment.__qualname__ = "datetime"
    for kind in (date, moment):
        kind.__module__ = "datetime"
        setattr(datetime, kind.__name__, kind)


def _shift_variables(source: str, readings: list[str]) -> None:
    kind = type(os.environ)
    real = kind.__getitem__

    def other(self: Any, key: str) -> str:
        line = line_in(source, sys._getframe(1))
        if line is None:
            return real(self, key)
        readings.append(line)
        return f"another {key}"

    setattr(kind, "__getitem__", other)  # noqa: B010 - it is the library's own


def _shift_machine(source: str, readings: list[str]) -> None:
    for module, name, value in _MACHINE:
        if real := getattr(module, name, None):
            setattr(module, name, _other_value(source, readings, real, value))


def _other_value(
    source: str, readings: list[str], real: Callable[..., Any], value: Any
) -> Callable[..., Any]:
    busy: list[bool] = []

    @wraps(real)
    def read(*args: Any, **kwargs: Any) -> Any:
        # The search for the line reads the working directory, too.
        if busy:
            return real(*args, **kwargs)
        busy.append(True)
        line = line_in(source, sys._getframe(1))
        busy.clear()
        if line is None:
            return real(*args, **kwargs)
        readings.append(line)
        return value

    return read
