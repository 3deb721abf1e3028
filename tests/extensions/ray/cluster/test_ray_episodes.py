"""Live runs on a real cluster: workers ask a server, this process keeps what they did."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from functools import partial

import pytest

from checkers.profile import STRICT
from envs.errors import DataError
from extensions.pools.pool_workers import TRIES
from extensions.ray.ray_workers import RayWorkers
from runner.episodes.judging import TimeAndMemoryLimits
from runner.live.live_run import RunInputs
from runner.live.run_control import execute_run, open_jobs
from runner.live.run_settings import Settings
from runner.models.model_name import LiveName
from runner.models.openai_model import OpenAIModel
from runner.models.prompting import read_prompts
from runner.records.recorded_run import open_run
from runner.records.run_store import RunStore
from tests.live.running import comparable, ready_and
from tests.runner.records.made import EVERYTHING
from tests.servers.answers import of_dataset
from tests.servers.faults import fault
from tests.servers.serving import FakeServer
from trajectories.dataset import load_embedded
from trajectories.schema import Category

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")

DATA = load_embedded([Category.BASE])
SOME = list(DATA.trajectories.values())[:12]
PATIENCE = 8.0


def connect_here(plan):
    """Connect to the server."""
    return OpenAIModel("fake", plan.settings.request_options())


def connect(folder, plan):
    """Connect to the server, and note which process did."""
    (folder / str(os.getpid())).touch()
    return connect_here(plan)


@pytest.fixture
def server():
    """Return a server that knows the truth, and takes its time."""
    with FakeServer(ready_and(of_dataset("turnwise", "base")), latency=0.02) as server:
        yield server


def kill():
    """End this process as the system does that lacks memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def stall():
    """Wait for a signal that nobody sends, and let nothing else be done meanwhile."""
    signal.pause()


class But:
    """A model at which some entries do something to the process that asks it about them.

    Args:
        model: The model.
        do: What they do.
        at: The entries.
    """

    def __init__(self, model, do, at):
        self.model, self.do = model, do
        self.at = [DATA.trajectories[id].turns[0].messages[0].content for id in at]

    async def ask(self, request):
        """Do it, or ask the model."""
        if any(message["content"] in self.at for message in request.messages[:2]):
            self.do()
        return await self.model.ask(request)

    async def close(self):
        """Close the model."""
        await self.model.close()


def connect_but(folder, plan, *, do, at):
    """Connect to the server, but for some entries."""
    return But(connect(folder, plan), do, at)


class Watch:
    """Is told how a run gets on.

    Args:
        on_record: Told the number of every finished episode.
    """

    def __init__(self, on_record=lambda number: None):
        self.numbers = iter(range(1, 1000))
        self.on_record = on_record
        self.said = []

    def count(self, record, spent):
        """Take note of a finished episode."""
        self.on_record(next(self.numbers))

    def look(self, activity, spent):
        """Look away."""

    def say(self, text):
        """Take a line."""
        self.said.append(text)

    def close(self):
        """Do nothing."""


class Runs:
    """Does runs on the cluster, each in a folder of its own."""

    def __init__(self, cluster, server, folder):
        self.there = RayWorkers(cluster, TimeAndMemoryLimits(seconds=PATIENCE))
        self.server = server
        self.folder = folder
        self.workers = folder / "workers"
        self.workers.mkdir()

    def plan(self, **settings):
        """Return a plan."""
        url = self.server.base_url
        return RunInputs(
            LiveName("fake"), DATA, STRICT, 20, Settings(base_url=url, **settings), read_prompts()
        )

    def store(self, name, plan):
        """Return a store that begins a run or goes on with it."""
        there = (self.folder / name).exists()
        return (RunStore.resume if there else RunStore.create)(
            self.folder / name, plan.definition(EVERYTHING)
        )

    def go(self, name, on_record=lambda number: None, by=connect, only=None, **settings):
        """Do what is left of a run, and return how it ended."""
        plan = self.plan(**settings)
        self.watch = Watch(on_record)
        with self.store(name, plan) as store:
            jobs = open_jobs(store, SOME, 1, only)
            connecting = partial(by, self.workers)
            return self.there.conduct(plan, store, jobs, connecting, self.watch)

    async def here(self, name):
        """Do a run in this process."""
        plan = self.plan()
        with self.store(name, plan) as store:
            jobs = open_jobs(store, SOME, 1, None)
            await execute_run(plan, store, jobs, connect_here, Watch())

    def comparable(self, name):
        """Return the episodes of a run without what differs between equal runs."""
        return comparable(self.folder / name)


@pytest.fixture
def runs(cluster, server, tmp_path):
    """Return what does runs."""
    return Runs(cluster, server, tmp_path)


@pytest.fixture
def truth(runs):
    """Return the episodes of a run in this process."""
    asyncio.run(runs.here("here"))
    return runs.comparable("here")


def test_the_run_is_that_of_one_process(runs, truth):
    ending = runs.go("there")
    assert (ending.stop_reason, ending.failed) == (None, False)
    assert runs.comparable("there") == truth
    run = open_run(runs.folder / "there")
    steps = [step for record in run.records for step in record.steps]
    assert ending.spent.requests == len(steps)
    assert all(run.tools({step.tools for step in steps}).values())
    assert len(list(runs.workers.iterdir())) == 2


def test_what_a_killed_worker_had_is_done_by_another(runs, truth):
    def kill_one(number):
        if number == 2:
            os.kill(int(min(path.name for path in runs.workers.iterdir())), signal.SIGKILL)

    ending = runs.go("there", kill_one, concurrency=4)
    assert ending.stop_reason is None
    assert runs.comparable("there") == truth
    assert len(list(runs.workers.iterdir())) == 3


@pytest.mark.parametrize(
    ("do", "how"),
    [
        (kill, f"was killed {TRIES} times"),
        (stall, f"did not respond for {PATIENCE:g} seconds (--entry-timeout)"),
    ],
)
def test_what_kills_or_stalls_every_worker_is_an_error_and_the_rest_goes_on(runs, truth, do, how):
    bad = [SOME[1].id, SOME[6].id]
    ending = runs.go("there", by=partial(connect_but, do=do, at=bad), concurrency=8)
    assert (ending.stop_reason, ending.failed) == (None, False)
    found = {json.loads(line)["id"]: line for line in runs.comparable("there")}
    whole = {json.loads(line)["id"]: line for line in truth}
    assert found.keys() == whole.keys()
    for id, line in found.items():
        if id in bad:
            assert json.loads(line)["error"] == f"its worker process {how}"
        else:
            assert line == whole[id]
    runs.go("there", only="errors")
    assert runs.comparable("there") == truth


def test_an_interrupted_run_goes_on(runs, truth):
    def interrupt(number):
        if number == 2:
            os.kill(os.getpid(), signal.SIGINT)

    ending = runs.go("there", interrupt, concurrency=2)
    assert (ending.stop_reason, ending.failed) == ("interrupted", False)
    assert runs.watch.said == [
        "stopping after the requests in flight; press Ctrl-C again to stop at once"
    ]
    done = len(runs.comparable("there"))
    # What was under way was finished.
    assert 2 <= done < len(SOME)
    assert runs.go("there").stop_reason is None
    assert runs.comparable("there") == truth


def test_a_second_interrupt_gives_up_what_is_under_way(runs):
    def interrupt(number):
        if number == 1:
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)

    ending = runs.go("there", interrupt, concurrency=4)
    assert (ending.stop_reason, ending.failed) == ("interrupted", False)
    assert len(runs.comparable("there")) == 1


def test_the_budget_is_one_for_all_workers(runs, truth):
    before = runs.server.requests
    ending = runs.go("there", max_requests=20)
    assert runs.server.requests - before == 20 == ending.spent.requests
    assert (ending.stop_reason, ending.failed) == ("the budget of 20 requests is used up", False)
    kept = [step for record in runs.comparable("there") for step in json.loads(record)["steps"]]
    assert 0.5 * 20 <= len(kept) <= 20
    whole = sum(len(json.loads(record)["steps"]) for record in truth)
    runs.go("there")
    assert runs.comparable("there") == truth
    # What was under way went on from where it was.
    assert runs.server.requests - before == whole


def test_an_error_that_no_request_survives_ends_the_run(runs):
    runs.server.answer = fault("401")
    ending = runs.go("there")
    assert ending.failed
    assert "OPENAI_API_KEY" in ending.stop_reason
    assert runs.comparable("there") == []


def test_no_secret_travels(runs):
    with pytest.raises(
        DataError, match="--engine ray: a header, the address or the body contains a secret"
    ):
        runs.go("there", extra_headers={"Authorization": "Bearer not-a-real-one"})
