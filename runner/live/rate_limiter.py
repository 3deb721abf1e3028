"""Rate limiter, which delays a request until the server can accept it.

If a server refuses many requests, all requests wait as long as the server demands. After the wait,
requests start one by one at a rate that the server has accepted before. The rate grows until the
next refusal. If the share of refused requests is small, only these requests wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any, NamedTuple, Protocol

FIRST_HOLD_SECONDS = 0.5
"""First wait if the server states no time; each further refusal doubles the wait."""
_MAX_GUESSED_SECONDS = 15.0
"""Maximum seconds to wait if the server states no time."""
MAX_HOLD_SECONDS = 60.0
_REDUCTION = 0.85
"""After a refusal, the rate starts at this share of the accepted rate."""
_MIN_RECOVERY_SECONDS = 10.0
_RECOVERY_PER_WAIT = 5.0
_RECOVERIES_TO_DOUBLE = 1.5
_MIN_SPAN_SECONDS, _MAX_SPAN_SECONDS = 1.0, 10.0
"""Shortest and longest period for measuring a rate."""
_MIN_RATE = 1 / 60
_MINUTE = 60.0
_MAX_SHARED = 32
"""The share of refused requests is computed from at most this many recent requests."""
_LIMIT, _REDUCED_LIMIT = (0.35, 24), (0.2, 8)
"""Maximum share of refused requests, and minimum number of measured requests."""
_MAX_REDUCTIONS, _MAX_REFUSED_PER_ANSWER = 3, 2
"""After this many reductions, Turnwise assumes that the server is busy and resets the rate."""
FIRST_ALONE_SECONDS, MAX_ALONE_SECONDS = 0.1, 4.0
"""First and longest wait of a refused request, unless the server states a longer wait."""
_MEASURED = 4096
_MAX_TIMER_ERROR_SECONDS = 1e-6


class TimerHandle(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """Cancel the call."""


class Clock(Protocol):
    """A clock with timers."""

    def time(self) -> float:
        """Return the time in seconds since an arbitrary origin."""

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any) -> TimerHandle:
        """Schedule a call after some seconds."""


class SystemClock:
    """The machine's clock, with the timers of the running event loop."""

    def time(self) -> float:
        """Return the time in seconds since an arbitrary origin."""
        return monotonic()

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any) -> TimerHandle:
        """Schedule a call after some seconds."""
        return asyncio.get_running_loop().call_later(delay, callback, *args)


class WaitCancelled(Exception):
    """A cancelled wait."""


class CancellableWaits:
    """Group of waits. A single call cancels the whole group."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: set[asyncio.Future[None]] = set()

    async def sleep(self, seconds: float) -> None:
        """Wait some seconds. Raises WaitCancelled if the wait was cancelled."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        handle = self._clock.call_later(seconds, _end_wait, waiting)
        try:
            await waiting
        finally:
            handle.cancel()
            self._waiting.discard(waiting)

    def give_up(self) -> None:
        """Cancel all waits."""
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(WaitCancelled())


def _end_wait(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


class AdmittedRequest(NamedTuple):
    """An admitted request, with its start time and estimated tokens."""

    at: float
    tokens: float


class _QueuedRequest(NamedTuple):
    turn: asyncio.Future[AdmittedRequest]
    tokens: float


class RateLimiter:
    """Rate limiter of requests.

    Args:
        clock: Clock with timers.
        requests: Maximum requests per minute, or None.
        tokens: Maximum tokens per minute, or None.
    """

    def __init__(
        self, clock: Clock, requests: float | None = None, tokens: float | None = None
    ) -> None:
        self.held_until = -inf
        """Earliest start time of the next request."""
        self.asked_to_wait = False
        """Whether the server stated how long requests must wait."""
        self.counts_tokens = tokens is not None
        """Whether tokens are limited."""
        self._clock = clock
        self._max_rate = requests / _MINUTE if requests else inf
        self._seconds_per_token = _MINUTE / tokens if tokens else 0.0
        self._queue: deque[_QueuedRequest] = deque()
        self._timer: TimerHandle | None = None
        self._next = self._next_tokens = -inf
        self._sustained: float | None = None
        self._cut_at = self._measured_from = -inf
        self._refused_in_row = self._reductions = 0
        self._usual_share = 0.0
        self._back = _MIN_RECOVERY_SECONDS
        self._starts: deque[float] = deque(maxlen=_MEASURED)
        self._answers: deque[float] = deque(maxlen=_MEASURED)
        self._latest: deque[AdmittedRequest] = deque(maxlen=_MAX_SHARED)
        self._refused: deque[AdmittedRequest] = deque(maxlen=_MAX_SHARED)

    async def turn(self, tokens: float = 0.0, *, again: bool = False) -> AdmittedRequest:
        """Wait until a request may start. Retries start first.

        Raises WaitCancelled if the wait was cancelled.
        """
        if not self._queue and self._find_next_start() <= self._clock.time():
            return self._start(tokens)
        turn: asyncio.Future[AdmittedRequest] = asyncio.get_running_loop().create_future()
        waiting = _QueuedRequest(turn, tokens)
        (self._queue.appendleft if again else self._queue.append)(waiting)
        self._wake()
        return await turn

    def give_up(self) -> None:
        """Cancel the waits of all requests."""
        for turn, _ in self._queue:
            if not turn.done():
                turn.set_exception(WaitCancelled())

    def _find_next_start(self) -> float:
        return max(self.held_until, self._next, self._next_tokens)

    def _start(self, tokens: float) -> AdmittedRequest:
        now = self._clock.time()
        self._next = max(self._next, now) + 1 / self.rate
        if self.counts_tokens:
            self._next_tokens = max(self._next_tokens, now) + tokens * self._seconds_per_token
        self._starts.append(now)
        if self._measured_from == -inf:
            self._measured_from = now
        started = AdmittedRequest(now, tokens)
        self._latest.append(started)
        return started

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._queue:
            delay = max(0.0, self._find_next_start() - self._clock.time())
            self._timer = self._clock.call_later(delay, self._start_waiting)

    def _start_waiting(self) -> None:
        while self._queue and (
            self._queue[0].turn.done()
            or self._find_next_start() <= self._clock.time() + _MAX_TIMER_ERROR_SECONDS
        ):
            turn, tokens = self._queue.popleft()
            if not turn.done():
                turn.set_result(self._start(tokens))
        self._wake()

    @property
    def rate(self) -> float:
        """Current limit of requests per second."""
        if self._sustained is None:
            return self._max_rate
        since = (self._clock.time() - max(self._cut_at, self.held_until)) / self._back
        if since < 1:
            part = _REDUCTION + (1 - _REDUCTION) * max(0.0, since)
        else:
            part = 1 + ((since - 1) / _RECOVERIES_TO_DOUBLE) ** 3
        return min(self._max_rate, max(_MIN_RATE, self._sustained * part))

    def answered(self, started: AdmittedRequest, tokens: float | None) -> None:
        """Count an answer and its tokens."""
        self._refused_in_row = 0
        self._answers.append(self._clock.time())
        if tokens is not None:
            self._next_tokens += (tokens - started.tokens) * self._seconds_per_token
            self._wake()

    def refused(self, started: AdmittedRequest, retry_after: float | None) -> bool:
        """Count a refusal; return whether all requests must wait, not only the refused request."""
        self._refused.append(started)
        now = self._clock.time()
        self._next_tokens -= started.tokens * self._seconds_per_token
        asked = retry_after is not None
        if started.at >= self._cut_at:
            if not self._is_limited():
                return False
            self._slow_down(now)
            self._refused_in_row += 1
            if retry_after is None:
                retry_after = min(
                    FIRST_HOLD_SECONDS * 2 ** (self._refused_in_row - 1), _MAX_GUESSED_SECONDS
                )
        if retry_after is not None:
            recovery = min(retry_after, MAX_HOLD_SECONDS) * _RECOVERY_PER_WAIT
            self._back = max(_MIN_RECOVERY_SECONDS, recovery)
            self.hold(retry_after, asked=asked)
        return True

    def _is_limited(self) -> bool:
        """Tell whether the request rate causes the refusals."""
        latest = {id(each) for each in self._latest if each.at >= self._cut_at}
        refusals = {id(each) for each in self._refused}
        refused = len(latest & refusals)
        least, number = _LIMIT if self._sustained is None else _REDUCED_LIMIT
        has_grown = refused == 1 and self._sustained is not None and self.rate > self._sustained
        share = refused / max(len(latest), number)
        if not has_grown and share < self._usual_share + least * (1 - self._usual_share):
            return False
        if has_grown and len(latest) >= number:
            self._reductions, self._usual_share = 0, 0.0
        answered = sum(at > self._measured_from for at in self._answers)
        self._reductions += refused <= _MAX_REFUSED_PER_ANSWER * answered
        if self._reductions <= _MAX_REDUCTIONS:
            return True
        self._sustained, self._reductions, self._cut_at = None, 0, -inf
        self._usual_share = sum(id(each) in refusals for each in self._latest) / len(self._latest)
        self._latest.clear()
        return False

    def hold(self, seconds: float, *, asked: bool = True) -> None:
        """Hold all requests for some seconds; ``asked`` is true if the server stated this time."""
        until = self._clock.time() + seconds
        if until > self.held_until:
            self.held_until, self.asked_to_wait = until, asked
        # Rates are not measured while no request may start.
        self._measured_from = self.held_until
        self._wake()

    def _slow_down(self, now: float) -> None:
        span = min(max(now - self._measured_from, _MIN_SPAN_SECONDS), _MAX_SPAN_SECONDS)
        # A server that answers nothing for a while may count the requests of a minute.
        answered = self._measure(self._answers, span) or self._measure(self._answers, _MINUTE)
        rate = min(self._measure(self._starts, span), self.rate)
        # If the rate has grown for a long time, it was about right.
        grown = self._sustained is not None and now - self._cut_at > self._back / 2
        self._sustained = max((answered + rate) / 2 if grown else answered, rate / 2)
        self._cut_at = self._next = now

    def _measure(self, times: deque[float], span: float) -> float:
        now = self._clock.time()
        span = min(span, max(now - self._starts[0], _MIN_SPAN_SECONDS))
        return sum(at > now - span for at in times) / span
