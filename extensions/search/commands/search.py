"""The command ``turnwise search``: what going back on a step is worth, at the same budget."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from checkers.profile import Mode
from extensions.search.fallible import Errors, FallibleModels
from extensions.search.feature import SearchFeature, SearchReference, reference_of
from extensions.search.record import search_of
from extensions.search.repeating import Attempt, next_round
from extensions.search.search import SearchLimits, texts_hash
from extensions.search.searches import SearchMethod, difference_lines, search_lines
from extensions.search.searching import SearchPlayer
from runner.commands import DONE, RUN_ERROR
from runner.commands.asking import exit_status, is_ready, plan_of
from runner.commands.eval_options import PaceOptions, ReachedOptions, SamplingOptions
from runner.commands.features import settings_of
from runner.commands.live_run import keep_run, say_what_is_to_do, selection_of
from runner.commands.options import index, option, positive, switch
from runner.commands.shared import (
    EntriesOptions,
    JsonOption,
    JudgingOptions,
    OutputOption,
    note,
)
from runner.commands.variants import left_of, with_budget
from runner.data import choose
from runner.data.choose import profile_for
from runner.episodes.evaluate import kind_of
from runner.episodes.scripted import ScriptedBehaviour
from runner.live.campaign import Job, Plan, jobs_of
from runner.live.conduct import (
    Ending,
    conduct_here,
    estimate,
    open_jobs,
    open_store,
)
from runner.live.meter import Meter
from runner.models.base import Model
from runner.models.connect import connect
from runner.models.model_name import Agent, Scripted, chosen, parsed
from runner.models.settings import Observations
from runner.records.files import written
from runner.records.record import EpisodeRecord
from runner.records.run import is_run, open_run, records_in
from runner.records.store import RunStore, claimed, default_folder
from runner.show.terminal import say, say_json
from trajectories.errors import DataError
from trajectories.schema import Trajectory

EXAMPLE = "turnwise search --model scripted:0.2 --limit 20"

_MOST_ATTEMPTS = 100
REACT, DFSDT, REPEATED = "react", "dfsdt", "react-at-n"
"""The folders of the runs, below that of the command."""


def _attempts(text: str) -> int:
    attempts = positive(text)
    if attempts > _MOST_ATTEMPTS:
        raise ArgumentTypeError(f"more than {_MOST_ATTEMPTS} attempts at an entry")
    return attempts


@dataclass(frozen=True, kw_only=True)
class Options(
    EntriesOptions,
    OutputOption,
    JsonOption,
    JudgingOptions,
    ReachedOptions,
    SamplingOptions,
    PaceOptions,
):
    """Who searches, and how far."""

    model: str = option(
        "a live model, or scripted:RATE: knows the ground truth, errs in this share of calls",
        "NAME",
        required=True,
    )
    mode: Mode | None = option("function calling, or calls in text (default: fc)")
    children: int = option(
        "steps tried at one point, at most; 1 is ReAct", "N", default=3, read=positive
    )
    max_calls: int = option("requests for an entry, at most", "N", default=100, read=positive)
    max_nodes: int = option(
        "steps for an entry, in all branches, at most", "N", default=100, read=positive
    )
    repeat: int | None = option(
        "ReAct@N too: attempts at an entry, at most so many, until one passes, as long as all of "
        "them together take no more requests than the search with undo took",
        "N",
        read=_attempts,
    )
    finish: bool = switch(
        "offer finish(return_type, final_answer), by which the model ends a turn (give_answer) or "
        "gives a branch up (give_up_and_restart)"
    )
    observations: Observations | None = option(
        "whose texts it reads where calls are refused (default: bfcl for BFCL's data under profile "
        "bfcl, else own)"
    )
    seed: int | None = option(
        "seed of the sampling, attempt k having S+k; of scripted errors (default: 0)",
        "S",
        read=index,
    )
    run_dir: Path | None = option(
        "keep a run folder for each method in it, with what was undone too (default: for a live "
        "model a new folder in runs, else nothing is kept)",
        "DIR",
        excludes=("--resume",),
    )
    resume: Path | None = option("go on with the runs of such a folder", "DIR")
    only: Literal["errors"] | None = option(
        "with --resume: do the episodes again that ended in an error",
        needs="--resume",
    )
    no_preflight: bool = switch(
        "skip the one request that tests server and settings before the run"
    )
    dry_run: bool = switch("say what would be asked, ask nothing")
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """The options of extensions, by their names, where any is given."""


class _Method(NamedTuple):
    """One of the ways to search that are compared."""

    name: str
    folder: str
    plan: Plan


def run(options: Options) -> int:
    """Search with undo and without, and print both."""
    _check(options)
    plan, trajectories = _asked(options)
    methods = _methods(options, plan)
    if options.dry_run:
        _print_estimate(methods, trajectories)
        return DONE
    scripted = isinstance(parsed(options.model), Scripted)
    if not (scripted or options.no_preflight) and not is_ready(plan, connect_searching):
        return RUN_ERROR
    with ExitStack() as opened:
        folder = options.resume or options.run_dir
        kept = folder is not None or not scripted
        if folder is None and kept:
            folder = claimed(default_folder(options.model, datetime.now()))
        elif folder is None:
            folder = Path(opened.enter_context(TemporaryDirectory(prefix="turnwise-")))
        stopped = _search(methods, folder, trajectories, options, told=kept)
        if stopped is not None:
            ending, name = stopped
            note(f"{name}: {ending.stop_reason}; go on with --resume {folder}")
            return exit_status(ending.stop_reason, failed=ending.failed)
        found = _found(methods, folder, trajectories)
        return _report(found, plan, options, folder if kept else None)


def _check(options: Options) -> None:
    """Refuse options that contradict each other.

    Raises:
        DataError: There are such.
    """
    if options.repeat is not None and options.children == 1:
        raise DataError("--repeat", "has the budget of a search with undo, of --children 2 or more")
    for folder in filter(None, (options.run_dir, options.resume)):
        if is_run(folder):
            raise DataError(str(folder), "is one run; a search has several in a folder")
    if options.resume and not is_run(options.resume / REACT):
        raise DataError(str(options.resume), f"has no search to go on with: no run {REACT} in it")
    if options.run_dir and is_run(options.run_dir / REACT):
        raise DataError(
            str(options.run_dir), "has a search in it already; --resume goes on with it"
        )
    if isinstance(parsed(options.model), Scripted):
        ScriptedBehaviour.named(options.model, policies=False)
        if options.mode not in (None, "fc"):
            raise DataError("--mode", "a scripted model makes tool calls: fc")
    elif not chosen(options.model, options.base_url).is_live:
        raise DataError(
            "--model", f"{options.model} never errs; give scripted:RATE or a live model"
        )
    elif isinstance(parsed(options.model), Agent):
        raise DataError("--model", "an agent of your own may remember what is undone; name a model")


def _asked(options: Options) -> tuple[Plan, list[Trajectory]]:
    """Return how the model is asked, and about what.

    Raises:
        DataError: An option or a file cannot be used.
    """
    dataset = choose.dataset_named(options.dataset, options.category, note)
    entries = choose.trajectories(dataset, None, options.split)
    entries = [entry for entry in entries if not kind_of(entry).is_single_turn]
    chosen = choose.part(entries, options.ids, options.limit, None, 0)
    if not chosen:
        raise DataError("--category", f"{dataset.name} has no entry of several turns in it")
    settings = settings_of(options, "search")
    if isinstance(parsed(options.model), Scripted) and any(
        each.protocol for each in settings.features
    ):
        raise DataError("--protocol", "is for a live model; a scripted one makes tool calls")
    if settings.reply_cache is not None:
        raise DataError("reply_cache", "is for eval: attempts are to differ")
    profile = profile_for(dataset, options.profile)
    return plan_of(options, dataset, profile, settings), chosen


def _methods(options: Options, plan: Plan) -> list[_Method]:
    """Return the methods, in the order in which they are done."""

    def searching(children: int, repeat: int | None = None) -> Plan:
        limits = children, options.max_calls, options.max_nodes
        reference = SearchReference(*limits, options.finish, repeat, texts_hash())
        return plan.with_feature(SearchFeature(reference))

    methods = [_Method("ReAct", REACT, searching(1))]
    if options.children > 1:
        name = f"DFSDT, {options.children} children"
        methods.append(_Method(name, DFSDT, searching(options.children)))
    if options.repeat is not None:
        name = f"ReAct@{options.repeat}"
        methods.append(_Method(name, REPEATED, searching(1, options.repeat)))
    return methods


def _print_estimate(methods: Sequence[_Method], trajectories: Sequence[Trajectory]) -> None:
    """Say what a model that errs never would be asked, and what one may be asked at most."""
    guess = estimate(jobs_of(trajectories, 1), lambda t: methods[0].plan.style(t).toolbox.size)
    searches = [each for each in methods if each.folder != REPEATED]
    most = sum(reference_of(each.plan).max_calls for each in searches)
    again = "; ReAct@N takes no more in all than the search with undo"
    say(
        f"{len(trajectories)} entries, {len(searches)} methods: {len(searches) * guess.requests} "
        f"requests and about {len(searches) * guess.tokens} prompt tokens for a model that never "
        f"errs, at most {most * len(trajectories)} requests"
        f"{again if len(searches) < len(methods) else ''}"
    )


def connect_searching(plan: Plan) -> Model:
    """Connect to the model of a plan; one that knows the ground truth needs no connection."""
    if isinstance(parsed(plan.model), Scripted):
        rate = ScriptedBehaviour.named(plan.model, policies=False).error_rate
        return FallibleModels(plan, Errors(rate))
    return connect(plan.model, plan.settings.request_options())


def _search(
    methods: Sequence[_Method],
    folder: Path,
    trajectories: Sequence[Trajectory],
    options: Options,
    *,
    told: bool,
) -> tuple[Ending, str] | None:
    """Do the runs one after the other; return the one that was stopped, and its name."""
    _check_definitions(methods, folder, options)
    settings = methods[0].plan.settings
    left = settings.max_requests, settings.max_cost
    for name, place, plan in methods:
        one, run_folder = with_budget(plan, *left), folder / place
        sit = _sit_again if place == REPEATED else _sit
        resumes = options.resume is not None and is_run(run_folder)
        selection = selection_of(options, run_folder if resumes else None)
        ending, _ = keep_run(
            *(one, run_folder, selection, partial(sit, one, trajectories, options, told)),
            episodes=len(trajectories),
            resumes=resumes,
        )
        if ending.stop_reason is not None:
            return ending, name
        left = left_of(*left, ending)
    return None


def _check_definitions(methods: Sequence[_Method], folder: Path, options: Options) -> None:
    """See that all runs that are there can be gone on with, before the first is.

    Raises:
        DataError: One is defined otherwise, or cannot be read.
    """
    for _, place, plan in methods:
        there = folder / place
        if options.resume is not None and is_run(there):
            selection = selection_of(options, there)
            open_store(there, plan, selection, (), episodes=0, resumes=True).close()


def _sit(
    plan: Plan, trajectories: Sequence[Trajectory], options: Options, told: bool, store: RunStore
) -> Ending:
    """Search all entries once."""
    jobs = open_jobs(store, trajectories, 1, options.only)
    return _conduct(plan, store, jobs, told=told)


def _sit_again(
    plan: Plan, trajectories: Sequence[Trajectory], options: Options, told: bool, store: RunStore
) -> Ending:
    """Attempt entries again and again, at the budget of the run with undo."""
    if options.only is not None:
        store.supersede([key for key, done in store.done.items() if done == "error"], go_on=True)
    _begin_with(store, store.folder.parent / REACT)
    budget = sum(len(each.requests) for each in records_in(store.folder.parent / DFSDT))
    ending = Ending(None, failed=False, spent=store.spent, idle=True)
    for number in range(reference_of(plan).repeat or 1):
        done = {each.key: Attempt.of(each) for each in records_in(store.folder)}
        entries = next_round(done, trajectories, number, budget) if number else trajectories
        jobs = [
            job._replace(trial=number, course=store.underway((job.trajectory.id, number)))
            for job in jobs_of(entries, 1)
            if (job.trajectory.id, number) not in store.done
        ]
        if number and not entries:
            break
        if jobs:
            ending = _conduct(plan, store, jobs, told=told)
        if ending.stop_reason is not None:
            break
    return ending


def _begin_with(store: RunStore, folder: Path) -> None:
    """Take a run's attempts for the first ones: nobody is asked twice."""
    first = open_run(folder)
    wanted = [record for record in first.records if record.key not in store.done]
    digests = {step.tools: None for record in wanted for step in record.requests if step.tools}
    for digest, tools in first.tools(digests).items():
        store.put_tools(digest, tools)
    for record in wanted:
        if record.outcome != "error":
            store.append(record)


def _conduct(plan: Plan, store: RunStore, jobs: Sequence[Job], *, told: bool) -> Ending:
    asked = reference_of(plan)
    if told:
        say_what_is_to_do(store, jobs)
    limits = SearchLimits(asked.children, asked.max_calls, asked.max_nodes)
    meter = Meter(len(jobs), sys.stderr, time.monotonic)
    player = partial(SearchPlayer, limits, asked.finish)
    ending = conduct_here(plan, store, jobs, connect_searching, meter, player)
    return ending if jobs else ending._replace(idle=True)


def _found(
    methods: Sequence[_Method], folder: Path, trajectories: Sequence[Trajectory]
) -> list[SearchMethod]:
    """Return what the methods came to, those without undo first."""
    order = (REACT, REPEATED, DFSDT)
    return [
        SearchMethod(name, [*_brief(folder / place)], trajectories)
        for name, place, _ in sorted(methods, key=lambda method: order.index(method.folder))
    ]


def _brief(folder: Path) -> Iterator[EpisodeRecord]:
    """Yield the records of a run without what was said and done."""
    for record in records_in(folder):
        search = search_of(record)
        kept = {} if search is None else {"search": search._replace(tree=())}
        yield record._replace(messages=(), steps=(), result=None, extensions=kept)


def _report(
    found: Sequence[SearchMethod], plan: Plan, options: Options, folder: Path | None
) -> int:
    """Print what the methods came to, and return the exit status."""
    if options.output:
        with written(options.output) as file:
            for method in found:
                lines = ({"method": method.name, **each.to_json()} for each in method.entries)
                file.writelines(json.dumps(line, allow_nan=False) + "\n" for line in lines)
    if options.json:
        say_json({"methods": [method.to_json() for method in found]})
    else:
        for line in (*search_lines(found), *_about(plan, options), *difference_lines(found)):
            say(line)
        if folder is not None:
            last = folder / (DFSDT if options.children > 1 else REACT)
            say(f"runs in {folder}; next: turnwise report {last} -o report.html")
    failed = [
        entry.deciding
        for method in found
        for entry in method.entries
        if entry.deciding.verdict is None
    ]
    for record in failed:
        note(f"{record.id}: {record.error}")
    return RUN_ERROR if failed else DONE


def _about(plan: Plan, options: Options) -> Iterator[str]:
    yield (
        f"at most {options.max_calls} requests and {options.max_nodes} steps an entry; "
        f"model {plan.model}; data {plan.dataset.name}; profile {plan.profile.name}; "
        f"observations {plan.observations}"
    )
    if options.repeat is not None:
        yield (
            f"ReAct@{options.repeat}: passed once an attempt does; all attempts share the requests "
            "that the search with undo took"
        )
