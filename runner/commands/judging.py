"""Judging many trajectories offline, with progress and verdict lines, and the report on it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from checkers.profile import Profile
from checkers.verdict import Verdict
from envs import __version__
from runner.commands.common import DONE, RUN_ERROR, written
from runner.evaluate import Judged, evaluate
from runner.prepare import Prepared
from runner.progress import progress
from runner.runs.summary import outcome_of_judged, summary
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


def add_output_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where verdict lines go."""
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write one JSON verdict line per entry"
    )


def judge_all(
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    profile: Profile,
    run: Callable[[Prepared], Verdict],
    options: argparse.Namespace,
) -> list[Judged]:
    """Judge trajectories, show progress, and write verdict lines where they are wanted."""
    judged = evaluate(dataset, trajectories, profile, run)
    shown = progress(judged, len(trajectories), "judged", sys.stderr)
    if options.output is None:
        return list(shown)
    header = {"profile": profile.name, "dataset": dataset.name, "data_sha256": dataset.sha256}
    with written(options.output) as file:
        return list(__written_lines(shown, header, file))


def __written_lines(
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
    for line in summary(counted, trajectories, 1, population, allow_errors=False):
        print(line)
    print(
        f"data {dataset.name} {dataset.version}, sha256 {dataset.sha256[:12]}; "
        f"profile {profile.name}; turnwise {__version__}"
    )
    errors = [outcome for outcome in outcomes if outcome.verdict is None]
    for outcome in errors:
        print(f"turnwise: {outcome.id}: {outcome.error}", file=sys.stderr)
    return RUN_ERROR if errors else DONE
