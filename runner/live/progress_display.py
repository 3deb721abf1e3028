"""Progress display of a live run: one updated line on a terminal, or a line every ten seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TextIO

from envs.state import cut
from runner.live.activity import RunActivity
from runner.records.episode_record import Outcome, RunSpending
from runner.show.terminal import escape_unprintable, format_count, tell, terminal_width

_PLAIN_SECONDS = 10.0
_UPDATE_SECONDS = 0.2
_MIN_WAIT_SECONDS = 5.0
_MAX_ERROR_CHARS = 120


class ProgressDisplay:
    """Progress display of a run with ``total`` planned episodes."""

    def __init__(
        self,
        total: int,
        stream: TextIO,
        clock: Callable[[], float],
        width: Callable[[], int] = terminal_width,
    ) -> None:
        self._total = total
        self._stream = stream
        self._moving = stream.isatty()
        self._clock = clock
        self._width = width
        self._started = clock()
        self._shown_at = self._started
        self._done = self._passed = self._errors = 0
        self._activity = RunActivity(clock)
        self._unfinished_line = False

    def count(self, outcome: Outcome | None, spent: RunSpending) -> None:
        """Count a finished episode."""
        self._done += 1
        self._passed += outcome == "passed"
        self._errors += outcome == "error"
        self._show(spent)

    def look(self, activity: RunActivity, spent: RunSpending) -> None:
        """Show the current state of the run."""
        self._activity = activity
        if self._done < self._total:
            self._show(spent)

    def say(self, text: str) -> None:
        """Show a message immediately on its own line."""
        tell(f"{self._clear_line()}turnwise: {escape_unprintable(text)}\n", self._stream)
        self._unfinished_line = False

    def close(self) -> None:
        """End an unfinished progress line with a line break."""
        if self._unfinished_line:
            tell("\n", self._stream)
            self._unfinished_line = False

    def _show(self, spent: RunSpending) -> None:
        moving, now = self._moving, self._clock()
        is_over = self._done == self._total
        if not is_over and now - self._shown_at < (_UPDATE_SECONDS if moving else _PLAIN_SECONDS):
            return
        self._shown_at = now
        line = escape_unprintable("; ".join(self._format_parts(now, spent)))
        is_partial = moving and not is_over
        shown = cut(line, self._width() - 1) if moving else line
        end = "" if is_partial else "\n"
        tell(f"{self._clear_line()}{shown}{end}", self._stream)
        self._unfinished_line = is_partial

    def _clear_line(self) -> str:
        return "\r\x1b[K" if self._unfinished_line else ""

    def _format_parts(self, now: float, spent: RunSpending) -> Iterator[str]:
        at = self._activity
        failed = self._done - self._passed - self._errors
        ended = f"{self._passed} passed, {failed} failed, {format_count(self._errors, 'error')}"
        yield f"{self._done} of {self._total} done: {ended}"
        if self._done < self._total:
            yield f"{at.in_flight} in flight{self._format_speed(now)}{self._format_remaining(now)}"
        yield from self._format_waits(now)
        cost = "" if spent.cost is None else f", ${spent.cost:.2f}"
        yield f"{spent.tokens} tokens{cost}"
        if at.trouble:
            times = ", ".join(f"{kind} {number}" for kind, number in at.trouble.most_common())
            last = [*at.words.values()][-1]
            retries = format_count(at.retries, "retry")
            yield f"{retries} ({times}), last: {cut(last, _MAX_ERROR_CHARS)}"

    def _format_waits(self, now: float) -> Iterator[str]:
        waits = self._activity.waits
        if not waits:
            return
        last = max(waits, key=lambda wait: wait.until)
        left = last.until - now
        why = ""
        if left >= _MIN_WAIT_SECONDS:
            who = "the server asks for" if last.asked_for else "the longest for"
            why = f", {who} {_format_duration(left)} more"
        reasons = [*self._activity.words]
        reason = f" after {reasons[-1]}" if reasons else ""
        yield f"{len(waits)} waiting to retry{reason}{why}"

    def _format_speed(self, now: float) -> str:
        seconds, answered = now - self._started, self._activity.answered
        return f", {answered / seconds:.1f} requests/s" if answered and seconds else ""

    def _format_remaining(self, now: float) -> str:
        if not self._done:
            return ""
        begun = self._done + min(self._activity.jobs, self._total - self._done) / 2
        left = (now - self._started) / begun * (self._total - begun)
        return f", {_format_duration(left)} left"


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {rest:02}s"
