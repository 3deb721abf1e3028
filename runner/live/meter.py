"""How far a live run has come: one moving line on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from runner.records.record import EpisodeRecord, Spent
from runner.show.terminal import tell

_QUIET = 10.0
"""Least time between plain lines, in seconds."""


class Meter:
    """Counts finished episodes and shows what they came to.

    Args:
        total: Episodes to do.
        stream: Where to show it.
        clock: Gives the time in seconds, from any origin.
    """

    def __init__(self, total: int, stream: TextIO, clock: Callable[[], float]) -> None:
        self._total = total
        self._stream = stream
        self._clock = clock
        self._started = clock()
        self._shown_at = self._started
        self._done = self._passed = self._errors = 0

    def count(self, record: EpisodeRecord, spent: Spent) -> None:
        """Take note of a finished episode, and of what the run has used so far."""
        self._done += 1
        self._passed += record.outcome == "passed"
        self._errors += record.outcome == "error"
        moving, now = self._stream.isatty(), self._clock()
        if moving or self._done == self._total or now - self._shown_at >= _QUIET:
            self._shown_at = now
            start, end = ("\r\x1b[K", "") if moving and self._done < self._total else ("", "\n")
            tell(f"{start}{self._line(now, spent)}{end}", self._stream)

    def _line(self, now: float, spent: Spent) -> str:
        cost = "" if spent.cost is None else f", ${spent.cost:.2f}"
        left = (now - self._started) / self._done * (self._total - self._done)
        return (
            f"{self._done} of {self._total} done, {self._passed} passed, {self._errors} errors, "
            f"{spent.tokens} tokens{cost}, {_duration(left)} left"
        )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {rest:02}s"
