"""When a request may start: once there is nothing else to do.

With hundreds of conversations at once our own work, not the servers, may be what takes the time.
Answers that have arrived would then wait unread behind requests being built, and the wait would
count as the server's latency. So answers are read first: whatever takes time waits for a round of
the event loop that had nothing to do, or for a moment in any case. No throughput is lost by it, for
the loop is never idle while someone waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter

_IDLE_ROUND = 100e-6
"""A round of the event loop that takes fewer seconds had nothing to do."""
_LONGEST_WAIT = 0.05
"""Seconds after which someone is let through even if the loop is never idle."""


class Pacer:
    """Lets tasks through one by one, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._last_round = 0.0
        self._last_turn = 0.0
        self._last_task: asyncio.Task[object] | None = None

    async def turn(self) -> None:
        """Wait until there is time for work.

        A task whose turn it was last, with nobody after it, goes on without a wait, once.
        """
        task, last = asyncio.current_task(), self._last_task
        self._last_task = None
        if task is last and task is not None:
            return
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waiting.append(future)
        if len(self._waiting) == 1:
            self._last_round = self._last_turn = perf_counter()
            loop.call_soon(self._round, loop)
        await future
        self._last_task = task

    def _round(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let the next task through if the round since the last call was short."""
        now = perf_counter()
        idle = now - self._last_round < _IDLE_ROUND
        self._last_round = now
        if idle or now - self._last_turn > _LONGEST_WAIT:
            self._last_turn = now
            self._let_through()
        if self._waiting:
            loop.call_soon(self._round, loop)

    def _let_through(self) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                return
