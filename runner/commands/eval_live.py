"""The part of ``turnwise eval`` that talks to a live model, and what it prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from checkers.profile import BFCL, Profile
from runner.analysis.figure_lines import both_lines, lines, summary
from runner.analysis.figures import OwnMachine, RunFigures, totals_of
from runner.analysis.mended import judge_of
from runner.analysis.symptoms import Symptoms
from runner.commands import DONE, RUN_ERROR
from runner.commands.asking import cost_line, is_ready, plan_of
from runner.commands.eval_options import EvalOptions
from runner.commands.eval_variants import run_variants, variants_of
from runner.commands.features import feature_lines, narrowed, settings_of
from runner.commands.judging import held_to, mend_for, workers_for
from runner.commands.live_run import connect_to, run_plan
from runner.commands.shared import note
from runner.commands.variants import Variant, Variants
from runner.data import choose
from runner.episodes.telling import requiring_told
from runner.live.campaign import Plan, function_docs_folder, jobs_of
from runner.live.conduct import Estimate, estimate
from runner.live.forcing import check_forced
from runner.live.settings import Settings
from runner.models.base import Usage
from runner.models.model_name import parsed
from runner.records.files import write_whole
from runner.records.record import EpisodeRecord
from runner.records.run import lives_in, open_run, records_in
from runner.records.store import claimed, default_folder
from runner.show.terminal import say
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import Trajectory


def evaluate_live(
    options: EvalOptions,
    dataset: Dataset,
    profile: Profile,
    trajectories: Sequence[Trajectory],
    population: int,
) -> int:
    """Run a live model over trajectories, print what it came to, and return the exit status.

    Raises:
        DataError: An option, file or folder cannot be used.
    """
    plan = _plan_of(options, dataset, profile)
    choose.require_nesting(trajectories, profile, plan.settings.mode)
    folder = function_docs_folder(plan.settings, plan.dataset)
    ids = [each.id for each in trajectories]
    dataset, features = narrowed(plan.settings.features, plan.dataset, ids, folder)
    settings = replace(plan.settings, features=tuple(features))
    plan = plan._replace(dataset=dataset, settings=settings)
    trajectories = [plan.dataset.trajectories[each.id] for each in trajectories]
    variants = variants_of(options, plan, trajectories)
    if variants and options.fail_under is not None:
        raise DataError("--fail-under", f"is of one run, and {variants.flag} makes several")
    runs = variants.members if variants else [Variant("", plan, trajectories)]
    for run in runs:
        check_forced(run.plan, run.trajectories)
    if options.dry_run:
        _print_estimate(plan, trajectories, options.trials, variants)
        return DONE
    asked = _by_wire([run.plan for run in runs])
    if not options.no_preflight and not all(is_ready(plan, connect_to) for plan in asked):
        return RUN_ERROR
    folder = options.resume or options.run_dir or _own_folder(options.model)
    if variants:
        return run_variants(variants, folder, options)
    resumes = options.resume is not None
    ending, status = run_plan(plan, folder, trajectories, options, resumes=resumes)
    figures = _print_result(folder, plan, trajectories, population, options)
    if ending.stop_reason is not None:
        note(f"{ending.stop_reason}; go on with --resume {folder}")
    return held_to(options.fail_under, figures, status) if figures else status


def _by_wire(plans: Sequence[Plan]) -> Sequence[Plan]:
    """Return the first of the plans that ask a server by the same API."""
    first: dict[str | None, Plan] = {}
    for plan in plans:
        first.setdefault(plan.settings.request_options().api, plan)
    return [*first.values()]


def _own_folder(model: str) -> Path:
    return claimed(default_folder(model, datetime.now()))


def _plan_of(options: EvalOptions, dataset: Dataset, profile: Profile) -> Plan:
    """Return what the episodes of the run are like that the user wants.

    Raises:
        DataError: An option or a file cannot be used.
    """
    settings = settings_of(options, "eval")
    _check_replies(options, settings)
    if not parsed(options.model).is_hosted and any(each.protocol for each in settings.features):
        raise DataError(
            "--protocol", "is for a server; an agent of your own makes its calls itself"
        )
    workers_for(options).check(settings, connect_to)
    return plan_of(options, dataset, profile, settings)


def _check_replies(options: EvalOptions, settings: Settings) -> None:
    """Refuse a reply cache where the same answers are no use, or not known by the request.

    Raises:
        DataError: It is of no use.
    """
    if settings.reply_cache is None:
        return
    if not parsed(options.model).is_hosted:
        raise DataError("--reply-cache", "is for a server; an agent may know more than messages")
    if options.only == "failed":
        raise DataError("--reply-cache", "would give --only failed the same answers: leave it out")


def _print_result(
    folder: Path,
    plan: Plan,
    asked: Sequence[Trajectory],
    population: int,
    options: EvalOptions,
) -> RunFigures | None:
    symptoms = Symptoms()
    records: list[EpisodeRecord] = []
    totals = totals_of(_looked_at(folder, symptoms, records))
    if not records:
        return None
    if options.require_told:
        records = [*map(requiring_told, records)]
    if options.output is not None:
        write_whole(options.output, map(_verdict_line, records), named=True)
    machine = OwnMachine.of(lives_in(folder), len(records), options.gpu_price)
    totals = replace(totals, machine=machine)
    figures = RunFigures(records, asked, totals, options.allow_errors)
    for line in summary(figures, options.trials, population, field=plan.profile is BFCL):
        say(line)
    for line in (*_mended(folder, plan, figures, options), *symptoms.causes()):
        say(line)
    spoken = next((each.protocol for each in plan.settings.features if each.protocol), None)
    protocol = spoken and spoken.name
    for warning in symptoms.warnings(plan.settings.mode, plan.settings.max_tokens, protocol):
        note(f"warning: {warning}")
    for line in lines(figures, usage=True):
        say(line)
    for line in feature_lines(plan.settings.features, plan.dataset, asked, records):
        say(line)
    data, manner = plan.dataset, protocol or plan.settings.mode
    say(
        f"model {plan.model}, {manner}; data {data.name} {data.version}, sha256 "
        f"{data.sha256[:12]}; profile {plan.profile.name}; observations {plan.observations}; "
        f"run {folder}"
    )
    say(f"next: turnwise report {folder} -o report.html{_again(figures, folder)}")
    if figures.judged and any(record.outcome == "failed" for record in records):
        say(f"      turnwise episodes {folder} --failed")
    return figures


def _looked_at(
    folder: Path, symptoms: Symptoms, records: list[EpisodeRecord]
) -> Iterator[EpisodeRecord]:
    """Yield the records of a run one by one, and keep of each what its figures need."""
    for record in records_in(folder):
        symptoms.add(record)
        records.append(record._replace(messages=(), steps=(), result=None))
        yield record


def _mended(folder: Path, plan: Plan, figures: RunFigures, options: EvalOptions) -> Iterator[str]:
    """Yield the lines on the score with errata, where the user named some."""
    if options.errata == "none":
        return
    run = open_run(folder)
    mend = mend_for(
        options, plan.dataset, plan.profile, judge_of(run, plan.profile, plan.step_limit)
    )
    if mend is not None:
        yield from both_lines(figures, mend.figures(figures), mend.readings)


def _again(figures: RunFigures, folder: Path) -> str:
    """Return what else may be done next with a run."""
    errors = f"; the same command with --resume {folder} --only errors" if figures.errors else ""
    failed = next((o.id for o in figures.outcomes if o.outcome == "failed"), None)
    return (f"; turnwise replay {failed} --run {folder}" if failed else "") + errors


def _verdict_line(record: EpisodeRecord) -> bytes:
    """Return an episode's verdict as the line that other models' verdicts have, and its trial."""
    line = {"id": record.id, "trial": record.trial, **record.verdict_line()}
    return json.dumps(line, allow_nan=False).encode() + b"\n"


def _print_estimate(
    plan: Plan, trajectories: Sequence[Trajectory], trials: int, variants: Variants | None
) -> None:
    if variants is None:
        guess = _guess(plan, trajectories, trials)
        say(
            f"{len(trajectories)} entries, {guess.episodes} episodes, about {guess.requests} "
            f"requests and {guess.tokens} prompt tokens for a model that makes one call a step"
        )
    else:
        members = variants.members
        guess = Estimate.sum([_guess(each.plan, each.trajectories, trials) for each in members])
        entries = len({t.id for each in members for t in each.trajectories})
        say(
            f"{entries} entries in {len(members)} "
            f"{variants.kind}{'' if len(members) == 1 else 's'}, {guess.requests} "
            f"requests and about {guess.tokens} prompt tokens"
        )
    usage, asking = Usage(guess.tokens, guess.answered), plan.settings.request_options()
    say(cost_line(plan.model, asking, usage, "thoughts, results of calls and caches"))


def _guess(plan: Plan, trajectories: Sequence[Trajectory], trials: int) -> Estimate:
    return estimate(jobs_of(trajectories, trials), lambda t: plan.style(t).toolbox.size)
