"""When requests may start: servers with rate limits, by a clock that takes no time."""

from __future__ import annotations

import asyncio
from math import inf
from random import Random
from typing import Any

import pytest

from runner.live.engine import JobEngine, RequestLimits
from runner.live.rate_limiter import RateLimiter, WaitCancelled
from runner.models.model_types import ModelError, Reply, Request, TransientError, Usage
from tests.runner.live.clock import FakeClock

QUESTION = Request([{"role": "user", "content": "?" * 360}], None)
LATENCY = 0.2


class Bucket:
    """A server that answers so many requests a second, and refuses the others.

    Args:
        clock: Tells the time.
        rate: How many a second.
        retry_after: For how long it asks to wait, or None.
        room: How many at once after a pause.
    """

    def __init__(
        self, clock: FakeClock, rate: float, retry_after: float | None = None, room: float = 8.0
    ) -> None:
        self.clock, self.rate, self.retry_after, self.room = clock, rate, retry_after, room
        self.left, self.at = room, 0.0
        self.starts: list[float] = []
        self.refused = 0

    async def ask(self, request: Request) -> Reply:
        """Answer a request, or refuse it."""
        now = self.clock.now
        self.left = min(self.room, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < 1:
            self.refused += 1
            await self.clock.sleep(0.005)
            raise TransientError("429", self.retry_after, kind="rate_limit")
        self.left -= 1
        self.starts.append(now)
        await self.clock.sleep(LATENCY)
        return Reply("Yes.", (), None, "stop", Usage(90, 10), LATENCY)

    async def close(self) -> None:
        """Do nothing."""


def run(clock: FakeClock, server: Bucket, lengths: list[int], limits: RequestLimits) -> list[Any]:
    """Do episodes of so many requests each; return what became of them."""
    done: list[Any] = []
    engine: JobEngine[int, Any] = JobEngine(server, limits, Random(0), clock=clock)

    async def do(length: int, ask: Any) -> str:
        try:
            for _ in range(length):
                await ask(QUESTION)
        except ModelError as error:
            return str(error)
        return "ok"

    clock.run(engine.run(lengths, do, done.append))
    assert engine.stop_reason is None
    return done


def test_a_server_that_refuses_everything_still_gets_a_request_a_minute() -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)

    async def refused() -> None:
        for _ in range(100):
            pace.refused(await pace.turn(), None)

    clock.run(refused())
    assert pace.rate == pytest.approx(1 / 60)


@pytest.mark.parametrize(
    ("rate", "retry_after", "episodes", "room"),
    [
        (8, 3.0, 100, 8),
        (2, None, 20, 60),
        *(
            pytest.param(*server, marks=pytest.mark.slow)
            for server in ((8, None, 100, 8), (8, 1.0, 100, 8), (30, 1.0, 100, 30))
        ),
    ],
)
def test_a_limited_server_serves_all_in_a_quarter_more_than_the_ideal_time(
    rate: float, retry_after: float | None, episodes: int, room: float
) -> None:
    clock = FakeClock()
    server = Bucket(clock, rate, retry_after, room)
    random = Random(1)
    lengths = sorted([random.randint(3, 17) for _ in range(episodes)], reverse=True)
    done = run(clock, server, lengths, RequestLimits(64))
    assert done == ["ok"] * episodes
    ideal = (sum(lengths) - room) / rate
    assert clock.now <= 1.25 * ideal
    assert server.refused < 0.15 * sum(lengths)


def test_a_server_that_refuses_nothing_is_held_up_by_nothing() -> None:
    clock = FakeClock()
    assert run(clock, Bucket(clock, 1e6, room=1e6), [10] * 64, RequestLimits(64)) == ["ok"] * 64
    assert clock.waits == []
    assert clock.now == pytest.approx(10 * LATENCY)


def test_a_limit_that_is_lifted_is_soon_made_use_of() -> None:
    clock = FakeClock()
    server = Bucket(clock, 2.0)

    async def lifted() -> None:
        await clock.sleep(60.0)
        server.rate = server.room = 1000.0

    async def both() -> None:
        engine: JobEngine[int, None] = JobEngine(server, RequestLimits(16), Random(0), clock=clock)

        async def do(_: int, ask: Any) -> None:
            await ask(QUESTION)

        lifting = asyncio.ensure_future(lifted())
        await engine.run(range(2000), do, lambda _: None)
        await lifting

    clock.run(both())
    # At two a second it would take a thousand.
    assert clock.now < 200.0


def most_in_a_minute(starts: list[float]) -> int:
    """Return how many starts any minute has at most."""
    return max(sum(a <= b < a + 60.0 for b in starts) for a in starts)


def test_no_minute_has_more_requests_than_the_user_allows() -> None:
    clock = FakeClock()
    server = Bucket(clock, 1e6, room=1e6)
    run(clock, server, [10] * 30, RequestLimits(32, requests=60))
    assert most_in_a_minute(server.starts) == 60
    assert clock.now == pytest.approx(299 + LATENCY)


def test_no_minute_has_more_tokens_than_the_user_allows() -> None:
    clock = FakeClock()
    server = Bucket(clock, 1e6, room=1e6)
    # Each takes 100, and is guessed to take about as many.
    run(clock, server, [10] * 30, RequestLimits(32, tokens=6000))
    assert 55 <= most_in_a_minute(server.starts) <= 62
    assert clock.now == pytest.approx(300, rel=0.05)


def test_who_waits_is_let_start_in_order_and_who_was_refused_goes_first() -> None:
    clock = FakeClock()
    pace = RateLimiter(clock, requests=60)
    order: list[str] = []

    async def turn(name: str, *, again: bool = False) -> None:
        await pace.turn(again=again)
        order.append(name)

    async def all_of_them() -> None:
        turns = [turn("a"), turn("b"), turn("c"), turn("refused", again=True)]
        await asyncio.gather(*turns)

    clock.run(all_of_them())
    assert order == ["a", "refused", "b", "c"]
    assert clock.now == 3.0


def test_waits_can_be_given_up() -> None:
    clock = FakeClock()
    pace = RateLimiter(clock, requests=60)

    async def turns() -> list[Any]:
        waiting = [asyncio.ensure_future(pace.turn()) for _ in range(4)]
        await asyncio.sleep(0)
        pace.give_up()
        return await asyncio.gather(*waiting, return_exceptions=True)

    found = clock.run(turns())
    assert [isinstance(each, WaitCancelled) for each in found] == [False, True, True, True]


class SharedServer(Bucket):
    """A server without a rate limit that refuses a share of the requests at random."""

    def __init__(
        self, clock: FakeClock, share: float, retry_after: float | None, seed: int
    ) -> None:
        super().__init__(clock, 1e6, retry_after)
        self._share, self._random = share, Random(seed)

    async def ask(self, request: Request) -> Reply:
        """Answer a request, or refuse it whatever the rate."""
        await self.clock.sleep(LATENCY)
        if self._random.random() < self._share:
            raise TransientError("429", self.retry_after, kind="rate_limit")
        return Reply("Yes.", (), None, "stop", Usage(90, 10), LATENCY)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("share", "retry_after", "most"), [(0.05, None, 1.3), (0.05, 1.0, 3), (0.14, None, 2)]
)
def test_refusals_whatever_the_rate_slow_down_only_the_refused_requests(
    share: float, retry_after: float | None, most: float, seed: int
) -> None:
    lengths = [10] * 19 + [2]
    usual = FakeClock()
    run(usual, SharedServer(usual, 0.0, None, seed), lengths, RequestLimits(16))
    clock = FakeClock()
    done = run(clock, SharedServer(clock, share, retry_after, seed), lengths, RequestLimits(16))
    assert done == ["ok"] * 20
    assert clock.now <= most * usual.now


def test_the_rate_that_a_server_sustains_is_that_of_the_last_ten_seconds() -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)

    async def ask(at: float, *, refused: bool) -> None:
        clock.now = at
        started = await pace.turn()
        if refused:
            pace.refused(started, None)
        else:
            pace.answered(started, None)

    async def ask_all() -> None:
        for _ in range(100):
            await ask(0.0, refused=False)
        for number in range(19):
            await ask(1.0 + number / 2, refused=False)
        while pace.rate == inf:
            await ask(10.5, refused=True)

    asyncio.run(ask_all())
    assert pace.rate == pytest.approx(0.85 * 1.9)
    clock.now = pace.held_until + 5.0
    assert pace.rate == pytest.approx(0.925 * 1.9)
