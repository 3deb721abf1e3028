"""When a request may start: as fast as the server answers, and no faster than the user allows.

Where a server refuses requests for its rate limit, all wait as long as it asks, and then start one
by one at a rate that it has kept up with, which grows until it refuses again. Nothing holds up the
requests of a server that refuses none.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any, NamedTuple, Protocol

_FIRST_HOLD = 0.5
"""Seconds for which all wait where the server does not say how long; doubles while it refuses."""
LONGEST_HOLD = 60.0
_SLOWER = 0.85
"""Part of the rate that a server kept up with at which requests start again."""
_BACK = 10.0
"""Seconds in which they are back at that rate; after that it is tried out whether more will do. It
is tried out less often where it costs a long wait."""
_BACK_PER_HOLD = 5.0
_BEYOND = 1.5
"""How many times as long it takes, from then on, until they start at twice that rate."""
_SHORTEST_SPAN, _LONGEST_SPAN = 1.0, 10.0
"""Seconds over which a rate is measured."""
_SLOWEST = 1 / 60
"""Requests a second."""
_MINUTE = 60.0
_MEASURED = 4096
_ROUNDING = 1e-6
"""Seconds by which a timer may be early."""


class Handle(Protocol):
    """Something that is to happen later."""

    def cancel(self) -> None:
        """See that it does not."""
        ...


class Clock(Protocol):
    """What tells the time, and wakes at a time."""

    def time(self) -> float:
        """Return the time in seconds, from any origin."""
        ...

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any) -> Handle:
        """Have something called after so many seconds."""
        ...


class RealTime:
    """The clock of the machine, and of whatever event loop runs."""

    def time(self) -> float:
        """Return the time in seconds, from any origin."""
        return monotonic()

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any) -> Handle:
        """Have something called after so many seconds."""
        return asyncio.get_running_loop().call_later(delay, callback, *args)


class GivenUp(Exception):
    """A wait that is given up."""


class Waits:
    """Waits that others can give up."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: set[asyncio.Future[None]] = set()

    async def sleep(self, seconds: float) -> None:
        """Wait.

        Raises:
            GivenUp: Somebody has given it up.
        """
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        handle = self._clock.call_later(seconds, _end, waiting)
        try:
            await waiting
        finally:
            handle.cancel()
            self._waiting.discard(waiting)

    def give_up(self) -> None:
        """Give up all waits."""
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(GivenUp())


def _end(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


class Started(NamedTuple):
    """A request that may start."""

    at: float
    """When."""
    tokens: float
    """How many it was taken to need."""


class _Waiting(NamedTuple):
    """A request that waits for its turn."""

    turn: asyncio.Future[Started]
    tokens: float


class Pace:
    """Says when requests may start.

    Args:
        clock: Tells the time.
        requests: Most requests a minute that the user allows, or None.
        tokens: Most tokens a minute that the user allows, or None.

    Attributes:
        held_until: Until when no request starts, since the server asked to wait or refused some.
        asked_to_wait: Whether it is the server that asked for it.
        refusals: How many requests it has refused.
        counts_tokens: Whether the user allows but so many.
    """

    def __init__(
        self, clock: Clock, requests: float | None = None, tokens: float | None = None
    ) -> None:
        self.held_until = -inf
        self.asked_to_wait = False
        self.refusals = 0
        self.counts_tokens = tokens is not None
        self._clock = clock
        self._most = requests / _MINUTE if requests else inf
        self._a_token = _MINUTE / tokens if tokens else 0.0
        self._queue: deque[_Waiting] = deque()
        self._timer: Handle | None = None
        self._next = self._next_tokens = -inf
        self._kept_up: float | None = None
        self._cut_at = self._measured_from = -inf
        self._in_vain = 0
        self._back = _BACK
        self._starts: deque[float] = deque(maxlen=_MEASURED)
        self._answers: deque[float] = deque(maxlen=_MEASURED)

    async def turn(self, tokens: float = 0.0, *, again: bool = False) -> Started:
        """Wait until a request may start.

        Args:
            tokens: How many it is likely to need; only asked for where they are counted.
            again: Whether it was made before, and goes first.

        Raises:
            GivenUp: The wait was given up.
        """
        if not self._queue and self._slot() <= self._clock.time():
            return self._started(tokens)
        turn: asyncio.Future[Started] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(turn, tokens)
        if again:
            self._queue.appendleft(waiting)
        else:
            self._queue.append(waiting)
        self._wake()
        return await turn

    def give_up(self) -> None:
        """Give up the waits of all."""
        for turn, _ in self._queue:
            if not turn.done():
                turn.set_exception(GivenUp())

    def _slot(self) -> float:
        """Return when the next request may start."""
        return max(self.held_until, self._next, self._next_tokens)

    def _started(self, tokens: float) -> Started:
        """Let a request start, and say by that when the next one may."""
        now = self._clock.time()
        self._next = max(self._next, now) + 1 / self.rate
        if self.counts_tokens:
            self._next_tokens = max(self._next_tokens, now) + tokens * self._a_token
        self._starts.append(now)
        if self._measured_from == -inf:
            self._measured_from = now
        return Started(now, tokens)

    def _wake(self) -> None:
        """See that whoever is first goes on when it may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._queue:
            delay = max(0.0, self._slot() - self._clock.time())
            self._timer = self._clock.call_later(delay, self._let_start)

    def _let_start(self) -> None:
        while self._queue and (
            self._queue[0].turn.done() or self._slot() <= self._clock.time() + _ROUNDING
        ):
            turn, tokens = self._queue.popleft()
            if not turn.done():
                turn.set_result(self._started(tokens))
        self._wake()

    @property
    def rate(self) -> float:
        """Requests a second that may start now."""
        if self._kept_up is None:
            return self._most
        # How often they have had the time in which they are back at the rate.
        since = (self._clock.time() - max(self._cut_at, self.held_until)) / self._back
        if since < 1:
            part = _SLOWER + (1 - _SLOWER) * max(0.0, since)
        else:
            part = 1 + ((since - 1) / _BEYOND) ** 3
        return min(self._most, max(_SLOWEST, self._kept_up * part))

    def answered(self, started: Started, tokens: float | None) -> None:
        """Take note of an answer."""
        self._in_vain = 0
        self._answers.append(self._clock.time())
        if tokens is not None:
            self._next_tokens += (tokens - started.tokens) * self._a_token
            self._wake()

    def refused(self, started: Started, retry_after: float | None) -> None:
        """Take note of a request that was refused for a rate limit.

        Args:
            started: When it began.
            retry_after: For how many seconds the server asks to wait, or None.
        """
        self.refusals += 1
        now = self._clock.time()
        self._next_tokens -= started.tokens * self._a_token
        asked = retry_after is not None
        if started.at >= self._cut_at:
            self._slow_down(now)
            self._in_vain += 1
            if retry_after is None:
                retry_after = min(_FIRST_HOLD * 2 ** (self._in_vain - 1), LONGEST_HOLD)
        if retry_after is not None:
            self._back = max(_BACK, min(retry_after, LONGEST_HOLD) * _BACK_PER_HOLD)
            self.hold(retry_after, asked=asked)

    def hold(self, seconds: float, *, asked: bool = True) -> None:
        """Let no request start for so many seconds, as the server asks, or as seems best."""
        until = self._clock.time() + seconds
        if until > self.held_until:
            self.held_until, self.asked_to_wait = until, asked
        # Nothing is to be learned from the time in which nothing may start.
        self._measured_from = self.held_until
        self._wake()

    def _slow_down(self, now: float) -> None:
        """Go on at the rate that the server kept up with, but at half the present one at least."""
        span = min(max(now - self._measured_from, _SHORTEST_SPAN), _LONGEST_SPAN)
        answered = sum(at > now - span for at in self._answers) / span
        begun = sum(at > now - span for at in self._starts) / span
        rate = min(begun, self.rate)
        # One that had grown for long was about right.
        grown = self._kept_up is not None and now - self._cut_at > self._back / 2
        self._kept_up = max((answered + rate) / 2 if grown else answered, rate / 2)
        self._cut_at = now
        self._next = now
