"""How far a live run has come, and what it is at: one moving line on a terminal, else plain ones.

A line says what is done, what is in flight, who asks to wait and until when, what went wrong how
often with the last one's words, and what it took. Elsewhere than on a terminal there is at most one
every ten seconds, besides the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from shutil import get_terminal_size
from typing import TextIO

from envs.state import cut
from runner.live.activity import Activity
from runner.records.record import Outcome, Spent
from runner.show.terminal import tell, visible

_QUIET = 10.0
"""Least time between plain lines, in seconds."""
_BRISK = 0.2
"""Least time between changes of a moving line, in seconds."""
_LONG_WAIT = 5.0
"""Seconds of a wait that is worth a word."""
_WORDS = 120
"""Characters of what was said of an error."""


class Meter:
    """Counts finished episodes and shows what they came to.

    Args:
        total: Episodes to do.
        stream: Where to show it.
        clock: Gives the time in seconds, from any origin.
        width: Gives the columns of the terminal.
    """

    def __init__(
        self,
        total: int,
        stream: TextIO,
        clock: Callable[[], float],
        width: Callable[[], int] = lambda: get_terminal_size().columns,
    ) -> None:
        self._total = total
        self._stream = stream
        self._moving = stream.isatty()
        self._clock = clock
        self._width = width
        self._started = clock()
        self._shown_at = self._started
        self._done = self._passed = self._errors = 0
        self._activity = Activity(clock)
        self._unfinished_line = False

    def count(self, outcome: Outcome | None, spent: Spent) -> None:
        """Take note of how an episode ended, and of what the run has used so far."""
        self._done += 1
        self._passed += outcome == "passed"
        self._errors += outcome == "error"
        self._show(spent)

    def look(self, activity: Activity, spent: Spent) -> None:
        """Take note of what the run is at; to be told every second or so."""
        self._activity = activity
        if self._done < self._total:
            self._show(spent)

    def say(self, text: str) -> None:
        """Show a line of its own, at once."""
        tell(f"{self._cleared()}turnwise: {visible(text)}\n", self._stream)
        self._unfinished_line = False

    def close(self) -> None:
        """End the moving line."""
        if self._unfinished_line:
            tell("\n", self._stream)
            self._unfinished_line = False

    def _show(self, spent: Spent) -> None:
        moving, now = self._moving, self._clock()
        over = self._done == self._total
        if not over and now - self._shown_at < (_BRISK if moving else _QUIET):
            return
        self._shown_at = now
        line = visible("; ".join(self._parts(now, spent)))
        if moving and not over:
            tell(f"{self._cleared()}{cut(line, self._width() - 1)}", self._stream)
            self._unfinished_line = True
        else:
            tell(f"{self._cleared()}{line}\n", self._stream)
            self._unfinished_line = False

    def _cleared(self) -> str:
        return "\r\x1b[K" if self._unfinished_line else ""

    def _parts(self, now: float, spent: Spent) -> Iterator[str]:
        at = self._activity
        yield f"{self._done} of {self._total} done, {self._passed} passed, {self._errors} errors"
        if self._done < self._total:
            yield f"{at.in_flight} in flight{self._left(now)}"
        yield from self._waits(now)
        cost = "" if spent.cost is None else f", ${spent.cost:.2f}"
        yield f"{spent.tokens} tokens{cost}"
        if at.trouble:
            times = ", ".join(f"{kind} {number}" for kind, number in at.trouble.most_common())
            last = [*at.words.values()][-1]
            yield f"{at.retries} retries ({times}), last: {cut(last, _WORDS)}"

    def _waits(self, now: float) -> Iterator[str]:
        waits = self._activity.waits
        if not waits:
            return
        last = max(waits, key=lambda wait: wait.until)
        left = last.until - now
        why = ""
        if left >= _LONG_WAIT:
            who = "the server asks for" if last.asked_for else "the longest for"
            why = f", {who} {_duration(left)} more"
        yield f"{len(waits)} waiting to try again{why}"

    def _left(self, now: float) -> str:
        """Return how long it will take, once that can be told: those under way are half done."""
        if not self._done:
            return ""
        begun = self._done + min(self._activity.jobs, self._total - self._done) / 2
        left = (now - self._started) / begun * (self._total - begun)
        return f", {_duration(left)} left"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {rest:02}s"
