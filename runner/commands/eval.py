"""The command ``turnwise eval``: a model on a data set."""

from __future__ import annotations

import argparse
from typing import Any

from checkers.verdict import Verdict
from runner import choose
from runner.commands.common import (
    add_data_options,
    add_profile_options,
    new_command,
    note,
    positive,
    profile_of,
)
from runner.commands.judging import add_output_option, judge_all, report
from runner.commands.live_options import add_options
from runner.evaluate import run_recorded, run_script
from runner.prepare import Prepared
from runner.scripts import null, oracle
from trajectories.dataset import Dataset


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser = new_command(commands, "eval", _eval, "Run a model on a data set and print its score.")
    parser.add_argument(
        "--model",
        required=True,
        metavar="NAME",
        help="oracle (plays the ground truth), null (never calls), replay:PATH (recorded run), or "
        "a live model: NAME, if need be with --base-url, or provider/NAME",
    )
    add_data_options(parser)
    parser.add_argument("--ids", metavar="IDS", help="only these entries, separated by commas")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N entries")
    parser.add_argument("--sample", type=positive, metavar="N", help="a stratified sample")
    parser.add_argument("--sample-seed", type=int, default=0, metavar="S", help="(0)")
    add_profile_options(parser)
    add_output_option(parser)
    add_options(parser)


def _eval(options: argparse.Namespace) -> int:
    model = choose.model(options.model, options.base_url)
    categories = choose.categories(options.category, options.dataset)
    runs = choose.recorded_runs(model.path) if model.path else {}
    dataset = choose.dataset(options.dataset, categories, note)
    profile = profile_of(options, dataset)
    everything = choose.trajectories(dataset, runs if model.path else None)
    trajectories = choose.part(
        everything, options.ids, options.limit, options.sample, options.sample_seed
    )
    population = len(everything) if options.sample else len(trajectories)
    if dataset.tolerant:
        _note_irregularities(dataset)
    if model.live:
        # Imports what makes schemas and runs many things at once; no other command needs it.
        from runner.commands.eval_live import evaluate_live

        return evaluate_live(options, dataset, profile, trajectories, population)

    def run(prepared: Prepared) -> Verdict:
        trajectory = prepared.trajectory
        if model.path:
            entry, mode = runs[trajectory.id]
            return run_recorded(prepared, entry.turns, mode, profile, options.step_limit)
        script = oracle(trajectory) if model.name == "oracle" else null(trajectory)
        return run_script(prepared, script, profile, options.step_limit)

    outcomes = judge_all(dataset, trajectories, profile, run, options)
    return report(dataset, profile, trajectories, outcomes, population)


def _note_irregularities(dataset: Dataset) -> None:
    problems = choose.irregularities(dataset)
    if problems:
        configs = len({id for id, _ in problems})
        note(
            f"warning: {len(problems)} irregularities in {configs} initial configs, taken"
            f" as they are (turnwise dataset show {dataset.name} --warnings lists them)"
        )
