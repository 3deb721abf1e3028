"""Several runs of one ``turnwise eval``: each in a folder of its own, under one budget.

An option such as ``--formats`` makes variants, and this does them one after the other, goes on with
those that were stopped, and prints one table. Every folder is an ordinary run, so that resuming,
reports and comparisons are those of any run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner import extension
from runner.analysis.figures import RunFigures, totals_of
from runner.analysis.variants import CallShape, VariantScore
from runner.commands import DONE
from runner.commands.eval_options import EvalOptions
from runner.commands.live_run import run_plan
from runner.commands.shared import note
from runner.commands.variants import Variant, Variants, left_of, with_budget
from runner.live.campaign import Plan
from runner.records.run import is_run, open_run
from runner.show.terminal import say
from trajectories.errors import DataError
from trajectories.schema import Trajectory


def variants_of(
    options: EvalOptions, plan: Plan, trajectories: Sequence[Trajectory]
) -> Variants | None:
    """Return the runs that the user wants instead of one; None where it is one.

    Raises:
        DataError: The options contradict each other, or name something that there is not.
    """
    found = [
        made
        for name, own in options.extensions.items()
        if (made := extension.named(name).variants(options, own, plan, trajectories))
    ]
    if not found:
        return None
    if len(found) > 1:
        raise DataError(found[1].flag, f"does not go together with {found[0].flag}")
    several = f"takes one run, and {found[0].flag} makes several"
    if options.output is not None:
        raise DataError("--output", f"{several}; the verdicts are in their folders")
    if options.errata != "none":
        raise DataError("--errata", f"{several}: turnwise table has it for each folder")
    return found[0]


def run_variants(variants: Variants, folder: Path, options: EvalOptions) -> int:
    """Do the runs, print the table, and return the exit status.

    Raises:
        DataError: The folder cannot be used.
    """
    if is_run(folder):
        raise DataError(str(folder), f"is one run, and {variants.flag} makes several")
    variants.begin(folder)
    status = _run_all(variants, folder, options)
    if variants.report is None:
        lines = variants.lines([_score(each, folder, options) for each in variants.members])
    else:
        lines = variants.report(folder)
    for line in lines:
        say(line)
    plan = variants.members[0].plan
    data, profile = plan.dataset.name, plan.profile.name
    say(f"model {plan.model}; data {data}; profile {profile}; runs in {folder}")
    return status


def _run_all(variants: Variants, folder: Path, options: EvalOptions) -> int:
    """Do the runs one after the other, until one is stopped."""
    worst = DONE
    settings = variants.members[0].plan.settings
    left = settings.max_requests, settings.max_cost
    for name, plan, trajectories in variants.members:
        place = folder / name
        resumes = options.resume is not None and is_run(place)
        one = with_budget(plan, *left)
        ending, status = run_plan(one, place, trajectories, options, resumes=resumes)
        if ending.stop_reason is not None:
            # By name, since a budget is what the runs before have left of it.
            note(f"{name}: {ending.stop_reason}; go on with --resume {folder}")
            return status
        worst = max(worst, status)
        left = left_of(*left, ending)
    return worst


def _score(variant: Variant, folder: Path, options: EvalOptions) -> VariantScore:
    place, asked = folder / variant.name, variant.trajectories
    records = list(open_run(place).records) if is_run(place) else []
    figures = RunFigures(records, asked, totals_of(records), options.allow_errors)
    planned = len(asked) * options.trials
    return VariantScore(variant.name, figures, planned, CallShape.of(records))
