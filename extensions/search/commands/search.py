"""Command ``turnwise search``: compares a tree search with ReAct under the same budget."""

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
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from checkers.profile import Mode
from envs.errors import DataError
from extensions.search.fallible_model import ErrorRates, FallibleModelRouter
from extensions.search.feature import SearchFeature, SearchSettings, reference_of
from extensions.search.method_scores import SearchMethod, difference_lines, search_lines
from extensions.search.record import search_of
from extensions.search.repeated_episodes import RepeatedEpisode, next_round
from extensions.search.search import SearchLimits, search_texts, texts_hash
from extensions.search.search_player import SearchPlayer
from runner.commands import DONE, RUN_ERROR
from runner.commands.common_options import (
    EntriesOptions,
    JsonOption,
    JudgingOptions,
    OutputOption,
    note,
)
from runner.commands.eval_options import ConnectionOptions, RateOptions, SamplingOptions
from runner.commands.model_requests import exit_status, is_ready, plan_of
from runner.commands.options import index, option, positive, switch
from runner.commands.plan_execution import report_jobs, run_segment, selection_of
from runner.commands.run_features import settings_of
from runner.commands.variant_types import remaining_budget, with_budget
from runner.data import dataset_choice
from runner.data.dataset_choice import choose_profile
from runner.episodes.judging import kind_of
from runner.episodes.scripted_models import ScriptedBehaviour
from runner.live.live_run import EpisodeJob, RunInputs, jobs_of
from runner.live.progress_display import ProgressDisplay
from runner.live.run_control import (
    RunEnding,
    conduct_here,
    estimate,
    open_jobs,
    open_store,
    order_seed,
)
from runner.models.model_connection import connect
from runner.models.model_name import ModelName, parse_model_name
from runner.models.model_types import Model
from runner.models.settings import Observations
from runner.records.durable_files import check_writable, write_output
from runner.records.episode_record import EpisodeRecord
from runner.records.recorded_run import is_run, open_run, read_records
from runner.records.run_store import RunStore, create_folder, default_folder
from runner.show.terminal import say, say_json
from trajectories.schema import Trajectory

EXAMPLE = "turnwise search --model scripted:0.2 --limit 20"

_MAX_EPISODES = 100
REACT, DFSDT, REPEATED = "react", "dfsdt", "react-at-n"
"""Folders of the runs."""


def _parse_repeat(text: str) -> int:
    episodes = positive(text)
    if episodes > _MAX_EPISODES:
        raise ArgumentTypeError(f"{episodes} is too many: at most {_MAX_EPISODES} per entry")
    return episodes


@dataclass(frozen=True, kw_only=True)
class _LimitOptions:
    """Search."""

    children: int = option(
        "maximum branches per step (1: ReAct, without undo)", "N", default=3, read=positive
    )
    max_calls: int = option("maximum requests per entry", "N", default=100, read=positive)
    max_nodes: int = option("maximum steps per entry", "N", default=100, read=positive)
    repeat: int | None = option(
        "also run ReAct@N (up to N episodes per entry) with the same request budget",
        "N",
        read=_parse_repeat,
    )
    finish: bool = switch("offer a function that ends a turn or a branch")


@dataclass(frozen=True, kw_only=True)
class Options(
    _LimitOptions,
    EntriesOptions,
    OutputOption,
    JsonOption,
    JudgingOptions,
    ConnectionOptions,
    SamplingOptions,
    RateOptions,
):
    """Options for the model and the run folder."""

    model: ModelName = option(
        "live model, or scripted:RATE (share of wrong calls)",
        "NAME",
        required=True,
        read=parse_model_name,
    )
    mode: Mode | None = option("tool calls or calls in text (default: fc)")
    observations: Observations | None = option(
        "wording of errors for refused calls (default: depends on the data set)"
    )
    prompts: str | None = option(
        "TOML file with prompts; its table [search] has the prompts of the search", "FILE"
    )
    seed: int | None = option(
        "seed of the first episode; each later episode adds 1 (default: 0)",
        "S",
        read=index,
    )
    run_dir: Path | None = option(
        "folder for the runs (default for live models: a new folder in runs/)",
        "DIR",
        excludes=("--resume",),
    )
    resume: Path | None = option("resume the runs in this folder", "DIR")
    only: Literal["errors"] | None = option(
        "with --resume: repeat episodes that ended in errors", needs="--resume"
    )
    no_preflight: bool = switch("skip the test request before the run")
    dry_run: bool = switch("print only the number of requests and tokens")
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """Options of extensions, by extension name."""


class _Method(NamedTuple):
    """A search method of the comparison."""

    name: str
    folder: str
    plan: RunInputs


def run(options: Options) -> int:
    """Run a model with undo and without undo, and print a comparison of the methods."""
    check_writable(options.output)
    _check(options)
    plan, trajectories = _make_plan(options)
    methods = _methods(options, plan)
    if options.dry_run:
        _print_estimate(methods, trajectories)
        return DONE
    scripted = options.model.is_scripted
    if not (scripted or options.no_preflight) and not is_ready(plan, connect_model):
        return RUN_ERROR
    with ExitStack() as opened:
        folder = options.resume or options.run_dir
        kept = folder is not None or not scripted
        if folder is None and kept:
            folder = create_folder(default_folder(options.model, datetime.now()))
        elif folder is None:
            folder = Path(opened.enter_context(TemporaryDirectory(prefix="turnwise-")))
        stopped = _search(methods, folder, trajectories, options, told=kept)
        if stopped is not None:
            ending, name = stopped
            note(f"{name}: {ending.stop_reason}; resume with --resume {quote(str(folder))}")
            return exit_status(ending.stop_reason, failed=ending.failed)
        found = _score_methods(methods, folder, trajectories)
        return _report(found, plan, options, folder if kept else None)


def _check(options: Options) -> None:
    """Check that the options fit together. Raises DataError if options contradict each other."""
    if options.repeat is not None and options.children == 1:
        raise DataError("--repeat", "needs the budget of a tree search; use --children 2 or more")
    for folder in filter(None, (options.run_dir, options.resume)):
        if is_run(folder):
            raise DataError(str(folder), "is a single run; name the folder of a search")
    if options.resume and not is_run(options.resume / REACT):
        raise DataError(str(options.resume), f"has no search to resume: no run in {REACT}")
    if options.run_dir and is_run(options.run_dir / REACT):
        raise DataError(str(options.run_dir), "contains a search already; use --resume")
    if options.model.is_scripted:
        ScriptedBehaviour.named(options.model, policies=False)
        if options.mode not in (None, "fc"):
            raise DataError("--mode", "must be `fc` for a scripted model; leave --mode out")
        return
    options.model.check(options.base_url)
    if not options.model.is_live:
        why = f"{options.model} makes no errors; name a live model or scripted:RATE"
        raise DataError("--model", why)
    if options.model.is_agent:
        raise DataError(
            "--model", "an agent may remember the steps that the search undoes; name a model"
        )


def _make_plan(options: Options) -> tuple[RunInputs, list[Trajectory]]:
    """Return the common plan of all runs, and the entries.

    Raises DataError if an option or a file cannot be used.
    """
    dataset = dataset_choice.load_named(options.dataset, options.category, note)
    entries = dataset_choice.list_entries(dataset, None, options.subset, options.tag)
    entries = [entry for entry in entries if not kind_of(entry).is_single_turn]
    chosen = dataset_choice.select_entries(entries, options.ids, options.limit)
    if not chosen:
        raise DataError("--category", f"{dataset.name} has no multi-turn entries")
    settings = settings_of(options, "search")
    has_format = any(each.protocol for each in settings.features)
    if has_format and options.model.is_scripted:
        raise options.model.make_refusal("--calling-format")
    if settings.reply_cache is not None:
        raise DataError("reply_cache", "is for eval only; leave it out")
    profile = choose_profile(dataset, options.profile)
    return plan_of(options, dataset, profile, settings), chosen


def _methods(options: Options, plan: RunInputs) -> list[_Method]:
    def searching(children: int, repeat: int | None = None) -> RunInputs:
        limits = children, options.max_calls, options.max_nodes
        texts = plan.settings.prompts and Path(plan.settings.prompts)
        reference = SearchSettings(*limits, options.finish, repeat, texts_hash(texts or None))
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
    """Print the expected and the maximum number of requests."""
    guess = estimate(jobs_of(trajectories, 1), lambda t: methods[0].plan.style(t).toolbox.size)
    searches = [each for each in methods if each.folder != REPEATED]
    most = sum(reference_of(each.plan).max_calls for each in searches)
    repeated = ". ReAct@N adds no more requests than the tree search"
    say(
        f"{len(trajectories)} entries, {len(searches)} methods. A model without errors needs "
        f"{len(searches) * guess.requests} requests and about {len(searches) * guess.tokens} "
        f"prompt tokens. The maximum is {most * len(trajectories)} requests"
        f"{repeated if len(searches) < len(methods) else ''}"
    )


def connect_model(plan: RunInputs) -> Model:
    """Connect to the model of a plan, or return a scripted model."""
    if plan.model.is_scripted:
        rate = ScriptedBehaviour.named(plan.model, policies=False).error_rate
        return FallibleModelRouter(plan, ErrorRates(rate))
    return connect(plan.model, plan.settings.request_options())


def _search(
    methods: Sequence[_Method],
    folder: Path,
    trajectories: Sequence[Trajectory],
    options: Options,
    *,
    told: bool,
) -> tuple[RunEnding, str] | None:
    _check_definitions(methods, folder, options)
    settings = methods[0].plan.settings
    left = settings.max_requests, settings.max_cost
    for name, place, plan in methods:
        one, run_folder = with_budget(plan, *left), folder / place
        play = _play_repeatedly if place == REPEATED else _play_once
        resumes = options.resume is not None and is_run(run_folder)
        selection = selection_of(options, run_folder if resumes else None)
        ending, _ = run_segment(
            *(one, run_folder, selection, partial(play, one, trajectories, options, told)),
            episodes=len(trajectories),
            resumes=resumes,
        )
        if ending.stop_reason is not None:
            return ending, name
        left = remaining_budget(*left, ending)
    return None


def _check_definitions(methods: Sequence[_Method], folder: Path, options: Options) -> None:
    """Check that all existing runs can be resumed.

    Raises DataError if a run cannot be resumed.
    """
    for _, place, plan in methods:
        there = folder / place
        if options.resume is not None and is_run(there):
            selection = selection_of(options, there)
            open_store(there, plan, selection, (), episodes=0, resumes=True).close()


def _play_once(
    plan: RunInputs,
    trajectories: Sequence[Trajectory],
    options: Options,
    told: bool,
    store: RunStore,
) -> RunEnding:
    jobs = open_jobs(store, trajectories, 1, options.only, order_seed(plan, store))
    return _conduct(plan, store, jobs, told=told)


def _play_repeatedly(
    plan: RunInputs,
    trajectories: Sequence[Trajectory],
    options: Options,
    told: bool,
    store: RunStore,
) -> RunEnding:
    """Run up to N rounds, until all entries pass or the tree search's budget is used up."""
    if options.only is not None:
        store.supersede([key for key, done in store.done.items() if done == "error"], go_on=True)
    _copy_first_episodes(store, store.folder.parent / REACT)
    budget = sum(len(each.requests) for each in read_records(store.folder.parent / DFSDT))
    ending = RunEnding(None, failed=False, spent=store.spent, idle=True)
    for number in range(reference_of(plan).repeat or 1):
        done = {each.key: RepeatedEpisode.of(each) for each in read_records(store.folder)}
        entries = next_round(done, trajectories, number, budget) if number else trajectories
        jobs = [
            job._replace(trial=number, course=store.underway((job.trajectory.id, number)))
            for job in jobs_of(entries, 1, order_seed(plan, store))
            if (job.trajectory.id, number) not in store.done
        ]
        if number and not entries:
            break
        if jobs:
            ending = _conduct(plan, store, jobs, told=told)
        if ending.stop_reason is not None:
            break
    return ending


def _copy_first_episodes(store: RunStore, folder: Path) -> None:
    """Copy the episodes of a run into another run as first trials; skip episodes with errors."""
    first = open_run(folder)
    wanted = [record for record in first.records if record.key not in store.done]
    digests = {step.tools: None for record in wanted for step in record.requests if step.tools}
    for digest, tools in first.tools(digests).items():
        store.put_tools(digest, tools)
    for record in wanted:
        if record.outcome != "error":
            store.append(record)


def _conduct(
    plan: RunInputs, store: RunStore, jobs: Sequence[EpisodeJob], *, told: bool
) -> RunEnding:
    reference = reference_of(plan)
    if told:
        report_jobs(store, jobs)
    limits = SearchLimits(reference.children, reference.max_calls, reference.max_nodes)
    meter = ProgressDisplay(len(jobs), sys.stderr, time.monotonic)
    prompts = plan.settings.prompts
    texts = search_texts(Path(prompts) if prompts else None)
    player = partial(SearchPlayer, limits, reference.finish, texts=texts)
    ending = conduct_here(plan, store, jobs, connect_model, meter, player)
    return ending if jobs else ending._replace(idle=True)


def _score_methods(
    methods: Sequence[_Method], folder: Path, trajectories: Sequence[Trajectory]
) -> list[SearchMethod]:
    """Return the scores of the methods in the order ReAct, ReAct@N, DFSDT."""
    order = (REACT, REPEATED, DFSDT)
    return [
        SearchMethod(name, [*_shorten_records(folder / place)], trajectories)
        for name, place, _ in sorted(methods, key=lambda method: order.index(method.folder))
    ]


def _shorten_records(folder: Path) -> Iterator[EpisodeRecord]:
    """Yield the records of a run, without messages, steps and search trees."""
    for record in read_records(folder):
        search = search_of(record)
        kept = {} if search is None else {"search": search._replace(tree=())}
        yield record._replace(messages=(), steps=(), result=None, extensions=kept)


def _report(
    found: Sequence[SearchMethod], plan: RunInputs, options: Options, folder: Path | None
) -> int:
    if options.output:
        lines = ({"method": m.name, **each.to_json()} for m in found for each in m.entries)
        write_output(options.output, (json.dumps(line, allow_nan=False) + "\n" for line in lines))
    if options.json:
        say_json({"methods": [method.to_json() for method in found]})
    else:
        for line in (
            *search_lines(found),
            *_setting_lines(plan, options),
            *difference_lines(found),
        ):
            say(line)
        if folder is not None:
            last = folder / (DFSDT if options.children > 1 else REACT)
            say(
                f"The runs are in {folder}. Next: turnwise report {quote(str(last))} -o report.html"
            )
    deciding = [entry.deciding for method in found for entry in method.entries]
    failed = [record for record in deciding if record.verdict is None]
    for record in failed:
        note(f"{record.id}: {record.error}")
    return RUN_ERROR if failed else DONE


def _setting_lines(plan: RunInputs, options: Options) -> Iterator[str]:
    yield (
        f"at most {options.max_calls} requests and {options.max_nodes} steps per entry; "
        f"model {plan.model}; data {plan.dataset.name}; profile {plan.profile.name}; "
        f"observations {plan.observations}"
    )
    if options.repeat is not None:
        yield (
            f"ReAct@{options.repeat}: an entry passes if one of its episodes passes; all "
            "episodes share the request budget of the tree search"
        )
