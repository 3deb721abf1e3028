"""The command ``turnwise eval``: a model on a data set."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from runner.commands.common import (
    add_data_options,
    add_profile_options,
    new_command,
    note,
    positive,
    profile_of,
)
from runner.commands.judging import (
    add_output_option,
    add_worker_options,
    judge_all,
    report,
    run_entry,
)
from runner.commands.live_options import add_options
from runner.data import choose
from runner.data.rest import REST_CLIENT
from runner.episodes.evaluate import run_null, run_oracle
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
    add_worker_options(parser)
    add_options(parser)
    parser.add_argument(
        "--allow-network",
        action="store_true",
        help="let REST entries ask other machines than this one",
    )


def _eval(options: argparse.Namespace) -> int:
    model = choose.model(options.model, options.base_url)
    categories = choose.categories(options.category, options.dataset)
    runs = choose.recorded_runs(model.path) if model.path else {}
    dataset = choose.dataset(options.dataset, categories, note, allow_network=options.allow_network)
    profile = profile_of(options, dataset)
    everything = choose.trajectories(dataset, runs if model.path else None)
    trajectories = choose.part(
        everything, options.ids, options.limit, options.sample, options.sample_seed
    )
    choose.require_languages(trajectories)
    population = len(everything) if options.sample else len(trajectories)
    if any(REST_CLIENT in trajectory.environments for trajectory in trajectories):
        from runner.data.rest.web import require_up

        require_up(trajectories, allow_network=options.allow_network)
    if dataset.tolerant:
        _note_irregularities(dataset)
    if model.live:
        # Imports what makes schemas and runs many things at once; no other command needs it.
        if options.formats is not None:
            from runner.commands.eval_formats import evaluate_formats

            return evaluate_formats(options, dataset, profile, trajectories)
        from runner.commands.eval_live import evaluate_live

        return evaluate_live(options, dataset, profile, trajectories, population)
    how = {"profile": profile, "step_limit": options.step_limit}
    if model.path:
        run = partial(run_entry, runs=runs, **how)
    else:
        run = partial(run_oracle if model.name == "oracle" else run_null, **how)
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
