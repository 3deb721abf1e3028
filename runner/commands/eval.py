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
from runner.episodes.evaluate import run_recorded
from runner.episodes.offline import run_null, run_oracle, run_scripted
from runner.episodes.scripted import ScriptedBehaviour
from runner.extension import RunFeature, with_kept
from runner.live.settings import Settings
from runner.models.model_name import ModelName, Null, Oracle, Replay, Scripted, chosen
from runner.records import result_file
from runner.records.record import Recorded
from runner.records.run import Run, open_run
from runner.show.terminal import say
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from runner.commands import eval_live
else:
    # Without what makes schemas and asks servers, offline models start in half the time.
    eval_live = lazily(".eval_live", __package__)

EXAMPLE = "turnwise eval --model oracle --category base --limit 20"

Options = EvalOptions


def run(options: Options) -> int:
    """Run a model on entries, and print its score."""
    model = chosen(options.model, options.base_url)
    varies = _makes_variants(options)
    if varies and not model.plays_entries:
        raise DataError("--model", "a recorded run answers what it was asked; it cannot be varied")
    if not model.is_live:
        _refuse_live_options(options, _OF_EXPERIMENTS if varies else ())
    recorded = open_run(model.path) if isinstance(model, Replay) else None
    dataset = _dataset(options, recorded)
    profile = profile_for(dataset, options.profile)
    everything = choose.trajectories(dataset, recorded, options.split)
    trajectories = choose.part(
        everything, options.ids, options.limit, options.sample, options.sample_seed
    )
    choose.require_languages(trajectories)
    if not model.is_live:
        choose.require_nesting(trajectories, profile, "prompt")
    population = len(everything) if options.sample else len(trajectories)
    services.require_up(trajectories, options.reach)
    for line in services.notes(trajectories, profile, options.reach):
        note(line)
    if dataset.tolerant:
        _note_irregularities(dataset)
    if model.is_live or varies:
        return eval_live.evaluate_live(options, dataset, profile, trajectories, population)
    if recorded:
        dataset = as_offered(recorded, dataset, note)
    return _evaluate(options, model, recorded, dataset, trajectories, population)


def _makes_variants(options: Options) -> bool:
    """Tell whether extensions make several runs of the one that is asked for."""
    theirs = options.extensions.items()
    return any(extension.named(name).makes_variants(own) for name, own in theirs)


def _dataset(options: Options, recorded: Run | None) -> Dataset:
    name = choose.dataset_name(options.dataset, recorded.ids if recorded else ())
    if recorded and options.category is None:
        categories = result_file.categories_of(recorded.ids)
    else:
        categories = choose.categories(options.category, name)
    return choose.dataset(name, categories, note, options.reach)


def _evaluate(
    options: Options,
    model: ModelName,
    recorded: Run | None,
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    population: int,
) -> int:
    """Judge what a model does that nobody has to ask, and print its score."""
    profile = profile_for(dataset, options.profile)
    entries = recorded.entries() if recorded else None
    run_one = _player(model, entries)
    features: Sequence[RunFeature] = with_features(options, options.extensions, Settings()).features
    for feature in features:
        if not (feature.is_offline and isinstance(model, (Oracle, Null))):
            models = "live models, oracle and null" if feature.is_offline else "live models"
            raise DataError(feature.flag, f"is for {models}, not {options.model}")
    ids = [each.id for each in trajectories]
    dataset, features = narrowed(features, dataset, ids, dataset.folder)
    trajectories = [dataset.trajectories[id] for id in ids]
    judge = partial(run_one, profile=profile, step_limit=options.step_limit)
    mend = mend_for(options, dataset, profile, lambda prepared, _: judge(prepared))
    judged = judge_all(dataset, trajectories, profile, judge, options, entries)
    outcomes = [with_kept(each, features) for each in judged]
    least = options.fail_under
    status = report(
        dataset,
        profile,
        trajectories=trajectories,
        outcomes=outcomes,
        population=population,
        mend=mend,
        least=least,
    )
    for line in feature_lines(features, dataset, trajectories, outcomes):
        say(line)
    return status


def _player(model: ModelName, entries: Mapping[str, Recorded] | None) -> Callable[..., Verdict]:
    """Return what plays an entry as a model that nobody has to ask."""
    if isinstance(model, Scripted):
        return partial(run_scripted, scripted=ScriptedBehaviour.named(model.text))
    if entries is not None:
        return partial(run_recorded, entries=entries)
    return run_oracle if isinstance(model, Oracle) else run_null


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
