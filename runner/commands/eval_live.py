"""The part of ``turnwise eval`` that talks to a live model, and what it prints.

Several prompt formats are a run each, in a folder of its name below a common one, so that resuming,
reports and comparisons are those of any run.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from checkers.profile import BFCL, Profile
from runner.analysis.figure_lines import FormatScore, both_lines, format_lines, summary
from runner.analysis.figures import OwnMachine, RunFigures, totals_of, usage_lines
from runner.analysis.mended import judge_of
from runner.analysis.symptoms import Symptoms
from runner.commands import DONE, INTERRUPTED, RUN_ERROR
from runner.commands.eval_options import EvalOptions
from runner.commands.judging import mend_for, workers_for
from runner.commands.shared import note
from runner.data import choose
from runner.episodes.telling import requiring_told
from runner.live.campaign import Plan, function_docs_folder, jobs_of
from runner.live.conduct import Ending, Estimate, estimate, open_jobs, open_store, preflight
from runner.live.meter import Meter
from runner.live.settings import Settings, read_settings
from runner.models.agent import PREFIX
from runner.models.base import Model, ModelError
from runner.models.connect import connect, price_of
from runner.models.prompting import DEFAULT, PromptFormat, formats_named, read_prompts
from runner.models.tools import toolbox_of
from runner.records.files import NotWritten, write_whole
from runner.records.masking import Secrets
from runner.records.record import EpisodeRecord, Life, Selection, Spent
from runner.records.run import is_run, lives_in, open_run, records_in
from runner.records.store import RunStore, claimed, default_folder, read_run_file
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
    formats = options.formats and formats_named([n.strip() for n in options.formats.split(",")])
    plan = _plan_of(options, dataset, profile)
    if formats:
        _check_formats(options, plan)
        trajectories = _in_python(trajectories)
    if options.dry_run:
        _print_estimate(plan, trajectories, options.trials, len(formats or ()))
        return DONE
    if not options.no_preflight and not _is_ready(plan):
        return RUN_ERROR
    folder = options.resume or options.run_dir or _own_folder(options.model)
    if formats:
        return _evaluate_formats(plan, formats, folder, trajectories, options)
    resumes = options.resume is not None
    ending, status = _run_plan(plan, folder, trajectories, options, resumes=resumes)
    _print_result(folder, plan, trajectories, population, options)
    if ending.stop_reason is not None:
        note(f"{ending.stop_reason}; go on with --resume {folder}")
    return status


def _own_folder(model: str) -> Path:
    return claimed(default_folder(model, datetime.now()))


def _plan_of(options: EvalOptions, dataset: Dataset, profile: Profile) -> Plan:
    """Return what the episodes of the run are like that the user wants.

    Raises:
        DataError: An option or a file cannot be used.
    """
    if options.only and not options.resume:
        raise DataError("--only", "needs --resume DIR, the run whose episodes to do again")
    settings = read_settings(options.config, _flags(options))
    _check_replies(options, settings)
    _check_budget(options.model, settings)
    workers_for(options).check(settings, _connect)
    prompts = read_prompts(Path(settings.prompts) if settings.prompts else DEFAULT)
    plan = Plan(options.model, dataset, profile, options.step_limit, settings, prompts)
    plan.wording()  # that texts are missing is said before anything is asked
    return plan


def _is_ready(plan: Plan) -> bool:
    """Tell whether the model answers; say why where it does not."""
    try:
        asyncio.run(preflight(plan, _connect))
    except ModelError as error:
        note(f"{error}")
        return False
    return True


def _run_plan(
    plan: Plan,
    folder: Path,
    trajectories: Sequence[Trajectory],
    options: EvalOptions,
    *,
    resumes: bool,
) -> tuple[Ending, int]:
    """Do the episodes of a run and keep them; return how it ended, and the exit status.

    Raises:
        DataError: The folder cannot be used.
    """
    selection = _selection(options, folder if resumes else None)
    with open_store(folder, plan, selection, sys.argv, resumes=resumes) as store:
        jobs = open_jobs(store, trajectories, options.trials, options.only)
        begun = sum(bool(job.course) for job in jobs)
        going_on = f", {begun} of them from where they were" if begun else ""
        note(f"{len(jobs)} episodes to do{going_on}, kept in {store.folder}")
        if store.lost_tools:
            note(
                f"warning: {len(store.lost_tools)} tool lists are lost that episodes name, and the "
                "data do not give them any more: export cannot write those episodes"
            )

        meter = Meter(len(jobs), sys.stderr, time.monotonic)
        # What is loaded by now stays; looking through it again and again took a tenth of the time.
        gc.freeze()
        begun_at = time.monotonic()
        try:
            ending = workers_for(options).conduct(plan, store, jobs, _connect, meter)
        except NotWritten as error:
            # The disk is full, say: what was kept is whole, and the run can go on.
            ending = Ending(str(error), failed=True, spent=Spent())
        if jobs:
            _keep_life(store, plan, time.monotonic() - begun_at, options.gpu_price)
        _say_what_was_masked(store.secrets)
        return ending, _status(ending, store)


def _keep_life(store: RunStore, plan: Plan, seconds: float, gpu_price: float | None) -> None:
    with suppress(NotWritten):
        store.put_life(Life(round(seconds, 3), plan.settings.concurrency, gpu_price))


def _say_what_was_masked(secrets: Secrets) -> None:
    if secrets.masked:
        note(f"a key or password was masked as *** {secrets.masked} times in what the model said")
    if secrets.kept:
        where = ", ".join(dict.fromkeys(secrets.kept))
        note(
            "warning: a key or password of this run is also an ordinary word of the data, and "
            f"stands there unmasked: {where:.200}"
        )
    if secrets.altered:
        where = ", ".join(dict.fromkeys(secrets.altered))
        note(
            "warning: calls held a key or password, which is masked there too; executed again they "
            f"may give other results: {where:.200}"
        )


def _status(ending: Ending, store: RunStore) -> int:
    if ending.stop_reason is None:
        errors = "error" in store.done.values()
        return RUN_ERROR if errors else DONE
    if ending.failed:
        return RUN_ERROR
    return INTERRUPTED if ending.stop_reason == "interrupted" else DONE


def _check_budget(model: str, settings: Settings) -> None:
    """Refuse a budget in dollars where nobody knows what a token costs: it would never be used up.

    Raises:
        DataError: The price is unknown.
    """
    if settings.max_cost is not None and not price_of(model, settings.request_options()):
        raise DataError(
            "--max-cost", f"the price of {model} is not known; give it by --price IN,OUT"
        )


def _check_replies(options: EvalOptions, settings: Settings) -> None:
    """Refuse a reply cache where the same answers are no use, or not known by the request.

    Raises:
        DataError: It is of no use.
    """
    if settings.reply_cache is None:
        return
    if options.model.startswith(PREFIX):
        raise DataError("--reply-cache", "is for a server; an agent may know more than messages")
    if options.only == "failed":
        raise DataError("--reply-cache", "would give --only failed the same answers: leave it out")


def _connect(plan: Plan) -> Model:
    return connect(plan.model, plan.settings.request_options())


def _print_result(
    folder: Path,
    plan: Plan,
    trajectories: Sequence[Trajectory],
    population: int,
    options: EvalOptions,
) -> None:
    symptoms = Symptoms()
    records: list[EpisodeRecord] = []
    totals = totals_of(_looked_at(folder, symptoms, records))
    if not records:
        return
    if options.require_told:
        records = [*map(requiring_told, records)]
    if options.output is not None:
        write_whole(options.output, map(_verdict_line, records), named=True)
    machine = OwnMachine.of(lives_in(folder), len(records), options.gpu_price)
    totals = replace(totals, machine=machine)
    figures = RunFigures(records, trajectories, totals, options.allow_errors)
    for line in summary(figures, options.trials, population, field=plan.profile is BFCL):
        say(line)
    for line in (*_mended(folder, plan, figures, options), *symptoms.causes()):
        say(line)
    for warning in symptoms.warnings(plan.settings.mode, plan.settings.max_tokens):
        note(f"warning: {warning}")
    for line in usage_lines(totals):
        say(line)
    data = plan.dataset
    say(
        f"model {plan.model}, {plan.settings.mode}; data {data.name} {data.version}, sha256 "
        f"{data.sha256[:12]}; profile {plan.profile.name}; observations {plan.observations}; "
        f"run {folder}"
    )
    say(f"next: turnwise report {folder} -o report.html{_again(figures, folder)}")


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
    return json.dumps(line).encode() + b"\n"


def _print_estimate(
    plan: Plan, trajectories: Sequence[Trajectory], trials: int, formats: int
) -> None:
    folder = function_docs_folder(plan.settings, plan.dataset)

    def tools_size(trajectory: Trajectory) -> int:
        return toolbox_of(trajectory, folder).size

    guess = estimate(jobs_of(trajectories, trials), tools_size).times(formats or 1)
    if formats:
        say(
            f"{len(trajectories)} entries in {formats} formats, {guess.requests} "
            f"requests and about {guess.tokens} prompt tokens"
        )
    else:
        say(
            f"{len(trajectories)} entries, {guess.episodes} episodes, about {guess.requests} "
            f"requests and {guess.tokens} prompt tokens for a model that makes one call a step"
        )
    say(_in_dollars(plan, guess))


def _in_dollars(plan: Plan, guess: Estimate) -> str:
    price = price_of(plan.model, plan.settings.request_options())
    if price is None:
        return f"the price of {plan.model} is not known: no dollars without --price IN,OUT"
    return (
        f"about ${guess.cost(price):.2f}, an estimate: {guess.answered} completion tokens, "
        "without thoughts, results of calls and caches, at "
        f"${price.input * 1e6:g} and ${price.output * 1e6:g} per million tokens in and out"
    )


def _flags(options: EvalOptions) -> dict[str, Any]:
    """Return the settings that were given as options, and None for the others."""
    given = dict(vars(options))
    given |= {name: dict(given[name]) or None for name in ("extra_headers", "errors_as")}
    return {member.name: given[member.name] for member in fields(Settings)}


def _selection(options: EvalOptions, begun: Path | None) -> Selection:
    """Return what the user chose of the data, for the run's definition.

    Args:
        options: The user's.
        begun: The folder of a run that goes on: it has the same categories as they are spelled
            there, if these are the same.
    """
    category = options.category
    if begun is not None and is_run(begun):
        spelled = read_run_file(begun)["definition"].get("selection", {}).get("category")
        name = options.dataset
        if choose.categories(spelled, name) == choose.categories(category, name):
            category = spelled
    return Selection(
        category,
        options.ids,
        options.limit,
        options.sample,
        options.sample_seed if options.sample else None,
        options.trials,
        options.split,
    )


def _evaluate_formats(
    plan: Plan,
    formats: Sequence[PromptFormat],
    folder: Path,
    asked: Sequence[Trajectory],
    options: EvalOptions,
) -> int:
    """Ask a live model in several formats, print the table, and return the exit status."""
    status = _run_formats(plan, formats, folder, asked, options)
    for line in format_lines([_score(each, folder, asked, options) for each in formats]):
        say(line)
    data, profile = plan.dataset.name, plan.profile.name
    say(f"model {plan.model}; data {data}; profile {profile}; runs in {folder}")
    return status


def _check_formats(options: EvalOptions, plan: Plan) -> None:
    if plan.settings.mode != "prompt":
        raise DataError("--formats", "is for prompting models: add --mode prompt")
    if plan.settings.prompts is not None:
        raise DataError("--formats", "has prompts of its own; leave --prompts out")
    if options.output is not None:
        raise DataError("--output", "takes one run; the verdicts are in the folders of the formats")
    if options.errata != "none":
        raise DataError("--errata", "takes one run: turnwise table has it for each format's folder")


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


def _run_formats(
    plan: Plan,
    formats: Sequence[PromptFormat],
    folder: Path,
    asked: Sequence[Trajectory],
    options: EvalOptions,
) -> int:
    """Do the runs one after the other, until one is stopped."""
    worst = DONE
    for prompt_format in formats:
        place = folder / prompt_format.name
        resumes = options.resume is not None and is_run(place)
        one = plan._replace(format=prompt_format)
        ending, status = _run_plan(one, place, asked, options, resumes=resumes)
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
    options: EvalOptions,
) -> FormatScore:
    place = folder / prompt_format.name
    records = list(open_run(place).records) if is_run(place) else []
    figures = RunFigures(records, allow_errors=options.allow_errors)
    return FormatScore(prompt_format, figures, len(asked) * options.trials)
