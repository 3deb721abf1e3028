"""An agent of the user's own on a data set: what ``turnwise eval`` does, from Python."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.verdict import Verdict
from runner.data import choose
from runner.data.choose import load_dataset, profile_for
from runner.data.services import FIXTURE_ONLY, require_up
from runner.episodes.episode import STEP_LIMIT
from runner.episodes.evaluate import judge_recorded
from runner.live.campaign import Plan
from runner.live.conduct import open_jobs, open_store
from runner.live.meter import Meter
from runner.live.settings import Settings
from runner.live.workers import workers_of
from runner.models.agent import Agent, AgentModel, maker
from runner.models.base import Model
from runner.models.model_name import agent_name
from runner.models.prompting import read_prompts
from runner.records.definition import Selection
from runner.records.record import EpisodeRecord
from runner.records.run import read_run
from runner.records.store import claimed, default_folder
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import prepare
from trajectories.schema import Trajectory

_COMMAND = ("turnwise.evaluate",)
"""What a run says that it was begun by."""


class Evaluation(NamedTuple):
    """What a run of an agent came to; its folder is that of any other run."""

    folder: Path
    """Where the run is, for ``turnwise table``, ``report``, ``replay``, ``compare`` and others."""
    episodes: int
    """Episodes that are done: entries times trials, where nothing stopped the run."""
    passed: int
    """Those that passed."""
    errors: int
    """Those that have no verdict, because the agent raised something or gave no message."""
    stopped: str | None
    """Why the run ended before all was done, or None."""

    def __repr__(self) -> str:
        """Return the run in one line."""
        stopped = f", {self.stopped}" if self.stopped else ""
        share = f"{self.passed} of {self.episodes} passed, {self.errors} errors"
        return f"Evaluation({share}{stopped}; {self.folder})"

    @property
    def accuracy(self) -> float:
        """The share of episodes that passed, from 0 to 1; errors count among those that did not."""
        return self.passed / self.episodes if self.episodes else 0.0

    def records(self) -> Iterator[EpisodeRecord]:
        """Yield what was recorded of every episode."""
        return read_run(self.folder).records


def evaluate(
    agent: Agent | type[Any] | None = None,
    dataset: str | Path | Dataset | None = None,
    *,
    agent_factory: Callable[[], Agent] | None = None,
    name: str | None = None,
    categories: str | Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    limit: int | None = None,
    trials: int = 1,
    profile: Profile | str | None = None,
    run_dir: str | Path | None = None,
    concurrency: int = 16,
    resume: bool = False,
    engine: Literal["local", "ray"] = "local",
    workers: int | None = None,
    address: str | None = None,
) -> Evaluation:
    """Let an agent do the trajectories of a data set, judge it, and keep the run in a folder.

    What the agent raises is an error of that episode, kept with its traceback.

    Args:
        agent: ``agent(messages, tools)`` gives the assistant message: all three as in OpenAI's chat
            completions. A function, which is called in threads, or a coroutine function; a class
            makes a fresh agent for every episode.
        dataset: As ``categories``, what ``load_dataset`` takes.
        agent_factory: Instead of ``agent``: makes a fresh agent for every episode.
        name: What to call the agent in tables; by default where it is defined.
        ids: Only these trajectories, of which only the first ``limit``.
        trials: Episodes per trajectory.
        profile: How to execute and judge: one, or its name; by default what suits the data.
        run_dir: Where to keep the run; by default a new folder in ``runs``.
        concurrency: Episodes at once.
        resume: Whether to go on with the run in ``run_dir``.
        engine: Where the agent is asked; as ``workers`` and ``address``, see ``turnwise eval``.

    Raises:
        DataError: An argument, or the folder, cannot be used.
    """
    _check(trials, concurrency, run_dir, resume)
    data = load_dataset(dataset, categories=categories)
    some = _chosen(data, _listed(ids), limit)
    model = name or agent_name(_place(agent or agent_factory))
    settings = Settings(concurrency=concurrency)
    connect = partial(_connect, _maker(agent, agent_factory))
    doing = workers_of(engine, address, workers)
    doing.check(settings, connect)
    plan = Plan(model, data, _profile(data, profile), STEP_LIMIT, settings, read_prompts())
    chosen = Selection(_listed(categories), _listed(ids), limit, None, None, trials)
    folder = Path(run_dir) if run_dir else claimed(default_folder(model, datetime.now()))
    with open_store(
        folder, plan, chosen, _COMMAND, episodes=len(some) * trials, resumes=resume
    ) as store:
        jobs = open_jobs(store, some, trials, None)
        meter = Meter(len(jobs), sys.stderr, time.monotonic)
        ending = doing.conduct(plan, store, jobs, connect, meter)
        done = [*store.done.values()]
    passed, errors = done.count("passed"), done.count("error")
    return Evaluation(folder, len(done), passed, errors, ending.stop_reason)


def _chosen(data: Dataset, ids: str | None, limit: int | None) -> list[Trajectory]:
    """Return the trajectories that are wanted, of which all can be judged here.

    Raises:
        DataError: One cannot, or there is none.
    """
    some = choose.part(list(data.trajectories.values()), ids, limit, None, 0)
    choose.require_languages(some)
    require_up(some, FIXTURE_ONLY)
    return some


def judge(
    data: Dataset,
    id: str,
    turns: Sequence[Sequence[Step]] | None,
    *,
    mode: Mode = "fc",
    profile: Profile | str | None = None,
) -> Verdict:
    """Judge what a model did, as ``turnwise score`` does; calls are executed once more.

    Args:
        data: Where the trajectory is from.
        id: The trajectory's.
        turns: Turns of steps, as in BFCL's result files: ``EpisodeRecord.result``. A step is a list
            of ``{function: arguments as JSON}``, or a text. None where there is only an error.
        mode: How the model called functions: by tool calls, or (``prompt``) in its text.
        profile: As for ``evaluate``.

    Raises:
        DataError: The data set has no such trajectory.
        CannotJudge: There is no verdict, through no fault of the model.
    """
    rules = _profile(data, profile)
    prepared = prepare(data, choose.trajectory(data, id), rules)
    return judge_recorded(prepared, turns, mode, rules).verdict


def _profile(data: Dataset, profile: Profile | str | None) -> Profile:
    return profile if isinstance(profile, Profile) else profile_for(data, profile)


def _check(trials: int, concurrency: int, run_dir: object, resume: bool) -> None:
    if trials < 1 or concurrency < 1:
        raise DataError("trials, concurrency", "must be at least 1")
    if resume and run_dir is None:
        raise DataError("resume", "needs run_dir, the folder of the run")


def _connect(make: Callable[[], Agent], _: Plan) -> Model:
    return AgentModel(make)


def _maker(
    agent: Agent | type[Any] | None, agent_factory: Callable[[], Agent] | None
) -> Callable[[], Agent]:
    """Return what makes the agent of an episode.

    Raises:
        DataError: There is no agent, or there are two.
    """
    if (agent is None) == (agent_factory is None) or not callable(agent or agent_factory):
        raise DataError("agent", "give a function of messages and tools, or an agent_factory")
    if agent_factory is not None:
        return agent_factory
    assert agent is not None
    return maker(agent)


def _place(agent: Any) -> str:
    """Return where an agent is defined, as ``--model python:`` has it."""
    named = agent if hasattr(agent, "__qualname__") else type(agent)
    return f"{named.__module__}:{named.__qualname__}"


def _listed(names: str | Sequence[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)
