"""Running many episodes at once: concurrency, retries, budgets, and stopping cleanly.

Nothing here knows what an episode is. A job is done by a coroutine that is given a way to ask the
model; what it returns is passed on, and what was not finished can be done again later.
"""

from __future__ import annotations

import asyncio
import signal
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from runner.live.activity import Activity
from runner.live.budget import Budget, Quota, Share
from runner.live.loop import Ask, ModelAnswer
from runner.models.base import (
    FatalError,
    Model,
    ModelError,
    Reply,
    Request,
    TransientError,
)

Job = TypeVar("Job")
Done = TypeVar("Done")

STOPPING = "stopping after what is under way, Ctrl-C again stops at once"
"""What the first Ctrl-C is answered with."""

_LONGEST_WAIT = 60.0
"""Longest wait that backing off leads to, in seconds; a server may ask for more."""
_LONGEST_RETRY_AFTER = 600.0
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
        activity: Where to keep count of what is going on.
        say: Tells the user a line.

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
        activity: Activity | None = None,
        say: Callable[[str], object] = _nobody,
    ) -> None:
        self.budget = budget or Budget()
        self.activity = activity or Activity(monotonic)
        self._say = say
        self.stop_reason: str | None = None
        self.failed = False
        self._model = model
        self._limits = limits
        self._jitter = jitter
        self._quota = Quota(self.budget)
        self._stopping = asyncio.Event()
        self._no_more_requests = False
        self._interrupted = False
        self._latencies: deque[float] = deque(maxlen=200)
        self._last_answer = 0.0

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

        Args:
            request: What is asked.
            share: What the job that asks has of the budget.

        Raises:
            Stopped: The run is being stopped.
            ModelError: There is no answer to be had.
        """
        attempt = 0
        while True:
            await self._admit(share)
            attempt += 1
            try:
                with self.activity.request():
                    reply = await self._model.ask(request)
            except TransientError as error:
                self._count(None)
                if attempt >= self._limits.attempts:
                    self._give_up(error)
                await self._wait(attempt, error)
            except FatalError as error:
                self._count(None)
                raise self._fail(str(error)) from None
            except ModelError:
                self._count(None)
                raise
            except Exception as error:
                # A bug in a client, or in its library, is that one request's.
                self._count(None)
                raise ModelError(_broken(error)) from error
            else:
                self._count(reply)
                return ModelAnswer(reply, attempt)

    def stop(self, reason: str, *, at_once: bool = False) -> None:
        """Begin no further job; with ``at_once`` give up what is under way.

        Args:
            reason: One line for the user.
            at_once: Whether jobs under way may not ask any more either.
        """
        self.stop_reason = self.stop_reason or reason
        self._no_more_requests = self._no_more_requests or at_once
        self._last_answer = asyncio.get_running_loop().time()
        self._stopping.set()
        self._quota.begin_no_more(reason)

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
        while not self._no_more_requests:
            usual = median(self._latencies) if self._latencies else 0.0
            remaining = self._last_answer + max(_GRACE, 3 * usual) - loop.time()
            if remaining <= 0:
                break
            await asyncio.sleep(min(remaining, 0.1))
        for worker in workers:
            worker.cancel()

    async def _admit(self, share: Share | None) -> None:
        """Let a request pass, or raise because the run has ended or used up its budget."""
        if self._no_more_requests:
            raise Stopped
        refusal = await self._quota.admit(share) if share else self.budget.admit()
        if self._no_more_requests:
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

    def _give_up(self, error: TransientError) -> None:
        """Fail the request, or the run where there is nobody to answer any request.

        Raises:
            ModelError: The request gets no answer.
            Stopped: No request would.
        """
        if error.unreachable:
            raise self._fail(str(error)) from None
        tried = f"{error} ({self._limits.attempts} attempts)"
        raise ModelError(tried, error.kind) from None

    async def _wait(self, attempt: int, error: TransientError) -> None:
        """Wait before the next attempt; a run that is being stopped does not wait."""
        backoff = min(self._limits.first_wait * 2 ** (attempt - 1), _LONGEST_WAIT)
        delay = backoff * (0.5 + self._jitter.random())
        if error.retry_after is not None:
            # Not before the server's time, and not all at that very moment.
            delay = min(error.retry_after + delay, _LONGEST_RETRY_AFTER)
        with self.activity.wait(delay, asked_for=error.retry_after is not None):
            try:
                await asyncio.wait_for(self._stopping.wait(), delay)
            except TimeoutError:
                return
        raise Stopped

    def _count(self, reply: Reply | None) -> None:
        self._last_answer = asyncio.get_running_loop().time()
        if reply is not None:
            self._latencies.append(reply.latency)
            self.budget.count(reply.usage, reply.cost)


def _broken(error: Exception) -> str:
    """Return in one line what a client broke with, and where."""
    *_, place = traceback.extract_tb(error.__traceback__)
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return f"the client broke with {said:.300} ({Path(place.filename).name}:{place.lineno})"
