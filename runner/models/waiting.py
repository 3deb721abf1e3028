"""How long a server asks to wait, in whatever form it says so: headers, body or words."""

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
_WHAT = ("requests", "tokens", "input-tokens", "output-tokens")
_LARGEST_SPAN = 1e8
"""Numbers beyond it are no seconds but a moment."""


def retry_after(headers: Mapping[str, str], detail: str = "") -> float | None:
    """Return how many seconds a server asks to wait, None where it does not say.

    Args:
        headers: Headers of the answer.
        detail: What its body says, with the delay of a ``RetryInfo`` in it.
    """
    found = {name.lower(): value.strip() for name, value in headers.items()}
    if (milliseconds := _number(found.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    # The server's clock may be wrong; its own date is, if so, by as much.
    now = _moment(found.get("date")) or datetime.now(UTC)
    wanted = found.get("retry-after")
    for seconds in (_number(wanted), _until(wanted, now), _resets(found, now), _in_words(detail)):
        if seconds is not None:
            return seconds
    return None


def _resets(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return in how many seconds what is used up may be used again."""
    waits = []
    for what in _WHAT:
        for left, reset in (
            (f"x-ratelimit-remaining-{what}", f"x-ratelimit-reset-{what}"),
            (f"anthropic-ratelimit-{what}-remaining", f"anthropic-ratelimit-{what}-reset"),
        ):
            if headers.get(left) == "0":
                waits.append(_span(headers.get(reset), now))
    for prefix in ("x-ratelimit", "ratelimit"):
        if headers.get(f"{prefix}-remaining") == "0":
            waits.append(_span(headers.get(f"{prefix}-reset"), now))
    return max((wait for wait in waits if wait is not None), default=None)


def _span(value: str | None, now: datetime) -> float | None:
    """Return the seconds until a reset: a number of them, a duration or a moment."""
    number = _number(value)
    if number is None:
        text = value or ""
        return _duration(text) if _DURATION.fullmatch(text) else _until(value, now)
    if number <= _LARGEST_SPAN:
        return number
    # A moment, in seconds or milliseconds.
    moment = number / 1000 if number > _LARGEST_SPAN * 1000 else number
    return max(0.0, moment - now.timestamp())


def _in_words(detail: str) -> float | None:
    found = _IN_WORDS.search(detail)
    return _duration(found[1]) if found else None


def _duration(text: str) -> float:
    return sum(float(number) * _UNITS[unit.lower()] for number, unit in _PARTS.findall(text))


def _number(value: str | None) -> float | None:
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(value: str | None, now: datetime) -> float | None:
    moment = _moment(value)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _moment(value: str | None) -> datetime | None:
    """Return a moment as HTTP or RFC 3339 has it."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(value or "")
        except (ValueError, OverflowError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
