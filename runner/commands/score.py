"""The command ``turnwise score``: recorded result files."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from runner.commands.common import add_profile_options, new_command, note, profile_of
from runner.commands.judging import (
    add_output_option,
    add_worker_options,
    judge_all,
    report,
    run_entry,
)
from runner.data import choose
from runner.records import result_file


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser = new_command(commands, "score", _score, "Execute and judge recorded result files.")
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="result file, or folder of them"
    )
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        default="bfcl",
        help="what the recorded runs are of: bfcl or bfcl:FOLDER (default: %(default)s)",
    )
    parser.add_argument(
        "--mode",
        choices=["fc", "prompt"],
        help="how the model called functions (default: seen from the files)",
    )
    add_profile_options(parser)
    add_output_option(parser)
    add_worker_options(parser)


def _score(options: argparse.Namespace) -> int:
    runs = choose.recorded_runs(*options.paths, mode=options.mode)
    wanted = result_file.categories_of(entry.id for entry, _ in runs.values())
    dataset = choose.dataset(options.dataset, wanted, note)
    profile = profile_of(options, dataset)
    trajectories = choose.trajectories(dataset, runs)
    choose.require_languages(trajectories)
    run = partial(run_entry, runs=runs, profile=profile, step_limit=options.step_limit)
    outcomes = judge_all(dataset, trajectories, profile, run, options)
    return report(dataset, profile, trajectories, outcomes, len(trajectories))
