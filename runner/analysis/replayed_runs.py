"""Replay of a recorded run: the data set is loaded, and the episodes are executed again."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from checkers.profile import Profile
from envs.errors import DataError
from envs.lazy_modules import lazy_module
from runner.analysis.corrected_judging import CorrectedJudging
from runner.data import dataset_choice
from runner.data.dataset_choice import Notify, choose_profile
from runner.episodes.info_verdict import add_reported_info, fail_examined_without_info
from runner.episodes.judging import describe_error
from runner.episodes.offline import examine_recorded
from runner.episodes.turn_loop import STEP_LIMIT
from runner.extension import recorded_features
from runner.records import bfcl_result_file
from runner.records.episode_record import EpisodeRecord, Key, RecordedEpisode
from runner.records.recorded_run import Run
from trajectories.dataset import EMBEDDED, Dataset
from trajectories.errata.corrections import AS_PUBLISHED, CorrectedEntries, select_first_right
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import Category, Trajectory

if TYPE_CHECKING:
    from runner.data import bfcl_wording
    from runner.episodes.rejudged_episode import RejudgedEpisode
    from runner.models.conversation import Observe
else:
    # Few runs need this module.
    bfcl_wording = lazy_module("..data.bfcl_wording", __package__)


class ReplayedEpisode(NamedTuple):
    """Episode of a run: the record, and the result of executing the episode again."""

    trajectory: Trajectory
    recorded: RecordedEpisode
    judged: EpisodeRecord
    """New record; its error is the recorded error, or the reason why the episode was not judged."""
    examined: RejudgedEpisode | None
    """Details of the new judging; None if the episode could not be judged."""


class ReplayedRun(NamedTuple):
    """Run whose episodes are all executed again."""

    source: Run
    dataset: Dataset
    profile: Profile
    episodes: Iterable[ReplayedEpisode]
    mend: CorrectedJudging | None = None

    def select(self, keys: Container[Key]) -> Iterator[ReplayedEpisode]:
        """Return the episodes with these keys, without executing the others."""
        if isinstance(self.episodes, _ReplayedEpisodes):
            return self.episodes.replay(key for key in self.episodes.keys if key in keys)
        return (each for each in self.episodes if each.recorded.record.key in keys)


def replay_run(
    source: Run, dataset: Dataset, profile: Profile, step_limit: int, *, require_info: bool = False
) -> ReplayedRun:
    """Return a run that executes the recorded episodes again on each use.

    Raises DataError if the run has no finished episode, or the data set lacks an entry of the run.
    """
    keys = sort_episodes(source, dataset)
    replay = partial(
        replay_episodes,
        source,
        dataset=dataset,
        profile=profile,
        step_limit=step_limit,
        require_info=require_info,
    )
    return ReplayedRun(source, dataset, profile, _ReplayedEpisodes(keys, replay))


@dataclass(frozen=True)
class _ReplayedEpisodes:
    keys: Sequence[Key]
    replay: Callable[[Iterable[Key]], Iterator[ReplayedEpisode]]

    def __iter__(self) -> Iterator[ReplayedEpisode]:
        return self.replay(self.keys)


def sort_episodes(run: Run, dataset: Dataset) -> list[Key]:
    """Return the keys of a run's episodes, sorted by the data set's order and by trial.

    Raises DataError if the run has no finished episode, or the data set lacks an entry of the run.
    """
    if not run.episodes:
        raise DataError(str(run.path), "has no finished episode")
    for id in run.ids:
        dataset_choice.get_entry(dataset, id)
    places = {id: place for place, id in enumerate(dataset.trajectories)}
    return sorted(run.episodes, key=lambda key: (places[key[0]], key[1]))


def replay_episodes(
    run: Run,
    keys: Iterable[Key],
    dataset: Dataset,
    profile: Profile,
    step_limit: int,
    readings: CorrectedEntries = AS_PUBLISHED,
    *,
    require_info: bool = False,
) -> Iterator[ReplayedEpisode]:
    """Execute the episodes with these keys again.

    For speed, group the keys by entry.

    Args:
        step_limit: Maximum steps per turn, if the profile limits recorded runs.
        readings: Errata by which the episodes are judged; they must not withdraw any of these
            entries.
        require_info: Whether to fail episodes that do not report required information.

    Raises:
        DataError: The data set lacks a trajectory.
    """
    observe = result_rendering(run, dataset)

    @lru_cache(maxsize=4)
    def prepare_reading(id: str, number: int) -> PreparedTrajectory:
        return prepare(dataset, readings.of(dataset.trajectories[id])[number], profile)

    for key in keys:
        trajectory, recorded = dataset_choice.get_entry(dataset, key[0]), run.episodes[key]
        examined, error = None, None
        try:
            count = len(readings.of(trajectory))
            prepared = (prepare_reading(trajectory.id, number) for number in range(count))
            found = (
                examine_recorded(one, recorded, profile, step_limit, observe) for one in prepared
            )
            examined = select_first_right(
                map(fail_examined_without_info, found) if require_info else found,
                lambda examined: examined.verdict.valid,
            )
        except Exception as fault:
            error = describe_error(fault)
        if examined and recorded.record.outcome == "error":
            error = recorded.error or recorded.record.error
        verdict = examined.verdict if examined and error is None else None
        judged = EpisodeRecord.of(trajectory, verdict, error, trial=recorded.trial)
        judged = add_reported_info(judged, trajectory, recorded)
        judged = judged._replace(extensions=recorded.record.extensions)
        yield ReplayedEpisode(trajectory, recorded, judged, examined)


def result_rendering(run: Run, dataset: Dataset) -> Observe | None:
    """Return the function that shortened the results of the run; None for full results.

    A missing requirement, such as BFCL's wording or a tokenizer, is ignored.
    """
    if run.definition is None:
        return None
    observe: Observe | None = None
    with suppress(DataError):
        if run.definition.settings.observations == "bfcl":
            observe = bfcl_wording.wording_of("bfcl", dataset)
    with suppress(DataError):
        for feature in recorded_features(run.definition, str(run.path)):
            observe = feature.observe(observe)
    return observe


Load = Callable[[str | None, Sequence[Category], Notify], Dataset]


def dataset_of(
    run: Run, name: str | None, notify: Notify, load: Load = dataset_choice.open_dataset
) -> Dataset:
    """Load a run's data set, including the changes that extensions made in the run.

    See ``load_plain_dataset`` for the arguments and exceptions.
    """
    return restore_offers(
        run, restore_entries(run, load_plain_dataset(run, name, notify, load)), notify
    )


def load_plain_dataset(
    run: Run, name: str | None, notify: Notify, load: Load = dataset_choice.open_dataset
) -> Dataset:
    """Load a run's data set without the changes of extensions.

    Args:
        name: Name of the data set (default: the data set of the run or its ids).
        notify: Called if the data has changed since the run.

    Raises:
        DataError: The data cannot be loaded.
    """
    if run.dataset is not None:
        return run.dataset
    if run.definition is None:
        named = any(map(bfcl_result_file.category_of, run.ids))
        wanted = bfcl_result_file.categories_of(run.ids)
        name = name or ("bfcl" if named else None)
    else:
        then = run.definition.dataset.name
        name = name or (None if then == EMBEDDED else then)
        wanted = dataset_choice.parse_categories(run.definition.selection.category, name)
    dataset = load(name, wanted, notify)
    change = describe_data_change(run, dataset)
    if change is not None:
        notify(f"{run.path}: {change}")
    known = dataset.trajectories
    dataset_choice.require_languages(known[id] for id in run.ids if id in known)
    return dataset


def restore_entries(run: Run, dataset: Dataset) -> Dataset:
    """Return the data set with the changes that extensions made to its entries in a run.

    Raises DataError if a requirement of an extension is missing.
    """
    for feature in recorded_features(run.definition, str(run.path)):
        dataset = feature.restored(dataset, run.ids)
    return dataset


def restore_offers(run: Run, dataset: Dataset, notify: Notify) -> Dataset:
    """Return the data set; its entries offer the same functions as in the recorded run.

    Raises DataError if a requirement of an extension is missing.
    """
    for feature in recorded_features(run.definition, str(run.path)):
        dataset = feature.restored_offers(run, dataset, notify)
    return dataset


def resolve_rules(
    run: Run, dataset: Dataset, profile: str | None = None, step_limit: int = STEP_LIMIT
) -> tuple[Profile, int]:
    """Return the profile and step limit of a run.

    ``profile`` overrides the run's profile. ``step_limit`` applies only if the run has no limit.

    Raises DataError if the profile does not exist.
    """
    if run.definition is None:
        return choose_profile(dataset, profile), step_limit
    own = None if profile else run.profile
    return own or choose_profile(dataset, profile), run.definition.step_limit


def source_name(run: Run, examined: RejudgedEpisode) -> str:
    """Return the name of an episode's run, with the trial number if the run has trials."""
    recorded = examined.recorded
    return f"{run.name}, trial {recorded.trial}" if run.definition and recorded else run.name


def describe_data_change(run: Run, dataset: Dataset) -> str | None:
    """Describe how a data set differs from the run's data set, or return None."""
    if run.definition is None or run.definition.dataset.sha256 == dataset.sha256:
        return None
    name, version, sha256 = run.definition.dataset
    if name == dataset.name:
        # The hash covers the chosen categories, which may be others than the run's.
        known = None if name == EMBEDDED else name
        wanted = dataset_choice.parse_categories(run.definition.selection.category, known)
        with suppress(DataError):
            if dataset_choice.open_dataset(known, wanted, lambda _: None).sha256 == sha256:
                return None
    return (
        f"the data has changed since the run: {dataset.name} {dataset.version} has sha256 "
        f"{dataset.sha256[:12]}, but the run used {name} {version} with {sha256[:12]}"
    )
