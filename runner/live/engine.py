"""Engine for concurrent jobs, with retries, budgets and a clean stop.

A job is a coroutine. The engine gives each job a function that sends requests to the model. The
engine is independent of the content of the jobs.
"""

from __future__ import annotations

import asyncio
import signal
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from random import Random
from statistics import median
from typing import Generic, NamedTuple, TypeVar

from envs.errors import describe_exception
from envs.tool import locate_error
from runner.live.activity import RunActivity
from runner.live.budget import Budget, BudgetAllocator, BudgetShare
from runner.live.episode_player import Ask, ModelAnswer
from runner.live.rate_limiter import (
    FIRST_ALONE_SECONDS,
    MAX_ALONE_SECONDS,
    MAX_HOLD_SECONDS,
    AdmittedRequest,
    CancellableWaits,
    Clock,
    RateLimiter,
    SystemClock,
    WaitCancelled,
)
from runner.models.model_types import (
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

STOPPING = "stopping after the requests in flight; press Ctrl-C again to stop at once"

FIRST_ATTEMPTS = 3
"""Attempts with which a request precedes other requests; also the attempts of a first request."""
_TIMEOUTS = 2
"""Maximum number of attempts for a request that times out. The provider bills each attempt."""
_REFUSALS = 3
"""Maximum attempts of a rate-limited request, as a multiple of the usual maximum."""
_MIN_FAILING_REQUESTS = 8
"""After this many failures without a single answer, the server is regarded as the cause."""
_STOP_SECONDS = 1.5
"""Minimum seconds to wait for another answer before the run stops."""


class RequestLimits(NamedTuple):
    """Limits on the load of a server."""

    concurrency: int = 16
    attempts: int = 8
    first_wait: float = 0.5
    """Seconds before the first retry; doubles with every further retry."""
    requests: int | None = None
    tokens: int | None = None
    outage: float = 600.0
    """The run stops if the server sends no answer for this many seconds."""
    waits_for_server: bool = True
    """Whether to keep retrying if the server is unreachable or fails from the start."""


@dataclass(eq=False)
class _RequestState:
    made: int = 0
    failed: dict[ErrorKind | None, int] = field(default_factory=lambda: defaultdict(int))
    first_failed: float = inf
    last_refused: float = -inf


class RunStopped(Exception):
    """The run stops.

    Running jobs are dropped without a record.
    """


class JobEngine(Generic[Job, Done]):
    """Concurrent execution of jobs with one model.

    Args:
        model: Client of the model.
        limits: Limits on the load.
        jitter: Random source for waits before retries.
        say: Function that shows the user a line.
        pace: Rate limiter that several engines share, or None.
    """

    def __init__(
        self,
        model: Model,
        limits: RequestLimits,
        jitter: Random,
        budget: Budget | None = None,
        say: Callable[[str], object] = lambda _: None,
        clock: Clock | None = None,
        pace: RateLimiter | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self.budget = budget or Budget()
        self.activity = RunActivity(self._clock.time)
        """Current state of the work."""
        self._say = say
        self.stop_reason: str | None = None
        """Reason why the run stopped early; None if it did not stop early."""
        self.failed = False
        """Whether an error ended the run."""
        self._model = model
        self._limits = limits
        self._jitter = jitter
        self.pace = pace or RateLimiter(self._clock, limits.requests, limits.tokens)
        self._allocator = BudgetAllocator(self.budget)
        self._stopping = asyncio.Event()
        self._at_once = False
        self._interrupted = False
        self._latencies: deque[float] = deque(maxlen=200)
        self._last_answer = 0.0
        self._backoffs = CancellableWaits(self._clock)
        self._answered_at = self._clock.time()
        self._failing = 0

    async def run(
        self,
        jobs: Collection[Job],
        do: Callable[[Job, Ask], Awaitable[Done]],
        on_done: Callable[[Done], None],
        expected: Callable[[Job], int] = lambda _: 1,
    ) -> None:
        """Do jobs until all jobs are done or the run stops.

        ``do(job, send)`` executes a job; ``send`` is a function that sends requests. ``expected``
        estimates the number of requests of a job. The engine reserves budget for these requests.
        """
        queue = iter(jobs)
        with self._interruptible():
            workers = [
                asyncio.create_task(self._work(queue, do, on_done, expected))
                for _ in range(min(self._limits.concurrency, len(jobs) or 1))
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

    async def ask(self, request: Request, share: BudgetShare | None = None) -> ModelAnswer:
        """Send a request, with retries.

        Raises:
            RunStopped: The run stops.
            ModelError: The request got no answer.
        """
        state, wait = _RequestState(), None
        try:
            while True:
                # A refused request goes before the others, but only for its first retries.
                started = await self._begin(request, share, wait, first=state.made < FIRST_ATTEMPTS)
                state.made += 1
                try:
                    reply = await self._send(request)
                except TransientError as error:
                    wait = self._find_backoff(error, state, started)
                else:
                    prompt, completion = reply.usage[:2]
                    tokens = None if prompt is None else prompt + (completion or 0)
                    self.pace.answered(started, tokens)
                    self._answered_at = self._clock.time()
                    self._count(reply)
                    return ModelAnswer(reply, state.made)
        except WaitCancelled:
            raise RunStopped from None
        finally:
            self._failing -= state.first_failed < inf

    async def _send(self, request: Request) -> Reply:
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
            # A bug in a client or its library ends only this request.
            self._count(None)
            raise ModelError(_describe_bug(error)) from error

    async def _begin(
        self, request: Request, share: BudgetShare | None, wait: float | None, *, first: bool
    ) -> AdmittedRequest:
        if self._stopping.is_set():
            raise RunStopped
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

    def stop(self, reason: str, *, at_once: bool = False) -> None:
        """Stop sending requests; with ``at_once``, also drop requests in flight."""
        self.stop_reason = self.stop_reason or reason
        self._at_once = self._at_once or at_once
        self._last_answer = asyncio.get_running_loop().time()
        self._stopping.set()
        self._allocator.close_all(reason)
        self._backoffs.give_up()
        self.pace.give_up()

    def _interrupt(self) -> None:
        again, self._interrupted = self._interrupted, True
        if not again:
            self._say(STOPPING)
        self.stop("interrupted", at_once=again)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        try:
            for number in signals:
                loop.add_signal_handler(number, self._interrupt)
        except (NotImplementedError, RuntimeError, ValueError):
            # In another thread, or on a platform without signals, the caller handles Ctrl-C.
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
            share, finished = self._allocator.open(expected(job)), False
            try:
                with self.activity.job():
                    done = await do(job, partial(self.ask, share=share))
                finished = True
            except RunStopped:
                return
            finally:
                self._allocator.close(share, finished=finished)
            on_done(done)
            del done  # without this, the record stays in memory during the next job

    async def _watch(self, workers: Iterable[asyncio.Task[None]]) -> None:
        await self._stopping.wait()
        loop = asyncio.get_running_loop()
        while not self._at_once:
            latency = median(self._latencies) if self._latencies else 0.0
            remaining = self._last_answer + max(_STOP_SECONDS, 3 * latency) - loop.time()
            if remaining <= 0:
                break
            await asyncio.sleep(min(remaining, 0.1))
        for worker in workers:
            worker.cancel()

    async def _admit(self, share: BudgetShare | None) -> None:
        if self._stopping.is_set():
            raise RunStopped
        refusal = await self._allocator.admit(share) if share else self.budget.admit()
        if self._at_once:
            raise RunStopped
        if refusal is not None:
            # Requests in flight may still be answered.
            self.stop(refusal)
            raise RunStopped

    def _fail(self, reason: str) -> RunStopped:
        self.failed = True
        self.stop_reason = reason
        self.stop(reason, at_once=True)
        return RunStopped()

    def _find_backoff(
        self, error: TransientError, state: _RequestState, started: AdmittedRequest
    ) -> float:
        asked_to_wait = error.retry_after or 0.0
        alone = False
        if error.kind == "rate_limit":
            alone = not self.pace.refused(started, error.retry_after)
        elif error.retry_after is not None:
            self.pace.hold(asked_to_wait)
        now, outage = self._clock.time(), self._limits.outage
        if asked_to_wait > outage:
            raise self._fail(
                f"{error}; the server asks for a wait of {_format_duration(asked_to_wait)}"
            )
        if now - self._answered_at >= outage:
            raise self._fail(f"no answer for {_format_duration(now - self._answered_at)}: {error}")
        self._failing += state.first_failed == inf
        state.first_failed = min(state.first_failed, now)
        self._count_failure(state, error, now)
        if self._stopping.is_set():
            raise RunStopped
        first, most = self._limits.first_wait, MAX_HOLD_SECONDS
        failed = sum(state.failed.values()) - state.failed["rate_limit"]
        if error.kind == "rate_limit":
            if not alone or error.retry_after is not None:
                return asked_to_wait if alone else 0.0
            first, most, failed = FIRST_ALONE_SECONDS, MAX_ALONE_SECONDS, state.failed["rate_limit"]
        backoff: float = min(first * 2 ** (failed - 1), most)
        return backoff * (0.5 + self._jitter.random())

    def _count_failure(self, state: _RequestState, error: TransientError, now: float) -> None:
        attempts, kind = self._limits.attempts, error.kind
        if kind == "rate_limit":
            # A refusal counts only if the server answered other requests in the meantime.
            state.failed[kind] += self._answered_at >= state.last_refused
            state.last_refused = now
            limit = attempts * _REFUSALS
        elif kind == "timeout":
            state.failed[kind] += 1
            limit = min(attempts, _TIMEOUTS)
        else:
            state.failed["server"] += 1
            kind, limit = "server", attempts
        hopeless = error.unreachable or (
            state.made >= FIRST_ATTEMPTS and not self.activity.in_flight
        )
        if hopeless and not (self._limits.waits_for_server or self._latencies):
            raise self._fail(str(error)) from None
        if state.failed[kind] < limit or (kind == "server" and self._all_fail_since(state, error)):
            return
        if error.unreachable:
            raise self._fail(str(error)) from None
        raise ModelError(f"{error} ({state.made} requests)", error.kind) from None

    def _all_fail_since(self, state: _RequestState, error: TransientError) -> bool:
        return (
            self._failing >= _MIN_FAILING_REQUESTS
            and not error.unreachable
            and self._answered_at <= state.first_failed
        )

    def _count(self, reply: Reply | None) -> None:
        self._last_answer = asyncio.get_running_loop().time()
        if reply is not None:
            self._latencies.append(reply.latency)
            self.budget.count(reply.usage, reply.cost)


def likely_tokens(request: Request) -> float:
    """Return a rough estimate of a request's tokens."""
    tools = len(request.tools.encoded) if request.tools else 0
    return (tools + sum(map(len, map(str, request.messages)))) / CHARACTERS_PER_TOKEN


def _format_duration(seconds: float) -> str:
    minutes = seconds / 60
    return f"{seconds:.0f} seconds" if minutes < 2 else f"{minutes:.0f} minutes"


def _describe_bug(error: Exception) -> str:
    return f"the client raised {describe_exception(error):.300} ({locate_error(error)})"
