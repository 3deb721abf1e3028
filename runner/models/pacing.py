"""When a request may start: once there is nothing else to do.

With hundreds of conversations at once our own work, not the servers, may be what takes the time.
Answers that have arrived would then wait unread behind requests being built, and the wait would
count as the server's latency. So answers come first: a request is built and sent only when a round
of the event loop had nothing to do, or after a moment in any case. No throughput is lost by it, for
the loop is never idle while a request waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter

_IDLE_ROUND = 100e-6
"""A round of the event loop that is shorter than these seconds had nothing to do."""
_LONGEST_WAIT = 0.05
"""Seconds after which a request starts even if the loop is never idle."""


class Pacer:
    """Lets requests start one by one, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._last_round = 0.0
        self._last_start = 0.0

    async def turn(self) -> None:
        """Wait until a request may be built and sent."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waiting.append(future)
        if len(self._waiting) == 1:
            self._last_round = self._last_start = perf_counter()
            loop.call_soon(self._round, loop)
        await future

    def _round(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the next request if the round since the last call was short."""
        now = perf_counter()
        idle = now - self._last_round < _IDLE_ROUND
        self._last_round = now
        if idle or now - self._last_start > _LONGEST_WAIT:
            self._last_start = now
            self._start_next()
        if self._waiting:
            loop.call_soon(self._round, loop)

    def _start_next(self) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                return
