"""When requests may start: servers with rate limits, by a clock that takes no time."""

from __future__ import annotations

import asyncio
from bisect import bisect
from math import inf
from random import Random
from typing import Any

import pytest

from runner.live.engine import JobEngine, RequestLimits
from runner.live.rate_limiter import (
    AdmittedRequest,
    CancellableWaits,
    RateLimiter,
    WaitCancelled,
)
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


class Window(Bucket):
    """A server that answers so many requests in a period, and refuses the others until it ends.

    A sliding period ends for each request alone.
    """

    def __init__(
        self, clock: FakeClock, number: int, seconds: float, begun: float, *, sliding: bool
    ) -> None:
        super().__init__(clock, 0.0)
        self.number, self.seconds, self.begun, self.sliding = number, seconds, begun, sliding

    async def ask(self, request: Request) -> Reply:
        """Answer a request, or refuse it."""
        end = self.clock.now + self.begun
        first = end - self.seconds if self.sliding else end // self.seconds * self.seconds
        self.left = self.number - len(self.starts) + bisect(self.starts, first - self.begun)
        return await super().ask(request)


@pytest.mark.parametrize("sliding", [False, True])
@pytest.mark.parametrize(
    ("number", "seconds"),
    [(160, 20.0), (60, 60.0), pytest.param(480, 60.0, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("begun", [0.4, pytest.param(0.0, marks=pytest.mark.slow)])
def test_a_limit_for_a_period_takes_at_most_half_as_long_again_as_needed(
    number: int, seconds: float, begun: float, sliding: bool
) -> None:
    clock = FakeClock()
    server = Window(clock, number, seconds, begun * seconds, sliding=sliding)
    periods = 6
    done = run(clock, server, [10] * (periods * number // 10), RequestLimits(64))
    assert set(done) == {"ok"}
    ideal = (periods - 1 - (0.0 if sliding else begun)) * seconds
    assert clock.now <= 1.5 * ideal


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


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 10))]
)
@pytest.mark.parametrize(
    ("share", "retry_after", "most"),
    [
        (0.05, None, 1.3),
        (0.05, 1.0, 3),
        (0.14, None, 2),
        (0.25, None, 4),
        (0.4, None, 16),
        (0.6, None, 30),
    ],
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


def admit(pace: RateLimiter, number: int = 1, tokens: float = 0.0) -> list[AdmittedRequest]:
    """Start requests, of which none has to wait."""
    admitted = []
    for _ in range(number):
        with pytest.raises(StopIteration) as ended:
            pace.turn(tokens).send(None)
        admitted.append(ended.value.value)
    return admitted


def limit(
    clock: FakeClock, pace: RateLimiter, wait: float | None = None, answered: int = 11
) -> list[AdmittedRequest]:
    """Have a server answer 11 of 20 requests within a second, refuse 9, and limit the rate."""
    started = admit(pace, 20)
    clock.now += 0.75
    for each in started[:answered]:
        pace.answered(each, None)
    assert [pace.refused(each, wait) for each in started[11:]] == [False] * 8 + [True]
    return started


@pytest.mark.parametrize(
    ("requests", "refused", "is_limit"),
    [
        *((8, 8, False), (9, 9, True), (24, 8, False), (24, 9, True), (25, 9, True)),
        *((26, 9, False), (32, 11, False), (32, 12, True), (40, 11, False), (40, 12, True)),
    ],
)
def test_a_limit_refuses_a_third_of_the_last_24_to_32_requests(
    requests: int, refused: int, is_limit: bool
) -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    started = admit(pace, requests)
    # Earlier requests than the last 32 do not count.
    for each in started[: max(0, requests - 32)]:
        assert not pace.refused(each, 7.0)
    found = [pace.refused(each, None) for each in started[-refused:]]
    assert found == [False] * (refused - 1) + [is_limit]
    assert (pace.held_until, pace.asked_to_wait) == (0.5 if is_limit else -inf, False)
    assert (pace.rate < inf) is is_limit


@pytest.mark.parametrize(
    ("requests", "refused", "is_limit"),
    [(2, 1, False), (2, 2, True), (8, 1, False), (8, 2, True), (10, 2, True), (11, 2, False)],
)
def test_a_reduced_rate_is_too_high_if_a_fifth_of_its_requests_is_refused(
    requests: int, refused: int, is_limit: bool
) -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    limit(clock, pace)
    assert pace.held_until == 1.25
    started = []
    for number in range(requests):
        clock.now = 1.25 + number / 4
        started += admit(pace)
    found = [pace.refused(each, None) for each in started[-refused:]]
    assert found == [False] * (refused - 1) + [is_limit]
    # The second refusal in a row doubles the wait.
    assert pace.held_until == (clock.now + 1.0 if is_limit else 1.25)


@pytest.mark.parametrize(("seconds", "is_limit"), [(10.0, False), (10.25, True)])
def test_a_single_refusal_ends_the_growth_beyond_the_sustained_rate(
    seconds: float, is_limit: bool
) -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    limit(clock, pace)
    clock.now = pace.held_until + seconds
    assert pace.refused(admit(pace)[0], None) is is_limit


@pytest.mark.parametrize(
    ("seconds", "factor"),
    [(-0.5, 0.85), (0, 0.85), (5, 0.925), (10, 1), (17.5, 1.125), (25, 2), (40, 9)],
)
@pytest.mark.parametrize(("wait", "recovery"), [(None, 10), (1, 10), (4, 20), (60, 300), (90, 300)])
def test_the_rate_recovers_and_then_grows(
    seconds: float, factor: float, wait: float | None, recovery: float
) -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    limit(clock, pace, wait)
    assert pace.held_until - clock.now == (wait or 0.5)
    assert pace.asked_to_wait is (wait is not None)
    clock.now = pace.held_until + seconds * recovery / 10
    # The server answered 11 requests within the second.
    assert pace.rate == pytest.approx(11 * factor)


@pytest.mark.parametrize(("answered", "sustained"), [(11, 11.0), (10, 10.0), (9, 10.0), (0, 10.0)])
def test_a_refusal_halves_the_rate_at_most(answered: int, sustained: float) -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    limit(clock, pace, answered=answered)
    clock.now = pace.held_until + 10.0
    assert pace.rate == sustained


def test_the_growing_rate_stays_below_the_maximum() -> None:
    clock = FakeClock()
    pace = RateLimiter(clock, requests=960)
    for number in range(20):
        clock.now = number / 16
        started = admit(pace)
        if number < 11:
            pace.answered(started[0], None)
        else:
            pace.refused(started[0], None)
    clock.now = pace.held_until + 10.0
    # The measured time begins after the first answer.
    assert pace.rate == pytest.approx(10 / 1.1875)
    clock.now += 90.0
    assert pace.rate == 16.0


@pytest.mark.parametrize(("end", "is_steady"), [(5.0, False), (5.75, False), (6.0, True)])
@pytest.mark.parametrize("answered", [12, 6])
def test_a_rate_that_has_recovered_for_five_seconds_is_reduced_less(
    end: float, is_steady: bool, answered: int
) -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    limit(clock, pace)
    started = []
    for number in range(15):
        clock.now = 1.5 + number / 8
        started += admit(pace)
    for each in started[:answered]:
        pace.answered(each, None)
    clock.now = end
    assert [pace.refused(each, None) for each in started[12:]] == [False, False, True]
    # Nothing is measured during the wait until 1.25.
    accepted, begun = answered / (end - 1.25), 15 / (end - 1.25)
    expected = (accepted + begun) / 2 if is_steady else max(accepted, begun / 2)
    clock.now = pace.held_until + 10.0
    assert pace.rate == pytest.approx(expected)


def test_rates_are_measured_from_the_first_request() -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    clock.now = 100.0
    started = admit(pace, 20)
    clock.now = 104.0
    for each in started[:8]:
        pace.answered(each, None)
    for each in started[8:]:
        pace.refused(each, None)
    clock.now = pace.held_until + 10.0
    # The server answered eight requests in four seconds.
    assert pace.rate == 2.0


@pytest.mark.parametrize(("wait", "held"), [(None, 1.25), (0.25, 1.25), (7.0, 7.75)])
def test_a_late_refusal_changes_only_the_wait(wait: float | None, held: float) -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    started = limit(clock, pace)
    assert pace.refused(started[0], wait)
    assert (pace.held_until, pace.asked_to_wait) == (held, held > 1.25)
    clock.now = held
    assert pace.rate == pytest.approx(0.85 * 11)


def test_a_shorter_wait_or_an_equal_one_changes_nothing() -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    pace.hold(5.0, asked=False)
    pace.hold(5.0)
    pace.hold(4.0)
    assert (pace.held_until, pace.asked_to_wait) == (5.0, False)
    pace.hold(5.5)
    assert (pace.held_until, pace.asked_to_wait) == (5.5, True)


def test_waits_without_a_stated_time_double_up_to_15_seconds_until_an_answer() -> None:
    clock = FakeClock()
    pace = RateLimiter(clock)
    limit(clock, pace)
    waits: list[float] = []

    async def refuse(times: int) -> None:
        while len(waits) < times:
            if pace.refused(await pace.turn(), None):
                waits.append(pace.held_until - clock.now)

    clock.run(refuse(8))
    assert waits == pytest.approx([1, 2, 4, 8, 15, 15, 15, 15])
    pace.answered(clock.run(pace.turn()), None)
    clock.run(refuse(9))
    assert waits[-1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("guess", "used", "start"), [(5, None, 5), (5, 8, 8), (5, 2, 2), (0, 3, 3), (5, "refused", 0)]
)
def test_the_next_request_waits_for_the_tokens_of_the_last(
    guess: float, used: Any, start: float
) -> None:
    clock = FakeClock()
    pace = RateLimiter(clock, tokens=60)
    assert pace.counts_tokens
    assert not RateLimiter(clock, requests=60).counts_tokens
    (first,) = admit(pace, tokens=guess)
    assert first == (0.0, guess)
    waiting: list[AdmittedRequest] = []

    async def wait() -> None:
        if used == "refused":
            pace.refused(first, None)
        else:
            pace.answered(first, used)
        waiting.append(await pace.turn(4))
        waiting.append(await pace.turn())

    clock.run(wait())
    assert [each.at for each in waiting] == [start, start + 4]


def test_requests_in_the_queue_wait_for_a_later_hold_and_cancelled_ones_take_no_turn() -> None:
    clock = FakeClock()
    pace = RateLimiter(clock, requests=60)
    starts: list[float] = []

    async def turn() -> None:
        starts.append((await pace.turn()).at)

    async def turns() -> None:
        waiting = [asyncio.ensure_future(turn()) for _ in range(4)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        pace.hold(10.0)
        await asyncio.gather(*waiting, return_exceptions=True)
        later = asyncio.ensure_future(turn())
        await asyncio.sleep(0)
        later.cancel()
        await asyncio.sleep(0)
        # A cancelled request cannot be given up as well.
        pace.give_up()
        await clock.sleep(1.0)

    clock.run(turns())
    assert starts == [0.0, 10.0, 11.0]
    # A request does not wait if it arrives exactly when the next request may start.
    clock.now, clock.waits = 12.0, []
    assert [each.at for each in admit(pace)] == [12.0]
    assert clock.waits == []


def test_cancelled_waits_end_and_others_take_their_time() -> None:
    clock = FakeClock()
    waits = CancellableWaits(clock)

    async def wait() -> list[Any]:
        await waits.sleep(2.0)
        assert clock.now == 2.0
        sleeping = [asyncio.ensure_future(waits.sleep(5.0)) for _ in range(3)]
        await asyncio.sleep(0)
        sleeping[0].cancel()
        waits.give_up()
        waits.give_up()
        return await asyncio.gather(*sleeping, return_exceptions=True)

    cancelled, *given_up = clock.run(wait())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert [type(each) for each in given_up] == [WaitCancelled] * 2
    assert clock.now == 2.0
