"""Executing and judging: many entries offline with progress and a report, or one of a run again."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from checkers.calls.errors import CannotJudge
from checkers.profile import BFCL, Profile
from checkers.verdict import Verdict
from envs import __version__
from runner.analysis.examined import Examined, examine_recorded, examine_truth
from runner.analysis.source import RunSource, dataset_of, open_trajectory
from runner.analysis.summary import outcome_of_judged, summary
from runner.commands.options import DONE, RUN_ERROR, argument, option, positive
from runner.commands.shared import (
    DataOptions,
    JudgingOptions,
    OutputOption,
    note,
    profile_of,
    written,
)
from runner.data import choose
from runner.data.choose import Runs
from runner.episodes.evaluate import Judged, judge_recorded
from runner.live.workers import Workers, workers_of
from runner.records.result_file import categories_of
from runner.show.progress import progress
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import Prepared, prepare
from trajectories.schema import Trajectory


@dataclass(frozen=True, kw_only=True)
class WorkOptions(OutputOption, JudgingOptions):
    """Processes."""

    workers: int | None = option("to judge with, or workers of Ray", "N", read=positive)
    engine: str = option("where", default="local", choices=["local", "ray"])
    address: str | None = option("the Ray cluster (default: one here, for the time being)", "NAME")


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions(DataOptions, JudgingOptions):
    """Episode."""

    id: str = argument("id of the trajectory", "ID")


def workers_for(options: WorkOptions) -> Workers:
    """Return the workers that the options name.

    Raises:
        DataError: The options contradict each other, or Ray is not installed.
    """
    return workers_of(options.engine, options.address, options.workers)


def run_entry(prepared: Prepared, runs: Runs, profile: Profile, step_limit: int) -> Verdict:
    """Execute again what recorded runs have of a trajectory, and judge it."""
    entry, mode = runs[prepared.trajectory.id]
    return judge_recorded(prepared, entry.turns, mode, profile, step_limit).verdict


def judge_all(
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    profile: Profile,
    run: Callable[[Prepared], Verdict],
    options: WorkOptions,
) -> list[Judged]:
    """Judge trajectories, show progress, and write verdict lines where they are wanted.

    Raises:
        DataError: Something of the user's cannot be used.
    """
    choose.require_languages(trajectories)
    judged = workers_for(options).judge(dataset, trajectories, profile, run)
    # What is loaded by now stays; looking through it again takes a sixth of the time.
    gc.freeze()
    shown = progress(judged, len(trajectories), "judged", sys.stderr)
    if options.output is None:
        return list(shown)
    header = {"profile": profile.name, "dataset": dataset.name, "data_sha256": dataset.sha256}
    with written(options.output) as file:
        return list(_written_lines(shown, header, file))


def _written_lines(
    outcomes: Iterable[Judged], header: dict[str, str], file: IO[str]
) -> Iterator[Judged]:
    for outcome in outcomes:
        file.write(json.dumps({**outcome.to_json(), **header}) + "\n")
        yield outcome


def report(
    dataset: Dataset,
    profile: Profile,
    trajectories: Sequence[Trajectory],
    outcomes: Sequence[Judged],
    population: int,
) -> int:
    """Print the table and what the data were; return the exit status."""
    counted = [outcome_of_judged(outcome) for outcome in outcomes]
    field = profile is BFCL
    for line in summary(counted, trajectories, 1, population, allow_errors=False, field=field):
        print(line)
    print(
        f"data {dataset.name} {dataset.version}, sha256 {dataset.sha256[:12]}; "
        f"profile {profile.name}; turnwise {__version__}"
    )
    errors = [outcome for outcome in outcomes if outcome.verdict is None]
    for outcome in errors:
        print(f"turnwise: {outcome.id}: {outcome.error}", file=sys.stderr)
    return RUN_ERROR if errors else DONE


def examined_truth(options: EpisodeOptions) -> Examined:
    """Return the ground truth of the trajectory that the user named, played.

    Raises:
        DataError: There is no such trajectory, or no verdict on it.
    """
    name = choose.dataset_name(options.dataset, [options.id])
    wanted = categories_of([options.id])
    if options.category:
        wanted = choose.categories(options.category, name)
    dataset = choose.dataset(name, wanted, note)
    profile = profile_of(options, dataset)
    trajectory = choose.trajectory(dataset, options.id)
    with _judged(options.id):
        prepared = prepare(dataset, trajectory, profile)
        return examine_truth(prepared, profile, options.step_limit)


def examined_episode(options: EpisodeOptions, path: Path, trial: int) -> tuple[RunSource, Examined]:
    """Return one episode, as ``examined_episodes`` does."""
    run, (examined,) = examined_episodes(options, path, [trial])
    return run, examined


def examined_episodes(
    options: EpisodeOptions, path: Path, trials: Sequence[int] | None
) -> tuple[RunSource, list[Examined]]:
    """Return episodes of the trajectory that the user named, executed once more.

    Args:
        options: The trajectory's id, and how it is judged.
        path: The run that they are of.
        trials: Which; None for all that there are.

    Raises:
        DataError: There is no such run, trajectory or trial, or no verdict on it.
    """
    run = open_trajectory(path, options.id)
    wanted = sorted(trial for _, trial in run.episodes) if trials is None else trials
    episodes = [run.episode(options.id, trial) for trial in wanted]
    dataset = dataset_of(run, options.dataset, note)
    profile, step_limit = rules_of(run, dataset, options)
    trajectory = choose.trajectory(dataset, options.id)
    with _judged(options.id):
        prepared = prepare(dataset, trajectory, profile)
        return run, [examine_recorded(prepared, each, profile, step_limit) for each in episodes]


@contextmanager
def _judged(id: str) -> Iterator[None]:
    """Tell the user where there is no verdict on an entry."""
    try:
        yield
    except CannotJudge as error:
        raise DataError(id, f"there is no verdict on it: {error}") from None


def with_state(examined: Examined, purpose: str) -> Examined:
    """Return an episode that has a state to look at.

    Args:
        examined: The episode.
        purpose: What is to be done with it.

    Raises:
        DataError: It is a single turn.
    """
    if examined.answer is None:
        return examined
    id, category = examined.trajectory.id, examined.trajectory.category
    what = f"{id} is a single turn ({category}): it has no state"
    raise DataError("ID", f"{what} {purpose}; turnwise replay shows it")


def rules_of(run: RunSource, dataset: Dataset, options: JudgingOptions) -> tuple[Profile, int]:
    """Return how a run is executed and judged: its profile and its step limit.

    The profile that the user names goes before the one that the run was made under.
    """
    if run.definition is None:
        return profile_of(options, dataset), options.step_limit
    profile = None if options.profile else run.profile
    return profile or profile_of(options, dataset), run.definition["step_limit"]


def source_name(run: RunSource, examined: Examined) -> str:
    """Return what to call an episode's run; result files have no trials."""
    recorded = examined.recorded
    return f"{run.name}, trial {recorded.trial}" if run.definition and recorded else run.name
