"""Evaluation of a user's agent from Python; the equivalent command is ``turnwise eval``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from checkers.profile import Mode, Profile
from checkers.user_checks import EpisodeCheck
from checkers.verdict import Verdict
from envs.errors import DataError, require_type
from envs.state import ABSENT
from runner import extension
from runner.analysis.catalog_figures import run_figures
from runner.data import dataset_choice
from runner.data.api_parameters import (
    name_parameters,
    require_choice,
    require_names,
    require_number,
)
from runner.data.dataset_choice import choose_profile, load_dataset
from runner.data.web_services import FIXTURE_ONLY, require_up
from runner.episodes.judging import judge_recorded
from runner.episodes.turn_loop import STEP_LIMIT
from runner.extension import RunFeature
from runner.live.live_run import RunInputs
from runner.live.progress_display import ProgressDisplay
from runner.live.run_control import Connect, open_jobs, open_store
from runner.live.run_settings import Settings
from runner.live.workers import Workers, workers_of
from runner.models.agent_model import Agent, AgentModel, load_agent_maker
from runner.models.model_name import AgentName, agent_name
from runner.models.model_types import Model
from runner.models.prompting import read_prompts
from runner.records.episode_record import EpisodeRecord
from runner.records.recorded_run import read_run
from runner.records.run_catalog import read_catalog_run
from runner.records.run_definition import Selection
from runner.records.run_store import RunStore, create_folder, default_folder
from runner.rollouts.recorded_steps import read_messages, read_steps
from runner.rollouts.rollout_env import single_dataset
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Trajectory

_COMMAND = ("turnwise.evaluate",)
"""Command line that is written into the run folder."""
_MAX_EPISODES = 100_000
"""Maximum trials and concurrent episodes."""


class Evaluation(NamedTuple):
    """Run folder and scores of an evaluated agent."""

    folder: Path
    """Run folder, for ``turnwise table``, ``report``, ``replay``, ``compare`` and others."""
    episodes: int
    passed: int
    errors: int
    """Number of episodes without a verdict: the agent raised an exception or returned no message.
    """
    stopped: str | None
    score: float | None = None
    """Mean share of passed trials per entry; None if over 2% of the episodes ended in errors."""
    interval: tuple[float, float] | None = None

    def __repr__(self) -> str:
        """Return the run in one line."""
        stopped = f", {self.stopped}" if self.stopped else ""
        share = f"{self.passed} of {self.episodes} passed, {self.errors} errors"
        return f"Evaluation({share}{stopped}; {self.folder})"

    def records(self) -> Iterator[EpisodeRecord]:
        """Yield the record of every episode."""
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
    checks: Sequence[EpisodeCheck | Mapping[str, Any]] = (),
    policy: str | None = None,
    extensions: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> Evaluation:
    """Run an agent on a data set, judge it, and save the run in a folder.

    Args:
        agent: ``agent(messages, tools)`` returns the assistant message, as in chat completions. A
            function is called in threads; a coroutine function is awaited; a class is instantiated
            for every episode. An exception counts as an error of the episode.
        dataset: Passed to ``load_dataset``, like ``categories``.
        agent_factory: Creates an agent for every episode; use instead of ``agent``.
        name: Name of the agent in tables (default: the place of its definition).
        ids: Ids of the trajectories to run; ``limit`` keeps the first ones.
        trials: Episodes per trajectory.
        profile: A profile or its name (default: the profile for the data).
        run_dir: Run folder (default: a new folder in ``runs``); ``resume`` continues its run.
        concurrency: Maximum number of concurrent episodes.
        engine: Place of the agent; see ``turnwise eval``, also for ``workers`` and ``address``.
        checks: Checks of every episode: marked functions, or JSON objects as in entries.
        policy: System message at the start of every conversation.
        extensions: Settings by extension, such as ``{"faults": {"faults": "rate=0.1"}}``.

    Raises:
        DataError: An argument or the folder cannot be used.
    """
    _check_numbers(trials=trials, concurrency=concurrency, limit=limit, workers=workers)
    _check_texts(name=name, address=address, policy=policy)
    _check_folder(run_dir, resume)
    require_choice("engine", engine, ("local", "ray"))
    data, features = _add_features(dataset, categories, checks, policy, extensions)
    some = _choose(data, ids, limit)
    model = AgentName(name) if name else agent_name(_definition_place(agent or agent_factory))
    settings = Settings(concurrency=concurrency, features=features)
    connect = partial(_connect, _maker(agent, agent_factory))
    doing = _workers(engine, address, workers, settings, connect)
    plan = RunInputs(model, data, _profile(data, profile), STEP_LIMIT, settings, read_prompts())
    selection = Selection(_join_names(categories), _join_names(ids), limit, None, None, trials)
    folder = Path(run_dir) if run_dir else create_folder(default_folder(model, datetime.now()))
    with _open(folder, plan, selection, len(some) * trials, resume) as store:
        jobs = open_jobs(store, some, trials, None)
        ending = doing.conduct(plan, store, jobs, connect, _show_progress(len(jobs)))
    return _summarize(folder, ending.stop_reason)


def _add_features(
    dataset: str | Path | Dataset | None,
    categories: str | Sequence[str] | None,
    checks: Sequence[EpisodeCheck | Mapping[str, Any]],
    policy: str | None,
    extensions: Mapping[str, Mapping[str, Any]],
) -> tuple[Dataset, tuple[RunFeature, ...]]:
    data = load_dataset(dataset, categories=categories)
    require_type("checks", checks, list, tuple, described="a list of checks")
    features = tuple(extension.judging_features(checks, policy))
    for feature in features:
        data, _ = feature.narrowed(data, [*data.trajectories], None)
    return data, (*features, *extension.make_features(extensions, "extensions"))


def _workers(
    engine: str, address: str | None, workers: int | None, settings: Settings, connect: Connect
) -> Workers:
    with name_parameters():
        found = workers_of(engine, address, workers)
        found.check(settings, connect)
    return found


def _open(
    folder: Path, plan: RunInputs, chosen: Selection, episodes: int, resumes: bool
) -> RunStore:
    with name_parameters():
        return open_store(folder, plan, chosen, _COMMAND, episodes=episodes, resumes=resumes)


def _show_progress(episodes: int) -> ProgressDisplay:
    return ProgressDisplay(episodes, sys.stderr, time.monotonic)


def _summarize(folder: Path, stopped: str | None) -> Evaluation:
    figures = run_figures(read_catalog_run(folder))
    done, rate = [each.outcome for each in figures.outcomes], figures.overall
    score, interval = (rate.value, rate.interval) if rate else (None, None)
    passed, errors = done.count("passed"), done.count("error")
    return Evaluation(folder, len(done), passed, errors, stopped, score, interval)


def _choose(data: Dataset, ids: Sequence[str] | None, limit: int | None) -> list[Trajectory]:
    require_names("ids", ids)
    everything = list(data.trajectories.values())
    with name_parameters():
        some = dataset_choice.select_entries(everything, _join_names(ids), limit)
    dataset_choice.require_languages(some)
    dataset_choice.report_untyped(data, some)
    require_up(some, FIXTURE_ONLY)
    return some


def judge(
    data: Dataset | Trajectory,
    id: str | None = None,
    turns: Any = ABSENT,
    *,
    messages: Sequence[Mapping[str, Any]] | None = None,
    mode: Mode = "fc",
    profile: Profile | str | None = None,
) -> Verdict:
    """Execute and judge a recorded episode, by the rules of ``turnwise score``.

    Args:
        data: Data set of the trajectory, or the trajectory itself, without ``id``.
        turns: Turns of steps, as in BFCL's result files (``EpisodeRecord.result``). A step is a
            string, a list of ``{function: arguments as JSON}`` or of OpenAI's tool calls, or an
            assistant message. None stands for an error.
        messages: The whole conversation, in place of ``turns``: messages in the format of OpenAI,
            Anthropic or LangChain, or Responses items. Every user message begins a turn.
        mode: ``fc`` for tool calls, ``prompt`` for calls in text; messages have tool calls.
        profile: See ``evaluate``.

    Raises:
        DataError: The trajectory is not in the data set, or a value is neither a step nor a
            message.
        UnjudgeableEntry: No verdict is possible, and the model is not to blame.
    """
    described = "a Dataset or a Trajectory; load_dataset makes a Dataset"
    require_type("data", data, Dataset, Trajectory, described=described)
    require_choice("mode", mode, ("fc", "prompt"))
    if isinstance(data, Trajectory):
        if id is not None:
            require_choice("id", id, (data.id,))
        trajectory, data = data, single_dataset(data)
    else:
        require_type("id", id, str, described="the id of a trajectory")
        trajectory = dataset_choice.get_entry(data, str(id))
    if (turns is ABSENT) is (messages is None):
        raise DataError("turns, messages", "pass exactly one of these keyword arguments")
    rules = _profile(data, profile)
    prepared = prepare(data, trajectory, rules)
    if messages is not None:
        require_choice("mode", mode, ("fc",))
        turns = read_messages(messages, trajectory)
    elif turns is not None:
        turns = read_steps(turns, trajectory)
    return judge_recorded(prepared, turns, mode, rules).verdict


def _profile(data: Dataset, profile: Profile | str | None) -> Profile:
    described = "a Profile or its name"
    require_type("profile", profile, None, str, Profile, described=described)
    return profile if isinstance(profile, Profile) else choose_profile(data, profile)


def _check_numbers(**numbers: object) -> None:
    for name, value in numbers.items():
        optional = name in ("limit", "workers")
        require_number(name, value, optional=optional, most=inf if optional else _MAX_EPISODES)


def _check_texts(**texts: object) -> None:
    for name, value in texts.items():
        require_type(name, value, None, str, described="a string or None")


def _check_folder(run_dir: object, resume: object) -> None:
    require_type("run_dir", run_dir, None, str, Path, described="a path or None")
    if "\0" in str(run_dir):
        raise DataError("run_dir", f"must be a path without null bytes, but is {run_dir!r:.60}")
    require_type("resume", resume, bool, described="True or False")
    if resume and run_dir is None:
        raise DataError("resume", "needs run_dir, the folder of the run")


def _connect(make: Callable[[], Agent], _: RunInputs) -> Model:
    return AgentModel(make)


def _maker(
    agent: Agent | type[Any] | None, agent_factory: Callable[[], Agent] | None
) -> Callable[[], Agent]:
    if (agent is None) == (agent_factory is None) or not callable(agent or agent_factory):
        raise DataError("agent", "pass exactly one callable: either agent or agent_factory")
    if agent_factory is not None:
        return agent_factory
    assert agent is not None
    return load_agent_maker(agent)


def _definition_place(agent: Any) -> str:
    named = agent if hasattr(agent, "__qualname__") else type(agent)
    return f"{named.__module__}:{named.__qualname__}"


def _join_names(names: str | Sequence[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)
