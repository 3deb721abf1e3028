"""Work on a Ray cluster: trajectories are judged there, and the episodes of live runs done.

In a live run workers ask the model themselves, and this process keeps the run. The settings travel
to the workers, keys do not: those are in the environment of the workers.
"""

from __future__ import annotations

import os
import signal
import threading
from asyncio import gather
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from random import Random
from typing import Any, NamedTuple

from checkers.profile import Profile
from extensions.ray.cluster import Cluster, Fleet, NoResult, connected, library
from runner.episodes.allowance import ALLOWANCE, Allowance
from runner.episodes.processes import Crew
from runner.episodes.spread import Chunk, Found, Judge, Run, evaluate_by, without_trajectories
from runner.live.budget import Budget, Quota, Share
from runner.live.campaign import Campaign, Job, Plan
from runner.live.conduct import Connect, Ending, Watches, limits_of, replies_of, secrets_of
from runner.live.engine import STOPPING, Engine, likely_tokens
from runner.live.pace import GivenUp, Pace, RealTime, Started
from runner.live.settings import Settings
from runner.models.agent import AgentModel
from runner.models.base import FatalError, Model, Reply, Request, Usage
from runner.models.reply import one_line
from runner.records.record import AnsweredStep, EpisodeRecord, Key, Spent
from runner.records.store import RunStore
from trajectories.dataset import Dataset
from trajectories.errors import DataError


class OnRay(NamedTuple):
    """The workers of a Ray cluster; they are connected to when they are first used."""

    where: Cluster
    allowance: Allowance = ALLOWANCE

    def judge(
        self, dataset: Dataset, trajectories: Chunk, profile: Profile, run: Run
    ) -> Iterator[EpisodeRecord]:
        """Judge on the cluster; files of the data set are read where its workers are.

        Raises:
            DataError: The user's input is wrong, or the cluster cannot be used.
        """
        with connected(self.where) as size:
            judges = partial(_on_cluster, size, self.allowance)
            yield from evaluate_by(judges, size, dataset, trajectories, profile, run)

    def check(self, settings: Settings, connect: Connect) -> None:
        """Refuse what must not, or cannot, travel to the workers.

        Raises:
            DataError: There is such a thing.
        """
        if self.allowance.megabytes is not None:
            raise DataError("--memory", "limits judging, no live run on Ray")
        try:
            library().cloudpickle.dumps(connect)
        except Exception as error:
            why = one_line(str(error))
            message = f"the agent cannot travel to other processes: {why}"
            raise DataError("--engine ray", message) from None
        if secrets_of("", settings, {}):
            raise DataError(
                "--engine ray",
                "takes no header, address or body with a secret, since settings travel to the "
                "workers; give them keys by their environment, such as OPENAI_API_KEY",
            )

    def conduct(
        self, plan: Plan, store: RunStore, jobs: Sequence[Job], connect: Connect, watch: Watches
    ) -> Ending:
        """Have the cluster's workers ask the model.

        Raises:
            DataError: A secret would have to travel, or the cluster cannot be used.
        """
        self.check(plan.settings, connect)
        with connected(self.where) as size:
            account = _Account(plan.settings, store.spent, watch)
            bare = plan._replace(dataset=without_trajectories(plan.dataset))
            fleet = Fleet(
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
        return Ending(account.stop_reason, account.failed, account.spent)


def _on_cluster(
    size: int, allowance: Allowance, judge: Judge, parts: Sequence[Chunk]
) -> Iterator[Found]:
    early: dict[int, Found] = {}
    due = 0
    for number, result in Fleet(JudgeWorker, size, judge, allowance).results(parts):
        early[number] = _found_by(parts[number], result)
        while due in early:
            yield early.pop(due)
            due += 1


class JudgeWorker:
    """A judge in a process of its own, which may die or stall without this one."""

    def __init__(self) -> None:
        self._crew: Crew | None = None

    def do(self, needs: Sequence[Any], chunk: Chunk) -> Found:
        """Judge a chunk; what it takes to do so comes with the first one."""
        if self._crew is None:
            judge, allowance = library().get(needs)
            self._crew = Crew(judge, 1, allowance)
        (found,) = self._crew.judge([chunk])
        return found


def _found_by(chunk: Chunk, result: Any) -> Found:
    if isinstance(result, NoResult):
        message = f"the process that judged it {result.why}"
        return [EpisodeRecord.of(trajectory, None, message) for trajectory in chunk]
    found: Found = library().get(result)
    return found


@dataclass
class Outbox:
    """What became of a job on a worker, to be passed on to the process that has the store.

    Attributes:
        record: None where the run was stopped before the episode was over.
        tools: The tool lists that the record or a step names, by digest.
        steps: The answers that an episode got that is not over.
    """

    record: EpisodeRecord | None = None
    tools: dict[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    steps: list[AnsweredStep] = field(default_factory=list)

    def append(self, record: EpisodeRecord) -> None:
        """Take the episode, whose answers are in its record."""
        self.record = record
        self.steps.clear()

    def put_tools(self, digest: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Take a tool list."""
        self.tools[digest] = tools

    def put_step(self, step: AnsweredStep, spent: Spent) -> None:
        """Take an answer; what the run has used is known elsewhere."""
        self.steps.append(step)

    def deliver(self, store: RunStore, spent: Spent) -> None:
        """Put what was taken into the store."""
        for digest, tools in self.tools.items():
            store.put_tools(digest, tools)
        for step in self.steps:
            store.put_step(step, spent)
        store.spent = spent
        if self.record is not None:
            store.append(self.record)


def _connect_in(folder: str, connect: Connect, plan: Plan) -> Model:
    """Connect in the user's folder, where a worker has it: agents of his own are imported there."""
    with suppress(OSError):
        os.chdir(folder)
    return connect(plan)


class SharedBudget(Budget):
    """The one budget of a run whose requests are made by many processes; any of them may end it.

    Besides what limits a budget it has the most requests and tokens a minute.
    """

    def __init__(
        self,
        max_requests: int | None = None,
        max_cost: float | None = None,
        spent: Spent | None = None,
        requests: int | None = None,
        tokens: int | None = None,
    ) -> None:
        super().__init__(max_requests, max_cost, spent)
        self._quota = Quota(self)
        self._pace = Pace(RealTime(), requests, tokens)
        self._started: dict[Key, Started] = {}
        self._shares: dict[Key, Share] = {}
        self._stop_reason: str | None = None
        self._failed = False

    def admit(self) -> str | None:
        """Admit a request and count it, or return why there may be none."""
        if self._stop_reason is None:
            self._stop_reason = super().admit()
        return self._stop_reason

    async def admit_for(self, key: Key, expected: int, tokens: float = 0.0) -> str | None:
        """Wait for the turn of an episode, count its request, or return why there may be none.

        The episode is expected to take so many requests, and the request likely to need so many
        tokens.
        """
        with suppress(GivenUp):
            self._started[key] = await self._pace.turn(tokens)
        if self._stop_reason is None:
            if key not in self._shares:
                self._shares[key] = self._quota.open(expected)
            refusal = await self._quota.admit(self._shares[key])
            if refusal is not None:
                self.stop(refusal)
        return self._stop_reason

    def count_for(self, key: Key, usage: Usage, cost: float | None) -> None:
        """Take note of what an answer took in an episode."""
        self.count(usage, cost)
        started = self._started.pop(key, None)
        if started is not None:
            known = usage.prompt is not None
            took = (usage.prompt or 0) + (usage.completion or 0)
            self._pace.answered(started, took if known else None)

    def close(self, key: Key, *, finished: bool) -> None:
        """Take note that an episode is over, or given up."""
        self._started.pop(key, None)
        share = self._shares.pop(key, None)
        if share is not None:
            self._quota.close(share, finished=finished)

    def stop(self, reason: str, *, failed: bool = False) -> None:
        """Admit no further request; the first reason stands."""
        if self._stop_reason is None:
            self._stop_reason, self._failed = reason, failed
            self._quota.close_all(reason)
            self._pace.give_up()

    def state(self) -> tuple[Spent, str | None, bool]:
        """Return what was used, why no request is admitted any more, and if that is an error."""
        return self.spent, self._stop_reason, self._failed


class EpisodeWorker:
    """Does episodes in a process of its own, several at once."""

    def __init__(self) -> None:
        self._model: Model | None = None
        self._pace = Pace(RealTime())

    async def alive(self) -> None:
        """Answer, which it cannot while an environment or an agent keeps its thread."""

    async def do(self, needs: Sequence[Awaitable[Any]], job: Job) -> Outbox:
        """Do one episode, unless the run is stopped meanwhile.

        Args:
            needs: References to the plan, what connects to its model, and the actor that admits
                requests.
            job: Which episode.
        """
        plan, connect, budget = await gather(*needs)
        outbox = Outbox()
        try:
            if self._model is None:
                self._model = connect(plan)
            engine: Engine[Job, EpisodeRecord] = Engine(
                _Admitted(self._model, budget, job),
                limits_of(plan.settings)._replace(concurrency=1),
                Random(repr(job.key)),
                pace=self._pace,
            )
            goes_on = not isinstance(self._model, AgentModel)
            campaign = Campaign(plan, outbox, goes_on=goes_on, replies=replies_of(plan))
            await campaign.run(engine, [job], lambda _: None)
        except DataError as error:
            await budget.stop.remote(str(error), failed=True)
        else:
            if engine.failed:
                await budget.stop.remote(engine.stop_reason, failed=True)
        return outbox


class _Admitted:
    """A model that is asked about an episode only while the run's budget lasts."""

    def __init__(self, model: Model, budget: Any, job: Job) -> None:
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


class _Account:
    """What this process knows of the run's budget, and whether anybody has stopped it."""

    def __init__(self, settings: Settings, spent: Spent, watch: Watches) -> None:
        # It takes no processor, so there is always room for it.
        remote = library().remote(SharedBudget).options(num_cpus=0)
        self.budget = remote.remote(
            settings.max_requests, settings.max_cost, spent, settings.rpm, settings.tpm
        )
        self.spent = spent
        self._watch = watch
        self.stop_reason: str | None = None
        self.failed = False

    def refresh(self) -> None:
        """Look at the budget again; the first reason to stop stands."""
        self.spent, reason, failed = library().get(self.budget.state.remote())
        if self.stop_reason is None:
            self.stop_reason, self.failed = reason, failed

    def interrupt(self, *_: object) -> None:
        """Make no further request; the second time, give up those under way."""
        if self.stop_reason is not None:
            raise KeyboardInterrupt
        self.stop_reason = "interrupted"
        self.budget.stop.remote(self.stop_reason)
        self._watch.say(STOPPING)


@contextmanager
def _interruptible(account: _Account) -> Iterator[None]:
    """Let Ctrl-C and a polite kill stop the run instead of ending the process."""
    if threading.current_thread() is not threading.main_thread():
        # Whoever called handles them.
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


def _done(job: Job, result: Any) -> Outbox:
    ray = library()
    if isinstance(result, NoResult):
        return Outbox(job.lost(f"the process that did it {result.why}"))
    try:
        done: Outbox = ray.get(result)
    except ray.exceptions.RaySystemError as error:
        # It has in it where in the worker this was.
        *_, why = str(error).strip().splitlines()
        raise DataError("--engine ray", f"a worker cannot be given what it needs: {why}") from None
    return done
