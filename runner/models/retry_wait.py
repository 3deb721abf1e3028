"""Reader of the waiting time that a server requests in headers or body."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_UNITS: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = r"(\d{1,9}(?:\.\d{1,9})?)\s*(ms|s|m|h|d)(?:[a-z]*)"
_DURATION = re.compile(rf"(?:{_PART}\s*){{1,5}}", re.IGNORECASE)
_PARTS = re.compile(_PART, re.IGNORECASE)
_IN_WORDS = re.compile(
    rf"\b(?:(?:try|retry)(?: again)?|wait)\W+(?:(?:in|after|for)\W*)?((?:{_PART}\s*){{1,5}})",
    re.IGNORECASE,
)
_LIMITS = ("requests", "tokens", "input-tokens", "output-tokens")
_MAX_SECONDS = 1e8
"""Maximum value that is read as seconds to wait; larger values are read as timestamps."""


def retry_after(headers: Mapping[str, str], detail: str = "") -> float | None:
    """Return the requested waiting time in seconds, or None if no waiting time is given."""
    found = {name.lower(): value.strip() for name, value in headers.items()}
    if (milliseconds := _parse_seconds(found.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    # The server's date cancels an error of its clock.
    now = _parse_timestamp(found.get("date")) or datetime.now(UTC)
    wanted = found.get("retry-after")
    for seconds in (_parse_seconds(wanted), _seconds_until(wanted, now), _find_reset(found, now)):
        if seconds is not None:
            return seconds
    worded = _IN_WORDS.search(detail)
    return _parse_duration(worded[1]) if worded else None


def _find_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    waits = []
    for limit in _LIMITS:
        for left, reset in (
            (f"x-ratelimit-remaining-{limit}", f"x-ratelimit-reset-{limit}"),
            (f"anthropic-ratelimit-{limit}-remaining", f"anthropic-ratelimit-{limit}-reset"),
        ):
            if headers.get(left) == "0":
                waits.append(_read_reset(headers.get(reset), now))
    for prefix in ("x-ratelimit", "ratelimit"):
        if headers.get(f"{prefix}-remaining") == "0":
            waits.append(_read_reset(headers.get(f"{prefix}-reset"), now))
    return max((wait for wait in waits if wait is not None), default=None)


def _read_reset(value: str | None, now: datetime) -> float | None:
    """Return the seconds until a reset; the input is a number, a duration or a timestamp."""
    number = _parse_seconds(value)
    if number is None:
        text = value or ""
        return _parse_duration(text) if _DURATION.fullmatch(text) else _seconds_until(value, now)
    if number <= _MAX_SECONDS:
        return number
    # A timestamp, in seconds or milliseconds.
    timestamp = number / 1000 if number > _MAX_SECONDS * 1000 else number
    return max(0.0, timestamp - now.timestamp())


def _parse_duration(text: str) -> float:
    return sum(float(number) * _UNITS[unit.lower()] for number, unit in _PARTS.findall(text))


def _parse_seconds(value: str | None) -> float | None:
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(value: str | None, now: datetime) -> float | None:
    moment = _parse_timestamp(value)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _parse_timestamp(value: str | None) -> datetime | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(value or "")
        except (ValueError, OverflowError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
