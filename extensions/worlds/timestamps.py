"""Timestamps to the minute, as strings; their alphabetical order is chronological."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from envs.errors import InvalidArgument

Moment = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$")]
"""Timestamp such as 2026-03-02T09:30."""

FIRST, LAST = "0001-01-01T00:00", "9999-12-31T23:59"


def is_moment(text: str) -> bool:
    """Tell whether a well-formed timestamp is a real date and time."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def read_moment(text: str) -> datetime:
    """Parse a timestamp for calculations. Raises InvalidArgument if the date does not exist."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(f"{text!r:.40} is not a time such as 2026-03-02T09:30.") from None


def shift(text: str, minutes: int) -> str:
    """Return a timestamp some minutes later or earlier."""
    try:
        return write_moment(read_moment(text) + timedelta(minutes=minutes))
    except OverflowError:
        return LAST if minutes > 0 else FIRST


def write_moment(moment: datetime) -> str:
    """Format a timestamp."""
    return moment.isoformat(timespec="minutes")
