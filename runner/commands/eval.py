"""Command ``turnwise eval``: runs a model on a data set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from checkers.verdict import Verdict
from envs.errors import DataError
from envs.lazy_modules import lazy_module
from runner import extension
from runner.analysis.figures import RunFigures
from runner.analysis.replayed_runs import restore_offers
from runner.commands.common_options import note
from runner.commands.eval_options import EvalOptions, LiveOptions
from runner.commands.offline_judging import correction_for, judge_all, report
from runner.commands.options import given_flags
from runner.commands.run_features import add_features, feature_lines, narrow_dataset
from runner.data import dataset_choice, web_services
from runner.data.dataset_choice import choose_profile
from runner.episodes.judging import run_recorded
from runner.episodes.offline import run_null, run_oracle, run_scripted
from runner.episodes.scripted_models import ScriptedBehaviour
from runner.extension import RunFeature, add_members
from runner.live.run_settings import Settings
from runner.models.model_name import ModelName, NullName, OracleName, ReplayName, ScriptedName
from runner.records import bfcl_result_file
from runner.records.durable_files import check_writable
from runner.records.episode_record import RecordedEpisode
from runner.records.recorded_run import Run, open_run
from runner.show.terminal import say
from trajectories import message_language
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from runner.commands import eval_live
else:
    # Offline models start in half the time without schemas and HTTP clients.
    eval_live = lazy_module(".eval_live", __package__)

EXAMPLE = "turnwise eval --model oracle --category base --limit 20"

Options = EvalOptions


def run(options: Options) -> int:
    """Run a model on entries and print its score."""
    check_writable(options.output)
    model = options.model
    model.check(options.base_url)
    theirs = options.extensions.items()
    varies = any(extension.load_extension(name).makes_variants(own) for name, own in theirs)
    if varies and not model.plays_entries:
        raise DataError("--model", "recorded runs cannot answer changed entries; use another model")
    if not model.is_live:
        _refuse_live_options(options, _LIVE_OPTIONS_WITH_VARY if varies else ())
    if options.resume is not None and not options.resume.is_dir():
        raise DataError("--resume", f"{options.resume} is not a folder")
    recorded = open_run(model.recording) if model.recording else None
    dataset = _load_dataset(options, recorded)
    for name, own in theirs:
        dataset = extension.load_extension(name).entries(dataset, own)
    profile = choose_profile(dataset, options.profile)
    everything = dataset_choice.list_entries(dataset, recorded, options.subset, options.tag)
    trajectories = dataset_choice.select_entries(
        everything, options.ids, options.limit, options.sample, options.sample_seed
    )
    dataset_choice.require_languages(trajectories)
    dataset_choice.report_untyped(dataset, trajectories, note)
    if not model.is_live:
        trajectories = dataset_choice.leave_out_nesting(
            trajectories, options.category, profile, "prompt", note
        )
    population = len(everything) if options.sample else len(trajectories)
    web_services.require_up(trajectories, options.reach)
    limits = message_language.describe_limits(trajectories)
    for line in (*web_services.notes(trajectories, profile, options.reach), *limits):
        note(line)
    if dataset.tolerant:
        _warn_of_irregularities(dataset)
    if model.is_live or varies:
        return eval_live.evaluate_live(options, dataset, profile, trajectories, population)
    if recorded:
        dataset = restore_offers(recorded, dataset, note)
    return _evaluate_offline(options, recorded, dataset, trajectories, population)


def _load_dataset(options: Options, recorded: Run | None) -> Dataset:
    if recorded and recorded.dataset:
        return recorded.dataset
    name = dataset_choice.guess_dataset_name(options.dataset, recorded.ids if recorded else ())
    if recorded and options.category is None:
        categories = bfcl_result_file.categories_of(recorded.ids)
    else:
        categories = dataset_choice.parse_categories(options.category, name)
    return dataset_choice.open_dataset(name, categories, note, options.reach)


def _evaluate_offline(
    options: Options,
    recorded: Run | None,
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    population: int,
) -> int:
    profile = choose_profile(dataset, options.profile)
    entries = recorded.entries() if recorded else None
    run_one = _PLAYERS[type(options.model)](options.model, entries or {})
    features: Sequence[RunFeature] = add_features(options, options.extensions, Settings()).features
    for feature in features:
        if not (feature.is_offline and options.model.takes_features):
            models = "live models, oracle and null" if feature.is_offline else "live models"
            raise options.model.make_refusal(feature.flag, models)
    ids = [each.id for each in trajectories]
    dataset, features = narrow_dataset(features, dataset, ids, dataset.folder)
    trajectories = [dataset.trajectories[id] for id in ids]
    judge = partial(run_one, profile=profile, step_limit=options.step_limit)
    mend = correction_for(
        options,
        dataset,
        profile,
        lambda prepared, _: judge(prepared),
        require_info=options.require_info,
    )
    judged = judge_all(dataset, trajectories, profile, judge, options, entries)
    outcomes = [add_members(each, features) for each in judged]
    progress = recorded.progress if recorded and len(trajectories) == len(recorded.ids) else None
    figures = RunFigures(outcomes, trajectories, progress=progress)
    status = report(dataset, profile, figures, population, mend, options.fail_under)
    for line in feature_lines(features, dataset, trajectories, outcomes):
        say(line)
    extension.report_run(options.extensions, figures, dataset)
    return status


_PLAYERS: Mapping[
    type[ModelName], Callable[[ModelName, Mapping[str, RecordedEpisode]], Callable[..., Verdict]]
] = {
    OracleName: lambda _model, _entries: run_oracle,
    NullName: lambda _model, _entries: run_null,
    ScriptedName: lambda model, _entries: partial(
        run_scripted, scripted=ScriptedBehaviour.named(model)
    ),
    ReplayName: lambda _model, entries: partial(run_recorded, entries=entries),
}
"""Maps types of offline models to factories. A factory returns the function that plays an entry."""

_LIVE_OPTIONS_WITH_VARY = (
    "--run-dir",
    "--resume",
    "--trials",
    "--concurrency",
    "--dry-run",
    "--no-preflight",
    "--allow-errors",
    "--function-docs",
)


def _refuse_live_options(options: Options, allowed: Collection[str]) -> None:
    for flag in given_flags(options, LiveOptions):
        if flag not in allowed:
            raise options.model.make_refusal(flag)


def _warn_of_irregularities(dataset: Dataset) -> None:
    problems, configs = dataset_choice.count_irregularities(dataset)
    if problems:
        note(
            f"warning: {configs} initial configs have {problems} irregularities; "
            f"turnwise dataset show {dataset.name} --warnings lists them"
        )
