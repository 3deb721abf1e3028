"""The command ``turnwise eval``: a model on a data set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from checkers.verdict import Verdict
from envs.lazy import lazily
from runner import extension
from runner.analysis.runs import as_offered
from runner.commands.eval_options import EvalOptions, LiveOptions
from runner.commands.features import feature_lines, narrowed, with_features
from runner.commands.judging import judge_all, mend_for, report
from runner.commands.options import given
from runner.commands.shared import note
from runner.data import choose, services
from runner.data.choose import profile_for
from runner.episodes.evaluate import run_null, run_oracle, run_recorded, run_scripted
from runner.episodes.scripted import Scripted
from runner.extension import RunFeature
from runner.live.settings import Settings
from runner.records import result_file
from runner.records.run import open_run
from runner.show.terminal import say
from trajectories.dataset import Dataset
from trajectories.errors import DataError

if TYPE_CHECKING:
    from runner.commands import eval_live
else:
    # Without what makes schemas and asks servers, offline models start in half the time.
    eval_live = lazily(".eval_live", __package__)

EXAMPLE = "turnwise eval --model oracle --category base --limit 20"

Options = EvalOptions

_OFFLINE: Mapping[str, Callable[..., Verdict]] = {"oracle": run_oracle, "null": run_null}


def run(options: Options) -> int:
    """Run a model on entries, and print its score."""
    model = choose.model(options.model, options.base_url)
    chosen = {name: extension.named(name) for name in options.extensions}
    varies = any(each.makes_variants(options.extensions[name]) for name, each in chosen.items())
    if varies and model.path is not None:
        raise DataError("--model", "a recorded run answers what it was asked; it cannot be varied")
    if not model.live:
        _refuse_live_options(options, _OF_EXPERIMENTS if varies else ())
    is_scripted = model.name.startswith(choose.SCRIPTED)
    scripted = Scripted.named(model.name) if is_scripted else None
    recorded = open_run(model.path) if model.path else None
    name = choose.dataset_name(options.dataset, recorded.ids if recorded else ())
    if recorded and options.category is None:
        categories = result_file.categories_of(recorded.ids)
    else:
        categories = choose.categories(options.category, name)
    dataset = choose.dataset(name, categories, note, options.reach)
    profile = profile_for(dataset, options.profile)
    everything = choose.trajectories(dataset, recorded, options.split)
    trajectories = choose.part(
        everything, options.ids, options.limit, options.sample, options.sample_seed
    )
    choose.require_languages(trajectories)
    if not model.live:
        choose.require_nesting(trajectories, profile, "prompt")
    population = len(everything) if options.sample else len(trajectories)
    services.require_up(trajectories, options.reach)
    for line in services.notes(trajectories, profile, options.reach):
        note(line)
    if dataset.tolerant:
        _note_irregularities(dataset)
    if model.live or varies:
        return eval_live.evaluate_live(options, dataset, profile, trajectories, population)
    features: Sequence[RunFeature] = with_features(options, options.extensions, Settings()).features
    for feature in features:
        if recorded or scripted or not feature.is_offline:
            models = "live models, oracle and null" if feature.is_offline else "live models"
            raise DataError(feature.flag, f"is for {models}, not {options.model}")
    if recorded:
        dataset = as_offered(recorded, dataset, note)
    dataset, features = narrowed(
        features, dataset, [each.id for each in trajectories], dataset.folder
    )
    trajectories = [dataset.trajectories[each.id] for each in trajectories]
    entries = recorded.entries() if recorded else None
    if entries is not None:
        run_one: Callable[..., Verdict] = partial(run_recorded, entries=entries)
    elif scripted is not None:
        run_one = partial(run_scripted, scripted=scripted)
    else:
        run_one = _OFFLINE[model.name]
    judge = partial(run_one, profile=profile, step_limit=options.step_limit)
    mend = mend_for(options, dataset, profile, lambda prepared, _: judge(prepared))
    outcomes = judge_all(dataset, trajectories, profile, judge, options, entries)
    least = options.fail_under
    status = report(dataset, profile, trajectories, outcomes, population, mend, least)
    for line in feature_lines(features, dataset, trajectories, outcomes):
        say(line)
    return status


_OF_EXPERIMENTS = (
    "--run-dir",
    "--resume",
    "--trials",
    "--concurrency",
    "--dry-run",
    "--no-preflight",
    "--allow-errors",
    "--function-docs",
)
"""Options of live models that others take, too, where the list of functions varies."""


def _refuse_live_options(options: Options, allowed: Collection[str]) -> None:
    for flag in given(options, LiveOptions):
        if flag in allowed:
            continue
        raise DataError(flag, f"is for live models, and {options.model} asks none; leave it out")


def _note_irregularities(dataset: Dataset) -> None:
    problems, configs = choose.number_of_irregularities(dataset)
    if problems:
        note(
            f"warning: {problems} irregularities in {configs} initial configs, taken"
            f" as they are (turnwise dataset show {dataset.name} --warnings lists them)"
        )
