"""Workers on a Ray cluster, for judging and for live runs.

In a live run, workers send the requests and this process writes the run folder. Workers receive the
settings without keys. Keys come from the workers' environment variables.
"""

from __future__ import annotations

import os
import signal
import threading
from asyncio import gather
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from random import Random
from typing import Any, NamedTuple

from checkers.profile import Profile
from envs.errors import DataError
from extensions.pools.parallel import Chunk, ChunkJudge, Found, evaluate_by
from extensions.pools.worker_processes import WorkerPool
from extensions.ray.cluster import ActorPool, Cluster, NoResult, connected, library
from runner.episodes.judging import ALLOWANCE, Run, TimeAndMemoryLimits
from runner.live.budget import Budget, BudgetAllocator, BudgetShare
from runner.live.engine import STOPPING, JobEngine, likely_tokens
from runner.live.live_run import EpisodeJob, LiveRun, RunInputs
from runner.live.rate_limiter import AdmittedRequest, RateLimiter, SystemClock, WaitCancelled
from runner.live.run_control import (
    Connect,
    RunEnding,
    RunObserver,
    limits_of,
    replies_of,
    secrets_of,
)
from runner.live.run_settings import Settings
from runner.models.agent_model import AgentModel
from runner.models.model_name import LiveName
from runner.models.model_types import FatalError, Model, Reply, Request, Usage
from runner.models.reply_reader import one_line
from runner.records.episode_record import EpisodeRecord, Key, ResumableStep, RunSpending
from runner.records.run_store import RunStore
from trajectories.dataset import Dataset


class RayWorkers(NamedTuple):
    """Workers of a Ray cluster, which is connected on first use."""

    where: Cluster
    allowance: TimeAndMemoryLimits = ALLOWANCE

    def judge(
        self, dataset: Dataset, trajectories: Chunk, profile: Profile, run: Run
    ) -> Iterator[EpisodeRecord]:
        """Judge entries on the cluster. The cluster's workers read the files of the data set.

        Raises DataError if the input is wrong, or the cluster cannot be used.
        """
        with connected(self.where) as size:
            judges = partial(_on_cluster, size, self.allowance)
            yield from evaluate_by(judges, size, dataset, trajectories, profile, run)

    def check(self, settings: Settings, connect: Connect) -> None:
        """Check that the settings can be sent to the workers.

        Raises:
            DataError: The agent cannot be pickled, or a setting is a secret or is not supported.
        """
        if self.allowance.megabytes is not None:
            raise DataError(
                "--memory",
                "this limit applies only to judging; omit the option for a live run on Ray",
            )
        try:
            library().cloudpickle.dumps(connect)
        except Exception as error:
            why = one_line(str(error))
            message = f"the agent cannot be sent to the workers: {why}"
            raise DataError("--engine ray", message) from None
        if secrets_of(LiveName(""), settings, {}):
            raise DataError(
                "--engine ray",
                "a header, the address or the body contains a secret; use an environment variable "
                "of the workers instead, such as OPENAI_API_KEY",
            )

    def conduct(
        self,
        plan: RunInputs,
        store: RunStore,
        jobs: Sequence[EpisodeJob],
        connect: Connect,
        watch: RunObserver,
    ) -> RunEnding:
        """Run the episodes on the cluster's workers.

        Raises DataError if the settings contain a secret, or the cluster cannot be used.
        """
        self.check(plan.settings, connect)
        with connected(self.where) as size:
            account = _BudgetView(plan.settings, store.spent, watch)
            bare = plan._replace(dataset=replace(plan.dataset, trajectories={}))
            fleet = ActorPool(
                EpisodeWorker,
                size,
                bare,
                partial(_connect_in, os.getcwd(), connect),
                account.budget,
                at_once=plan.settings.concurrency,
                patience=self.allowance.seconds,
            )
            wanted = takewhile(lambda _: account.stop_reason is None, jobs)
            with _interruptible(account):
                for number, result in fleet.results(wanted):
                    done = _done(jobs[number], result)
                    finished = done.record is not None
                    account.budget.close.remote(jobs[number].key, finished=finished)
                    account.refresh()
                    done.deliver(store, account.spent)
                    if done.record is not None:
                        watch.count(done.record.outcome, account.spent)
        watch.close()
        return RunEnding(account.stop_reason, account.failed, account.spent)


def _on_cluster(
    size: int, allowance: TimeAndMemoryLimits, judge: ChunkJudge, parts: Sequence[Chunk]
) -> Iterator[Found]:
    early: dict[int, Found] = {}
    due = 0
    for number, result in ActorPool(JudgeWorker, size, judge, allowance).results(parts):
        early[number] = _found_by(parts[number], result)
        while due in early:
            yield early.pop(due)
            due += 1


class JudgeWorker:
    """Actor that judges chunks of entries."""

    def __init__(self) -> None:
        self._crew: WorkerPool | None = None

    def do(self, needs: Sequence[Any], chunk: Chunk) -> Found:
        """Judge a chunk of entries. The first call also loads the judge and the limits."""
        if self._crew is None:
            judge, allowance = library().get(needs)
            self._crew = WorkerPool(judge, 1, allowance)
        (found,) = self._crew.judge([chunk])
        return found


def _found_by(chunk: Chunk, result: Any) -> Found:
    if isinstance(result, NoResult):
        message = f"the judging process {result.why}"
        return [EpisodeRecord.of(trajectory, None, message) for trajectory in chunk]
    found: Found = library().get(result)
    return found


@dataclass
class ResultQueue:
    """Results of a worker for the main process, which writes the run folder."""

    record: EpisodeRecord | None = None
    """Record of the episode; None if the run stopped before the episode ended."""
    tools: dict[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Maps digests to the tool lists that the record or the steps refer to."""
    steps: list[ResumableStep] = field(default_factory=list)
    """Answers of an unfinished episode."""

    def append(self, record: EpisodeRecord) -> None:
        """Store the record of a finished episode."""
        self.record = record
        self.steps.clear()

    def put_tools(self, digest: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Add a tool list."""
        self.tools[digest] = tools

    def put_step(self, step: ResumableStep, spent: RunSpending) -> None:
        """Add an answer. The shared actor counts the budget, so ``spent`` is ignored."""
        self.steps.append(step)

    def deliver(self, store: RunStore, spent: RunSpending) -> None:
        """Write the results to the store."""
        for digest, tools in self.tools.items():
            store.put_tools(digest, tools)
        for step in self.steps:
            store.put_step(step, spent)
        store.spent = spent
        if self.record is not None:
            store.append(self.record)


def _connect_in(folder: str, connect: Connect, plan: RunInputs) -> Model:
    """Change to the user's folder, which can contain agents, and connect to the model."""
    with suppress(OSError):
        os.chdir(folder)
    return connect(plan)


class SharedBudget(Budget):
    """Actor with the budget and rate limits of a run; all workers share the actor."""

    def __init__(
        self,
        max_requests: int | None = None,
        max_cost: float | None = None,
        spent: RunSpending | None = None,
        requests: int | None = None,
        tokens: int | None = None,
    ) -> None:
        super().__init__(max_requests, max_cost, spent)
        self._quota = BudgetAllocator(self)
        self._pace = RateLimiter(SystemClock(), requests, tokens)
        self._started: dict[Key, AdmittedRequest] = {}
        self._shares: dict[Key, BudgetShare] = {}
        self._stop_reason: str | None = None
        self._failed = False

    def admit(self) -> str | None:
        """Count a request and admit it; if the run has stopped, return the stop reason."""
        if self._stop_reason is None:
            self._stop_reason = super().admit()
        return self._stop_reason

    async def admit_for(self, key: Key, expected: int, tokens: float = 0.0) -> str | None:
        """Wait for a slot and count the request, or return the stop reason.

        ``expected`` is the number of requests that the episode will need. ``tokens`` is the number
        of tokens that this request will need.
        """
        with suppress(WaitCancelled):
            self._started[key] = await self._pace.turn(tokens)
        if self._stop_reason is None:
            if key not in self._shares:
                self._shares[key] = self._quota.open(expected)
            refusal = await self._quota.admit(self._shares[key])
            if refusal is not None:
                self.stop(refusal)
        return self._stop_reason

    def count_for(self, key: Key, usage: Usage, cost: float | None) -> None:
        """Count the usage and cost of an answer."""
        self.count(usage, cost)
        started = self._started.pop(key, None)
        if started is not None:
            known = usage.prompt is not None
            took = (usage.prompt or 0) + (usage.completion or 0)
            self._pace.answered(started, took if known else None)

    def close(self, key: Key, *, finished: bool) -> None:
        """Remove a job and its share of the budget."""
        self._started.pop(key, None)
        share = self._shares.pop(key, None)
        if share is not None:
            self._quota.close(share, finished=finished)

    def stop(self, reason: str, *, failed: bool = False) -> None:
        """Stop admitting requests; a second call does not change the stop reason."""
        if self._stop_reason is None:
            self._stop_reason, self._failed = reason, failed
            self._quota.close_all(reason)
            self._pace.give_up()

    def state(self) -> tuple[RunSpending, str | None, bool]:
        """Return the spent budget, the stop reason, and whether the run failed."""
        return self.spent, self._stop_reason, self._failed


class EpisodeWorker:
    """Actor that runs several episodes concurrently."""

    def __init__(self) -> None:
        self._model: Model | None = None
        self._pace = RateLimiter(SystemClock())

    async def alive(self) -> None:
        """Answer a liveness check; a blocked thread gives no answer."""

    async def do(self, needs: Sequence[Awaitable[Any]], job: EpisodeJob) -> ResultQueue:
        """Run one episode, unless the run stops first.

        ``needs`` contains the plan, the connector and the budget.
        """
        plan, connect, budget = await gather(*needs)
        outbox = ResultQueue()
        try:
            if self._model is None:
                self._model = connect(plan)
            engine: JobEngine[EpisodeJob, EpisodeRecord] = JobEngine(
                _BudgetedModel(self._model, budget, job),
                limits_of(plan.settings)._replace(concurrency=1),
                Random(repr(job.key)),
                pace=self._pace,
            )
            goes_on = not isinstance(self._model, AgentModel)
            campaign = LiveRun(plan, outbox, goes_on=goes_on, replies=replies_of(plan))
            await campaign.run(engine, [job], lambda _: None)
        except DataError as error:
            await budget.stop.remote(str(error), failed=True)
        else:
            if engine.failed:
                await budget.stop.remote(engine.stop_reason, failed=True)
        return outbox


class _BudgetedModel:
    """Model wrapper that requests admission from the shared budget."""

    def __init__(self, model: Model, budget: Any, job: EpisodeJob) -> None:
        self._model = model
        self._budget = budget
        self._job = job

    async def ask(self, request: Request) -> Reply:
        job = self._job
        asks = self._budget.admit_for.remote(job.key, job.expected_requests, likely_tokens(request))
        refusal = await asks
        if refusal is not None:
            raise FatalError(refusal)
        reply = await self._model.ask(request)
        await self._budget.count_for.remote(job.key, reply.usage, reply.cost)
        return reply

    async def close(self) -> None:
        await self._model.close()


class _BudgetView:
    """Local view of the shared budget."""

    def __init__(self, settings: Settings, spent: RunSpending, watch: RunObserver) -> None:
        # Without a processor, the actor can always be scheduled.
        remote = library().remote(SharedBudget).options(num_cpus=0)
        self.budget = remote.remote(
            settings.max_requests, settings.max_cost, spent, settings.rpm, settings.tpm
        )
        self.spent = spent
        self._watch = watch
        self.stop_reason: str | None = None
        self.failed = False

    def refresh(self) -> None:
        """Read the spent budget and the stop reason from the actor; keep an earlier stop reason."""
        self.spent, reason, failed = library().get(self.budget.state.remote())
        if self.stop_reason is None:
            self.stop_reason, self.failed = reason, failed

    def interrupt(self, *_: object) -> None:
        """Stop sending requests; on the second call, cancel pending requests."""
        if self.stop_reason is not None:
            raise KeyboardInterrupt
        self.stop_reason = "interrupted"
        self.budget.stop.remote(self.stop_reason)
        self._watch.say(STOPPING)


@contextmanager
def _interruptible(account: _BudgetView) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        # Signals are handled in the main thread only.
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, account.interrupt) for number in numbers]
    try:
        yield
    except KeyboardInterrupt:
        account.stop_reason = "interrupted"
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _done(job: EpisodeJob, result: Any) -> ResultQueue:
    ray = library()
    if isinstance(result, NoResult):
        return ResultQueue(job.lost(f"its worker process {result.why}"))
    try:
        done: ResultQueue = ray.get(result)
    except ray.exceptions.RaySystemError as error:
        # The other lines are the worker's traceback.
        *_, why = str(error).strip().splitlines()
        raise DataError("--engine ray", f"a worker cannot load its data: {why}") from None
    return done
