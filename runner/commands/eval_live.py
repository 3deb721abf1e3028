"""Part of ``turnwise eval`` that runs a live model and prints the result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from shlex import quote

from checkers.profile import BFCL, Profile
from envs.errors import DataError
from runner import extension
from runner.analysis.corrected_judging import judge_of
from runner.analysis.figure_lines import both_lines, lines, summary
from runner.analysis.figures import GpuServerUsage, RunFigures, totals_of
from runner.analysis.run_diagnosis import RunDiagnosis
from runner.commands import DONE, RUN_ERROR
from runner.commands.common_options import note
from runner.commands.eval_options import EvalOptions
from runner.commands.eval_variants import run_variants, variants_of
from runner.commands.model_requests import cost_line, is_ready, plan_of
from runner.commands.offline_judging import (
    apply_threshold,
    correction_for,
    note_failing_truths,
    workers_for,
)
from runner.commands.plan_execution import connect_to, run_plan
from runner.commands.run_features import feature_lines, narrow_dataset, settings_of
from runner.commands.variant_types import Variant, VariantSet
from runner.data import dataset_choice
from runner.episodes.info_verdict import fail_without_info
from runner.live.forced_calls import check_forced
from runner.live.live_run import RunInputs, function_docs_folder, jobs_of
from runner.live.run_control import RunEstimate, estimate
from runner.models.model_types import Usage
from runner.records.durable_files import write_whole
from runner.records.episode_record import EpisodeRecord, progress_type
from runner.records.recorded_run import open_run, read_records, read_segments
from runner.records.run_files import read_run_file
from runner.records.run_store import create_folder, default_folder
from runner.show.terminal import format_count, say
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


def evaluate_live(
    options: EvalOptions,
    dataset: Dataset,
    profile: Profile,
    trajectories: Sequence[Trajectory],
    population: int,
) -> int:
    """Run a live model on entries, print the result and return the exit status.

    Raises DataError if an option, file or folder cannot be used.
    """
    plan = _make_plan(options, dataset, profile)
    mode = plan.settings.mode
    trajectories = dataset_choice.leave_out_nesting(
        trajectories, options.category, profile, mode, note
    )
    folder = function_docs_folder(plan.settings, plan.dataset)
    ids = [each.id for each in trajectories]
    dataset, features = narrow_dataset(plan.settings.features, plan.dataset, ids, folder)
    settings = replace(plan.settings, features=tuple(features))
    plan = plan._replace(dataset=dataset, settings=settings)
    trajectories = [plan.dataset.trajectories[each.id] for each in trajectories]
    variants = variants_of(options, plan, trajectories)
    if variants and options.fail_under is not None:
        raise DataError("--fail-under", f"needs a single run, but {variants.flag} makes several")
    runs = variants.members if variants else [Variant("", plan, trajectories)]
    for run in runs:
        check_forced(run.plan, run.trajectories)
    if options.dry_run:
        _print_estimate(plan, trajectories, options.trials, variants)
        return DONE
    by_api: dict[str | None, RunInputs] = {}
    for run in runs:
        by_api.setdefault(run.plan.settings.request_options().api, run.plan)
    if not (options.no_preflight or all(is_ready(each, connect_to) for each in by_api.values())):
        return RUN_ERROR
    folder = options.resume or options.run_dir
    folder = folder or create_folder(default_folder(options.model, datetime.now()))
    if variants:
        return run_variants(variants, folder, options)
    ending, status = run_plan(plan, folder, trajectories, options, resumes=bool(options.resume))
    figures = _print_result(folder, plan, trajectories, population, options)
    if ending.stop_reason is not None:
        note(f"{ending.stop_reason}; resume with turnwise eval --resume {quote(str(folder))}")
    if figures is not None:
        extension.report_run(options.extensions, figures, plan.dataset)
    return apply_threshold(options.fail_under, figures, status)


def _make_plan(options: EvalOptions, dataset: Dataset, profile: Profile) -> RunInputs:
    settings = settings_of(options, "eval")
    is_hosted = options.model.is_hosted
    if settings.reply_cache is not None:
        if not is_hosted:
            why = "cannot be used with an agent, because an agent can have a state of its own"
            raise DataError("--reply-cache", why)
        if options.only == "failed":
            why = "cannot be used with --only failed: it repeats the same answers; leave it out"
            raise DataError("--reply-cache", why)
    for each in settings.features:
        if each.protocol and not is_hosted:
            raise DataError(each.flag, "cannot be used with an agent; leave it out")
    workers_for(options).check(settings, connect_to)
    return plan_of(options, dataset, profile, settings)


def _print_result(
    folder: Path,
    plan: RunInputs,
    asked: Sequence[Trajectory],
    population: int,
    options: EvalOptions,
) -> RunFigures | None:
    diagnosis = RunDiagnosis()
    records: list[EpisodeRecord] = []
    totals = totals_of(_scan_records(folder, diagnosis, records))
    if not records:
        return None
    if options.require_info:
        records = [*map(fail_without_info, records)]
    if options.output is not None:
        write_whole(options.output, map(_verdict_line, records), named=True)
    machine = GpuServerUsage.of(read_segments(folder), [r.id for r in records], options.gpu_price)
    totals = totals._replace(machine=machine)
    planned = len(asked) * options.trials
    progress = progress_type(read_run_file(folder)["note"])(len(records), planned)
    figures = RunFigures(records, asked, totals, options.allow_errors, progress)
    for line in summary(figures, options.trials, population, field=plan.profile is BFCL):
        say(line)
    for line in (*_corrected_lines(folder, plan, figures, options), *diagnosis.causes()):
        say(line)
    calling_format = next((f.protocol.name for f in plan.settings.features if f.protocol), None)
    for warning in diagnosis.warnings(plan.settings.mode, plan.settings.max_tokens, calling_format):
        note(f"warning: {warning}")
    note_failing_truths(plan.dataset, plan.profile, figures)
    for line in lines(figures, usage=True):
        say(line)
    for line in feature_lines(plan.settings.features, plan.dataset, asked, records):
        say(line)
    data, mode = plan.dataset, calling_format or plan.settings.mode
    say(
        f"model {plan.model}, {mode}; data {data.name} {data.version}, sha256 {data.sha256[:12]}; "
        f"profile {plan.profile.name}; observations {plan.observations}; run {folder}"
    )
    shown = quote(str(folder))
    say(f"next: turnwise report {shown} -o report.html{_suggest_commands(figures, shown)}")
    if figures.judged and any(record.outcome == "failed" for record in records):
        say(f"      turnwise episodes {shown} --failed")
    return figures


def _scan_records(
    folder: Path, diagnosis: RunDiagnosis, records: list[EpisodeRecord]
) -> Iterator[EpisodeRecord]:
    for record in read_records(folder):
        diagnosis.add(record)
        records.append(record.outline)
        yield record


def _corrected_lines(
    folder: Path, plan: RunInputs, figures: RunFigures, options: EvalOptions
) -> Iterator[str]:
    if options.errata == "none":
        return
    judge = judge_of(open_run(folder), plan.profile, plan.step_limit)
    mend = correction_for(
        options, plan.dataset, plan.profile, judge, require_info=options.require_info
    )
    if mend is not None:
        yield from both_lines(figures, mend.figures(figures), mend.readings)


def _suggest_commands(figures: RunFigures, folder: str) -> str:
    errors = f"; turnwise eval --resume {folder} --only errors" if figures.errors else ""
    failed = next((o.id for o in figures.outcomes if o.outcome == "failed"), None)
    return (f"; turnwise replay {quote(failed)} --run {folder}" if failed else "") + errors


def _verdict_line(record: EpisodeRecord) -> bytes:
    line = {"id": record.id, "trial": record.trial, **record.verdict_line()}
    return json.dumps(line, allow_nan=False).encode() + b"\n"


def _print_estimate(
    plan: RunInputs, trajectories: Sequence[Trajectory], trials: int, variants: VariantSet | None
) -> None:
    if variants is None:
        guess = _estimate(plan, trajectories, trials)
        say(
            f"{format_count(len(trajectories), 'entry')}, "
            f"{format_count(guess.episodes, 'episode')}, about "
            f"{format_count(guess.requests, 'request')} and {guess.tokens} prompt tokens "
            "(the estimate assumes one call per step)"
        )
    else:
        members = variants.members
        guess = RunEstimate.sum(_estimate(each.plan, each.trajectories, trials) for each in members)
        entries = len({t.id for each in members for t in each.trajectories})
        say(
            f"{format_count(entries, 'entry')} in {format_count(len(members), variants.kind)}; "
            f"expect {format_count(guess.requests, 'request')}, {guess.tokens} prompt tokens"
        )
    usage, asking = Usage(guess.tokens, guess.answered), plan.settings.request_options()
    say(cost_line(plan.model, asking, usage, "reasoning, call results and caches"))


def _estimate(plan: RunInputs, trajectories: Sequence[Trajectory], trials: int) -> RunEstimate:
    return estimate(jobs_of(trajectories, trials), lambda t: plan.style(t).toolbox.size)
