"""Several runs of one ``turnwise eval``: each in a folder of its own, under one budget.

An option such as ``--formats`` makes variants, and this does them one after the other, goes on with
those that were stopped, and prints one table. Every folder is an ordinary run, so that resuming,
reports and comparisons are those of any run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.analysis.figures import RunFigures, totals_of
from runner.analysis.variants import CallShape, VariantScore, format_lines, protocol_lines
from runner.commands import DONE
from runner.commands.eval_options import EvalOptions
from runner.commands.live_run import run_plan
from runner.commands.shared import note
from runner.commands.variants import Variant, Variants, left_of, with_budget
from runner.live.campaign import Plan
from runner.live.settings import with_protocol
from runner.models.prompting import formats_named
from runner.records.run import is_run, open_run
from runner.show.terminal import say
from trajectories.errors import DataError
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from extensions.experiments import eval_vary
    from extensions.formats import registry
else:
    # Few runs are experiments, which bring retrieval along.
    eval_vary = lazily("extensions.experiments.eval_vary")
    registry = lazily("extensions.formats.registry")

Maker = Callable[[EvalOptions, Plan, Sequence[Trajectory]], Variants]
"""Makes variants of a plan, as an option says."""


def variants_of(
    options: EvalOptions, plan: Plan, trajectories: Sequence[Trajectory]
) -> Variants | None:
    """Return the runs that the user wants instead of one; None where it is one.

    Raises:
        DataError: The options contradict each other, or name something that there is not.
    """
    wanted = [name for name in MAKERS if vars(options)[name] not in (None, ())]
    if len(wanted) > 1:
        raise DataError(f"--{wanted[1]}", f"does not go together with --{wanted[0]}")
    if not wanted:
        return None
    several = f"takes one run, and --{wanted[0]} makes several"
    if options.output is not None:
        raise DataError("--output", f"{several}; the verdicts are in their folders")
    if options.errata != "none":
        raise DataError("--errata", f"{several}: turnwise table has it for each folder")
    return MAKERS[wanted[0]](options, plan, trajectories)


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


def _formats(options: EvalOptions, plan: Plan, trajectories: Sequence[Trajectory]) -> Variants:
    """Return a run in each of the prompt formats that the user names."""
    formats = formats_named([name.strip() for name in (options.formats or "").split(",")])
    if plan.settings.protocol is not None:
        raise DataError("--formats", "does not go together with a protocol")
    if plan.settings.mode != "prompt":
        raise DataError("--formats", "is for prompting models: add --mode prompt")
    if plan.settings.prompts is not None:
        raise DataError("--formats", "has prompts of its own; leave --prompts out")
    asked = _in_python(trajectories)
    members = [Variant(each.name, plan._replace(format=each), asked) for each in formats]
    return Variants("--formats", "format", members, format_lines)


def _in_python(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    asked = [
        trajectory
        for trajectory in trajectories
        if not trajectory.is_executed and trajectory.language == "python"
    ]
    if not asked:
        raise DataError("--formats", "asks single-turn entries in Python; choose such a --category")
    if len(asked) < len(trajectories):
        note(f"{len(trajectories) - len(asked)} entries are left out: not one turn, or not Python")
    return asked


def _protocols(options: EvalOptions, plan: Plan, trajectories: Sequence[Trajectory]) -> Variants:
    """Return a run in each of the protocols that the user names."""
    if plan.settings.protocol is not None:
        raise DataError("--protocols", "does not go together with --protocol")
    names = [name.strip() for name in (options.protocols or "").split(",")]
    protocols = registry.protocols_named(names)
    settings = {p.name: with_protocol(plan.settings, p.name, "--protocols") for p in protocols}
    members = [
        Variant(name, plan._replace(settings=each), trajectories) for name, each in settings.items()
    ]
    return Variants("--protocols", "protocol", members, protocol_lines)


def _vary(options: EvalOptions, plan: Plan, trajectories: Sequence[Trajectory]) -> Variants:
    """Return a run at each level of the axes that the user names."""
    made: Variants = eval_vary.vary_variants(options, plan, trajectories)
    return made


MAKERS: Mapping[str, Maker] = {
    "formats": _formats,
    "protocols": _protocols,
    "vary": _vary,
}
"""What makes several runs of one command, by the option that asks for it."""
