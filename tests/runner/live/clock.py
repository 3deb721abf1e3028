"""A clock that goes as fast as nobody has anything to do."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")

_ROUNDS = 30
"""Rounds of the event loop after which everybody waits for the clock."""


class Alarm:
    """Something that is to happen later."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """See that it does not."""
        self.callback = None


class FakeClock:
    """A clock whose time passes when all wait for it.

    Attributes:
        now: The time in seconds.
        waits: How long everybody wanted to wait, in order.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._number = count()

    def time(self) -> float:
        """Return the time in seconds."""
        return self.now

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any) -> Alarm:
        """Have something called after so many seconds."""
        self.waits.append(delay)
        alarm = Alarm(lambda: callback(*args))
        heapq.heappush(self._alarms, (self.now + delay, next(self._number), alarm))
        return alarm

    async def sleep(self, seconds: float) -> None:
        """Wait as a server may, which is none of ``waits``."""
        done = asyncio.get_running_loop().create_future()
        self.call_later(seconds, lambda: done.done() or done.set_result(None))
        self.waits.pop()
        await done

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run something to its end, however long it takes by this clock."""
        return asyncio.run(self._driven(coroutine))

    async def _driven(self, coroutine: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(coroutine)
        while not task.done():
            for _ in range(_ROUNDS):
                await asyncio.sleep(0)
            if not task.done() and self._alarms:
                self.now, _, alarm = heapq.heappop(self._alarms)
                if alarm.callback is not None:
                    alarm.callback()
        return task.result()
