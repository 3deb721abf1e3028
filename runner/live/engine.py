"""Running many episodes at once: concurrency, retries, budgets, and stopping cleanly.

Nothing here knows what an episode is. A job is done by a coroutine that is given a way to ask the
model; what it returns is passed on, and what was not finished can be done again later.
"""

from __future__ import annotations

import asyncio
import signal
import traceback
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from statistics import median
from typing import Generic, NamedTuple, TypeVar

from runner.live.activity import Activity
from runner.live.budget import Budget, Quota, Share
from runner.live.loop import Ask, ModelAnswer
from runner.live.pace import LONGEST_HOLD, Clock, GivenUp, Pace, RealTime, Started, Waits
from runner.models.base import (
    CHARACTERS_PER_TOKEN,
    ErrorKind,
    FatalError,
    Model,
    ModelError,
    Reply,
    Request,
    RequestError,
    TransientError,
)

Job = TypeVar("Job")
Done = TypeVar("Done")

STOPPING = "stopping after what is under way, Ctrl-C again stops at once"
"""What the first Ctrl-C is answered with."""

_TIMEOUTS = 2
"""How often a request is made that takes too long: each time it is thought about, and billed."""
_REFUSALS = 3
"""How many times as often a request is made that is refused for a rate limit, and others not."""
_MANY = 8
"""When so many requests fail at once, and none is answered, it is the server that fails."""
_FIRST = 3
_GRACE = 1.5
"""How long a run that is being stopped waits without any answer, in seconds."""


class Limits(NamedTuple):
    """How hard a run may push."""

    concurrency: int = 16
    """Episodes at once."""
    attempts: int = 8
    """How often one request is tried."""
    first_wait: float = 0.5
    """Wait after the first failed attempt, in seconds; it doubles with every further one."""
    requests: int | None = None
    """Most requests a minute, or None."""
    tokens: int | None = None
    """Most tokens a minute, or None."""
    outage: float = 600.0
    """Seconds without any answer after which a run is stopped."""
    waits_for_server: bool = True
    """Whether a server that cannot be reached at the beginning is tried as often as any other; not
    where no request before the run has tested it."""


@dataclass(eq=False)
class _Tries:
    """What has become of one request so far."""

    made: int = 0
    failed: dict[ErrorKind | None, int] = field(default_factory=lambda: defaultdict(int))
    """How often it failed in which way."""
    first_failed: float = inf
    last_refused: float = -inf


class Stopped(Exception):
    """The run is being stopped; what is under way is given up, unrecorded."""


def _nobody(_: str) -> None:
    """Tell nobody."""


class Engine(Generic[Job, Done]):
    """Does jobs, several at a time, with one model.

    Args:
        model: Whom to ask.
        limits: How hard to push.
        jitter: Spreads the waits of retries, so that they do not come all at once.
        budget: What may be used.
        say: Tells the user a line.
        clock: Tells the time.
        pace: Says when requests may start, where engines have one in common.

    Attributes:
        budget: What may be used, and has been so far.
        activity: What is going on.
        stop_reason: Why the run ended before all was done, or None.
        failed: Whether what ended the run was an error and not a wish.
    """

    def __init__(
        self,
        model: Model,
        limits: Limits,
        jitter: Random,
        budget: Budget | None = None,
        say: Callable[[str], object] = _nobody,
        clock: Clock | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self.activity = Activity((clock or RealTime()).time)
        self._say = say
        self.stop_reason: str | None = None
        self.failed = False
        self._model = model
        self._limits = limits
        self._jitter = jitter
        self.pace = pace or Pace(clock or RealTime(), limits.requests, limits.tokens)
        self._quota = Quota(self.budget)
        self._stopping = asyncio.Event()
        self._at_once = False
        self._interrupted = False
        self._latencies: deque[float] = deque(maxlen=200)
        self._last_answer = 0.0
        self._clock = clock or RealTime()
        self._backoffs = Waits(self._clock)
        self._answered_at = self._clock.time()
        self._failing = 0

    async def run(
        self,
        jobs: Iterable[Job],
        do: Callable[[Job, Ask], Awaitable[Done]],
        on_done: Callable[[Done], None],
        expected: Callable[[Job], int] = lambda _: 1,
    ) -> None:
        """Do jobs until none is left or the run is stopped.

        Args:
            jobs: What to do, taken one by one.
            do: Does one of them; asks the model through what it is given.
            on_done: Told of every finished job, in the order in which they finish.
            expected: How many requests a job is expected to take, to share a budget out.
        """
        queue = iter(jobs)
        with self._interruptible():
            workers = [
                asyncio.create_task(self._work(queue, do, on_done, expected))
                for _ in range(self._limits.concurrency)
            ]
            watcher = asyncio.create_task(self._watch(workers))
            try:
                await asyncio.gather(*workers)
            except asyncio.CancelledError:
                if not self._stopping.is_set():
                    raise
            finally:
                for task in (*workers, watcher):
                    task.cancel()
                await asyncio.gather(*workers, watcher, return_exceptions=True)

    async def ask(self, request: Request, share: Share | None = None) -> ModelAnswer:
        """Put one request, trying again where that may help.

        Raises:
            Stopped: The run is being stopped.
            ModelError: There is no answer to be had.
        """
        tries, wait = _Tries(), None
        try:
            while True:
                # Who is refused goes first, but nobody stands in the way of all for ever.
                started = await self._begin(request, share, wait, first=tries.made < _FIRST)
                tries.made += 1
                try:
                    reply = await self._asked(request)
                except TransientError as error:
                    wait = self._wait_after(error, tries, started)
                else:
                    self._answered(reply, started)
                    return ModelAnswer(reply, tries.made)
        except GivenUp:
            raise Stopped from None
        finally:
            self._failing -= tries.first_failed < inf

    async def _asked(self, request: Request) -> Reply:
        """Make a request once.

        Raises:
            Stopped: It would be in vain, as any other.
            ModelError: There is no answer.
        """
        try:
            with self.activity.request():
                return await self._model.ask(request)
        except FatalError as error:
            self._count(None)
            raise self._fail(str(error)) from None
        except ModelError as error:
            self._count(None)
            if isinstance(error, RequestError):
                self._answered_at = self._clock.time()
            raise
        except Exception as error:
            # A bug in a client, or in its library, is that one request's.
            self._count(None)
            raise ModelError(_broken(error)) from error

    async def _begin(
        self, request: Request, share: Share | None, wait: float | None, *, first: bool
    ) -> Started:
        """Wait until a request may be made.

        Args:
            request: What is asked.
            share: What the job that asks has of the budget.
            wait: For how many seconds it waits as it has failed before; None where it has not.
            first: Whether it then goes before others.
        """
        if self._stopping.is_set():
            raise Stopped
        pace = self.pace
        tokens = likely_tokens(request) if pace.counts_tokens else 0.0
        if wait is None:
            started = await pace.turn(tokens)
        else:
            held = pace.held_until - self._clock.time()
            with self.activity.wait(max(wait, held), asked_for=held > wait and pace.asked_to_wait):
                if wait:
                    await self._backoffs.sleep(wait)
                started = await pace.turn(tokens, again=first)
        await self._admit(share)
        return started

    def _answered(self, reply: Reply, started: Started) -> None:
        usage = reply.usage
        tokens = None if usage.prompt is None else usage.prompt + (usage.completion or 0)
        self.pace.answered(started, tokens)
        self._answered_at = self._clock.time()
        self._count(reply)

    def stop(self, reason: str, *, at_once: bool = False) -> None:
        """Make no further request; with ``at_once`` give up those in flight.

        Args:
            reason: One line for the user.
            at_once: Whether answers are not waited for.
        """
        self.stop_reason = self.stop_reason or reason
        self._at_once = self._at_once or at_once
        self._last_answer = asyncio.get_running_loop().time()
        self._stopping.set()
        self._quota.close_all(reason)
        self._backoffs.give_up()
        self.pace.give_up()

    def _interrupt(self) -> None:
        again = self._interrupted
        self._interrupted = True
        if not again:
            self._say(STOPPING)
        self.stop("interrupted", at_once=again)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Let Ctrl-C and a polite kill stop the run instead of ending the process."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        try:
            for number in signals:
                loop.add_signal_handler(number, self._interrupt)
        except (NotImplementedError, RuntimeError, ValueError):
            # Not the main thread, or no signals on this platform: whoever called handles them.
            yield
            return
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    async def _work(
        self,
        queue: Iterator[Job],
        do: Callable[[Job, Ask], Awaitable[Done]],
        on_done: Callable[[Done], None],
        expected: Callable[[Job], int],
    ) -> None:
        while not self._stopping.is_set():
            job = next(queue, None)
            if job is None:
                return
            share, finished = self._quota.open(expected(job)), False
            try:
                with self.activity.job():
                    done = await do(job, partial(self.ask, share=share))
                finished = True
            except Stopped:
                return
            finally:
                self._quota.close(share, finished=finished)
            on_done(done)

    async def _watch(self, workers: Iterable[asyncio.Task[None]]) -> None:
        """Once the run is being stopped, give up what gets no answers any more."""
        await self._stopping.wait()
        loop = asyncio.get_running_loop()
        while not self._at_once:
            usual = median(self._latencies) if self._latencies else 0.0
            remaining = self._last_answer + max(_GRACE, 3 * usual) - loop.time()
            if remaining <= 0:
                break
            await asyncio.sleep(min(remaining, 0.1))
        for worker in workers:
            worker.cancel()

    async def _admit(self, share: Share | None) -> None:
        """Let a request pass, or raise because the run has ended or used up its budget."""
        if self._stopping.is_set():
            raise Stopped
        refusal = await self._quota.admit(share) if share else self.budget.admit()
        if self._at_once:
            raise Stopped
        if refusal is not None:
            # Answers that are on their way may still come.
            self.stop(refusal)
            raise Stopped

    def _fail(self, reason: str) -> Stopped:
        self.failed = True
        self.stop_reason = reason
        self.stop(reason, at_once=True)
        return Stopped()

    def _wait_after(self, error: TransientError, tries: _Tries, started: Started) -> float:
        """Return for how many seconds a request that failed waits, besides that all may wait.

        Raises:
            ModelError: The request gets no answer.
            Stopped: No request would.
        """
        asked_to_wait = error.retry_after or 0.0
        if error.kind == "rate_limit":
            self.pace.refused(started, error.retry_after)
        elif error.retry_after is not None:
            self.pace.hold(asked_to_wait)
        now, outage = self._clock.time(), self._limits.outage
        if asked_to_wait > outage:
            raise self._fail(f"{error}; it asks to wait for {_duration(asked_to_wait)}")
        if now - self._answered_at >= outage:
            raise self._fail(f"no answer for {_duration(now - self._answered_at)}: {error}")
        self._failing += tries.first_failed == inf
        tries.first_failed = min(tries.first_failed, now)
        self._count_failure(tries, error, now)
        if self._stopping.is_set():
            raise Stopped
        if error.kind == "rate_limit":
            return 0.0
        failed = sum(tries.failed.values()) - tries.failed["rate_limit"]
        backoff: float = min(self._limits.first_wait * 2 ** (failed - 1), LONGEST_HOLD)
        return backoff * (0.5 + self._jitter.random())

    def _count_failure(self, tries: _Tries, error: TransientError, now: float) -> None:
        """Give up a request that has been tried often enough.

        Raises:
            ModelError: It has.
            Stopped: There is nobody to answer any request.
        """
        attempts, kind = self._limits.attempts, error.kind
        if kind == "rate_limit":
            # It is the request's own fault only where others are answered meanwhile.
            tries.failed[kind] += self._answered_at >= tries.last_refused
            tries.last_refused = now
            most = attempts * _REFUSALS
        elif kind == "timeout":
            tries.failed[kind] += 1
            most = min(attempts, _TIMEOUTS)
        else:
            tries.failed["server"] += 1
            kind, most = "server", attempts
        if error.unreachable and not (self._limits.waits_for_server or self._latencies):
            raise self._fail(str(error)) from None
        if tries.failed[kind] < most or (kind == "server" and self._all_fail_since(tries, error)):
            return
        if error.unreachable:
            raise self._fail(str(error)) from None
        raise ModelError(f"{error} ({tries.made} attempts)", error.kind) from None

    def _all_fail_since(self, tries: _Tries, error: TransientError) -> bool:
        """Tell whether it is the server that fails since a request did, and not the request."""
        return (
            self._failing >= _MANY
            and not error.unreachable
            and self._answered_at <= tries.first_failed
        )

    def _count(self, reply: Reply | None) -> None:
        self._last_answer = asyncio.get_running_loop().time()
        if reply is not None:
            self._latencies.append(reply.latency)
            self.budget.count(reply.usage, reply.cost)


def likely_tokens(request: Request) -> float:
    """Return how many tokens a request is likely to need, roughly."""
    tools = len(request.tools.encoded) if request.tools else 0
    said = sum(len(str(message)) for message in request.messages)
    return (tools + said) / CHARACTERS_PER_TOKEN


def _duration(seconds: float) -> str:
    minutes = seconds / 60
    return f"{seconds:.0f} seconds" if minutes < 2 else f"{minutes:.0f} minutes"


def _broken(error: Exception) -> str:
    """Return in one line what a client broke with, and where."""
    *_, place = traceback.extract_tb(error.__traceback__)
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return f"the client broke with {said:.300} ({Path(place.filename).name}:{place.lineno})"
