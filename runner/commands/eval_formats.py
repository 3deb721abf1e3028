"""The part of ``turnwise eval`` that asks a live model in several prompt formats.

Each format is a run of its own, in a folder of its name below a common one, so that resuming,
reports and comparisons are those of any run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from checkers.profile import Profile
from runner.analysis.format_scores import FormatScore, lines
from runner.analysis.summary import outcome_of
from runner.commands.common import DONE, RUN_ERROR, note
from runner.commands.eval_live import is_ready, plan_of, run_plan
from runner.live.campaign import Plan, function_docs_folder, jobs_of
from runner.live.conduct import Ending, estimate
from runner.models.prompting import PromptFormat, formats_named
from runner.models.tools import toolbox_of
from runner.records.store import RUN_FILE, default_folder, read_run
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import ExpectedCalls, Trajectory


def evaluate_formats(
    options: argparse.Namespace,
    dataset: Dataset,
    profile: Profile,
    trajectories: Sequence[Trajectory],
) -> int:
    """Ask a live model in several formats, print the table, and return the exit status.

    Args:
        options: The command line.
        dataset: Where the trajectories are from.
        profile: How answers are judged.
        trajectories: Which to ask; those of one turn in Python are.

    Raises:
        DataError: An option, file or folder cannot be used.
    """
    formats = formats_named([name.strip() for name in options.formats.split(",")])
    plan = plan_of(options, dataset, profile)
    _check(options, plan)
    asked = _in_python(trajectories)
    if options.dry_run:
        _print_estimate(plan, formats, asked, options.trials)
        return DONE
    if not options.no_preflight and not is_ready(plan):
        return RUN_ERROR
    folder = options.resume or options.run_dir or default_folder(options.model, datetime.now())
    status = _run_all(plan, formats, folder, asked, options)
    for line in lines([_score(each, folder, asked, options) for each in formats]):
        print(line)
    print(f"model {plan.model}; data {dataset.name}; profile {profile.name}; runs in {folder}")
    return status


def _check(options: argparse.Namespace, plan: Plan) -> None:
    if plan.settings.mode != "prompt":
        raise DataError("--formats", "is for prompting models: add --mode prompt")
    if plan.settings.prompts is not None:
        raise DataError("--formats", "has prompts of its own; leave --prompts out")
    if options.output is not None:
        raise DataError("--output", "takes one run; the verdicts are in the folders of the formats")


def _in_python(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    asked = [
        trajectory
        for trajectory in trajectories
        if isinstance(trajectory.expects, ExpectedCalls) and trajectory.expects.language == "python"
    ]
    if not asked:
        raise DataError("--formats", "asks single-turn entries in Python; choose such a --category")
    if len(asked) < len(trajectories):
        note(f"{len(trajectories) - len(asked)} entries are left out: not one turn, or not Python")
    return asked


def _run_all(
    plan: Plan,
    formats: Sequence[PromptFormat],
    folder: Path,
    asked: Sequence[Trajectory],
    options: argparse.Namespace,
) -> int:
    """Do the runs one after the other, until one is stopped."""
    worst = DONE
    for prompt_format in formats:
        place = folder / prompt_format.name
        resumes = options.resume is not None and (place / RUN_FILE).exists()
        one = plan._replace(format=prompt_format)
        ending, status = run_plan(one, place, asked, options, resumes=resumes)
        if ending.stop_reason is not None:
            # By name, since a budget is what the formats before have left of it.
            note(f"{prompt_format.name}: {ending.stop_reason}; go on with --resume {folder}")
            return status
        worst = max(worst, status)
        plan = _after(plan, ending)
    return worst


def _after(plan: Plan, ending: Ending) -> Plan:
    """Return a plan whose budget is what a run has left of it."""
    settings, spent = plan.settings, ending.spent
    if settings.max_requests is not None:
        settings = replace(settings, max_requests=settings.max_requests - spent.requests)
    if settings.max_cost is not None:
        settings = replace(settings, max_cost=settings.max_cost - (spent.cost or 0.0))
    return plan._replace(settings=settings)


def _score(
    prompt_format: PromptFormat,
    folder: Path,
    asked: Sequence[Trajectory],
    options: argparse.Namespace,
) -> FormatScore:
    place = folder / prompt_format.name
    records = read_run(place).episodes() if (place / RUN_FILE).exists() else []
    outcomes = [outcome_of(record) for record in records]
    return FormatScore(prompt_format, outcomes, len(asked) * options.trials, options.allow_errors)


def _print_estimate(
    plan: Plan, formats: Sequence[PromptFormat], asked: Sequence[Trajectory], trials: int
) -> None:
    docs = function_docs_folder(plan.settings, plan.dataset)
    guess = estimate(jobs_of(asked, trials), lambda trajectory: toolbox_of(trajectory, docs).size)
    print(
        f"{len(asked)} entries in {len(formats)} formats, {len(formats) * guess.requests} requests "
        f"and about {len(formats) * guess.tokens} prompt tokens"
    )
