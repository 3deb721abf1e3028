"""Several runs of one ``turnwise eval`` command, from an option such as ``--formats``.

The variants run one after the other and share one budget. One table shows all variants. Each
variant has its own run folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from envs.errors import DataError
from runner import extension
from runner.analysis.figures import RunFigures, totals_of
from runner.analysis.variant_table import AnswerCounts, VariantScore
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.eval_options import EvalOptions
from runner.commands.plan_execution import run_plan
from runner.commands.variant_types import Variant, VariantSet, remaining_budget, with_budget
from runner.live.live_run import RunInputs
from runner.records.recorded_run import is_run, open_run
from runner.show.terminal import say
from trajectories.schema import Trajectory


def variants_of(
    options: EvalOptions, plan: RunInputs, trajectories: Sequence[Trajectory]
) -> VariantSet | None:
    """Return the variants that the options select; None for a single run.

    Raises DataError if options contradict each other or have unknown values.
    """
    found = [
        made
        for name, own in options.extensions.items()
        if (made := extension.load_extension(name).variants(options, own, plan, trajectories))
    ]
    if not found:
        return None
    if len(found) > 1:
        raise DataError(found[1].flag, f"cannot be combined with {found[0].flag}; leave one out")
    several = f"needs a single run, but {found[0].flag} makes several"
    if options.output is not None:
        raise DataError("--output", f"{several}; read the verdicts in the run folders")
    if options.errata != "none":
        raise DataError("--errata", f"{several}; run turnwise table --errata on the run folders")
    return found[0]


def run_variants(variants: VariantSet, folder: Path, options: EvalOptions) -> int:
    """Run the variants, print their table and return the exit status.

    Raises DataError if the folder cannot be used.
    """
    if is_run(folder):
        raise DataError(str(folder), f"contains a single run; {variants.flag} needs another folder")
    variants.begin(folder)
    status = _run_all(variants, folder, options)
    if variants.report is None:
        lines = variants.lines([_score(each, folder, options) for each in variants.members])
    else:
        lines = variants.report(folder)
    say("\n".join(lines))
    plan = variants.members[0].plan
    data, profile = plan.dataset.name, plan.profile.name
    say(f"model {plan.model}; data {data}; profile {profile}; runs in {folder}")
    return status


def _run_all(variants: VariantSet, folder: Path, options: EvalOptions) -> int:
    worst = DONE
    settings = variants.members[0].plan.settings
    left = settings.max_requests, settings.max_cost
    for name, plan, trajectories in variants.members:
        place = folder / name
        resumes = options.resume is not None and is_run(place)
        one = with_budget(plan, *left)
        ending, status = run_plan(one, place, trajectories, options, resumes=resumes)
        if ending.stop_reason is not None:
            note(f"{name}: {ending.stop_reason}; resume with --resume {quote(str(folder))}")
            return status
        worst = max(worst, status)
        left = remaining_budget(*left, ending)
    return worst


def _score(variant: Variant, folder: Path, options: EvalOptions) -> VariantScore:
    name, entries = variant.name, variant.trajectories
    records = list(open_run(folder / name).records) if is_run(folder / name) else []
    figures = RunFigures(records, entries, totals_of(records), options.allow_errors)
    return VariantScore(name, figures, len(entries) * options.trials, AnswerCounts.of(records))
