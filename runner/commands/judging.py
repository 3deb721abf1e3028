"""Judging many trajectories offline, with progress and verdict lines, and the report on it."""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from checkers.profile import BFCL, Profile
from checkers.verdict import Verdict
from envs import __version__
from runner.analysis.summary import outcome_of_judged, summary
from runner.commands.common import DONE, RUN_ERROR, positive, written
from runner.data.choose import Runs
from runner.data.truth_cache import truth_cache
from runner.episodes.evaluate import Judged, evaluate, run_recorded
from runner.live.ray.cluster import Cluster, library
from runner.show.progress import progress
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import Prepared
from trajectories.schema import Trajectory


def add_output_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where verdict lines go."""
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write one JSON verdict line per entry"
    )


def add_worker_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which processes do the work."""
    parser.add_argument(
        "--workers", type=positive, metavar="N", help="processes to judge with, or workers of Ray"
    )
    parser.add_argument(
        "--engine", choices=["local", "ray"], default="local", help="where (default: %(default)s)"
    )
    parser.add_argument(
        "--address", metavar="NAME", help="the Ray cluster (default: one here, for the time being)"
    )


def cluster_of(options: argparse.Namespace) -> Cluster | None:
    """Return the cluster to work on, or None for this machine without one.

    Raises:
        DataError: The options contradict each other, or Ray is not installed.
    """
    if options.engine == "ray":
        library()
        return Cluster(options.address, options.workers)
    if options.address:
        raise DataError("--address", "is that of a Ray cluster, and needs --engine ray")
    return None


def run_entry(prepared: Prepared, runs: Runs, profile: Profile, step_limit: int) -> Verdict:
    """Execute again what recorded runs have of a trajectory, and judge it."""
    entry, mode = runs[prepared.trajectory.id]
    return run_recorded(prepared, entry.turns, mode, profile, step_limit)


def judge_all(
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    profile: Profile,
    run: Callable[[Prepared], Verdict],
    options: argparse.Namespace,
) -> list[Judged]:
    """Judge trajectories, show progress, and write verdict lines where they are wanted.

    Raises:
        DataError: Something of the user's cannot be used.
    """
    judged = _evaluated(dataset, trajectories, profile, run, options)
    # What is loaded by now stays; looking through it again takes a sixth of the time.
    gc.freeze()
    shown = progress(judged, len(trajectories), "judged", sys.stderr)
    if options.output is None:
        return list(shown)
    header = {"profile": profile.name, "dataset": dataset.name, "data_sha256": dataset.sha256}
    with written(options.output) as file:
        return list(_written_lines(shown, header, file))


def _evaluated(
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    profile: Profile,
    run: Callable[[Prepared], Verdict],
    options: argparse.Namespace,
) -> Iterator[Judged]:
    """Return what becomes of trajectories, judged by the processes that are wanted."""
    cluster = cluster_of(options)
    if cluster is not None:
        from runner.live.ray.judging import evaluate_on_ray

        return evaluate_on_ray(dataset, trajectories, profile, run, cluster=cluster)
    if options.workers is not None:
        # What several processes need takes a while to import.
        from runner.episodes.spread import evaluate_in_processes

        return evaluate_in_processes(dataset, trajectories, profile, run, workers=options.workers)
    return _evaluated_here(dataset, trajectories, profile, run)


def _evaluated_here(
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    profile: Profile,
    run: Callable[[Prepared], Verdict],
) -> Iterator[Judged]:
    with truth_cache(dataset, profile) as cache:
        yield from evaluate(dataset, trajectories, profile, run, cache.outcomes)


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
