"""A recorded run once more: the data that it is of, and what executing its episodes again shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from checkers.profile import Profile
from envs.lazy import lazily
from runner.analysis.mended import Mend
from runner.data import choose
from runner.data.choose import Notify, profile_for
from runner.episodes.episode import STEP_LIMIT
from runner.episodes.evaluate import fault_of
from runner.episodes.offline import examine_recorded
from runner.episodes.telling import examined_as_told, with_telling
from runner.extension import recorded_features
from runner.records import result_file
from runner.records.record import EpisodeRecord, Key, Recorded
from runner.records.run import Run
from trajectories.dataset import EMBEDDED, Dataset
from trajectories.errata.readings import AS_PUBLISHED, Readings, first_right
from trajectories.errors import DataError
from trajectories.prepare import prepare
from trajectories.schema import Category, Trajectory

if TYPE_CHECKING:
    from runner.data import wording
    from runner.episodes.examined import Examined
    from runner.models.conversation import Observe
else:
    # Few runs need to know how models are asked.
    wording = lazily("..data.wording", __package__)


class Viewed(NamedTuple):
    """One episode of a run: as it was recorded, and as it is when it is executed again."""

    trajectory: Trajectory
    """What was asked."""
    recorded: Recorded
    """What the run has of it."""
    judged: EpisodeRecord
    """What became of it now; an error is one that was recorded, or that left it unjudged."""
    examined: Examined | None
    """What there is to see; None where it could not be judged."""


class ViewedRun(NamedTuple):
    """A run with all of its episodes."""

    source: Run
    dataset: Dataset
    profile: Profile
    episodes: list[Viewed]
    """By the data set's order, then by trial."""
    mend: Mend | None = None
    """How it is judged with errata beside; None where with none."""


def view_run(
    source: Run,
    dataset: Dataset,
    profile: Profile,
    step_limit: int,
    *,
    require_told: bool = False,
) -> ViewedRun:
    """Execute a whole run again, as ``executed_again`` does.

    Raises:
        DataError: The run has no finished episode, or the data set lacks a trajectory.
    """
    keys = in_order(source, dataset)
    episodes = executed_again(source, keys, dataset, profile, step_limit, require_told=require_told)
    return ViewedRun(source, dataset, profile, list(episodes))


def in_order(run: Run, dataset: Dataset) -> list[Key]:
    """Return the episodes of a run by the data set's order, then by trial.

    Raises:
        DataError: The run has no finished episode, or the data set lacks a trajectory.
    """
    if not run.episodes:
        raise DataError(str(run.path), "has no finished episode")
    for id in run.ids:
        choose.trajectory(dataset, id)
    places = {id: place for place, id in enumerate(dataset.trajectories)}
    return sorted(run.episodes, key=lambda key: (places[key[0]], key[1]))


def executed_again(
    run: Run,
    keys: Iterable[Key],
    dataset: Dataset,
    profile: Profile,
    step_limit: int,
    readings: Readings = AS_PUBLISHED,
    *,
    require_told: bool = False,
) -> Iterator[Viewed]:
    """Execute those episodes of a run again that have a key.

    Args:
        run: The run.
        keys: Which of its episodes.
        dataset: What it is of.
        profile: How they are executed and judged.
        step_limit: Steps that a turn may take, where the profile limits recorded runs.
        readings: By what entries are judged, none of which errata withdraw.
        require_told: Whether an episode fails in which something asked was not told.

    Raises:
        DataError: The data set lacks a trajectory.
    """
    observe = read_in_run(run, dataset)
    for key in keys:
        trajectory, recorded = choose.trajectory(dataset, key[0]), run.episodes[key]
        examined, error = None, None
        try:
            prepared = (prepare(dataset, each, profile) for each in readings.of(trajectory))
            found = (
                examine_recorded(each, recorded, profile, step_limit, observe) for each in prepared
            )
            examined = first_right(
                map(examined_as_told, found) if require_told else found,
                lambda examined: examined.verdict.valid,
            )
        except Exception as fault:
            error = fault_of(fault)
        if examined and recorded.record.outcome == "error":
            error = recorded.error or recorded.record.error
        verdict = examined.verdict if examined and error is None else None
        judged = EpisodeRecord.of(trajectory, verdict, error, trial=recorded.trial)
        judged = with_telling(judged, trajectory, recorded)
        judged = judged._replace(extensions=recorded.record.extensions)
        yield Viewed(trajectory, recorded, judged, examined)


def read_in_run(run: Run, dataset: Dataset) -> Observe | None:
    """Return what a run's model read of its calls, where that was not our text or not all of it.

    What that needs and is not here, such as texts of BFCL's or a tokenizer, is done without.
    """
    if run.definition is None:
        return None
    observe: Observe | None = None
    with suppress(DataError):
        told = run.definition.settings.observations == "bfcl"
        observe = wording.wording_of("bfcl", dataset) if told else None
    with suppress(DataError):
        for feature in recorded_features(run.definition, str(run.path)):
            observe = feature.observe(observe)
    return observe


Load = Callable[[str | None, Sequence[Category], Notify], Dataset]
"""Loads the data set of a name, of which some categories are wanted."""


def dataset_of(run: Run, name: str | None, notify: Notify, load: Load = choose.dataset) -> Dataset:
    """Load the data set that a run is of, as the run had it; it takes and raises what both do."""
    return as_offered(run, as_run(run, plain_dataset_of(run, name, notify, load)), notify)


def plain_dataset_of(
    run: Run, name: str | None, notify: Notify, load: Load = choose.dataset
) -> Dataset:
    """Load the data set that a run is of, as it is without any experiment.

    Args:
        run: The run.
        name: What the user says that it is of; by default the run says so, or its ids do.
        notify: Told when the data is not what it was when the run was made.
        load: How data sets are loaded.

    Raises:
        DataError: The data cannot be loaded.
    """
    if run.definition is None:
        named = any(map(result_file.category_of, run.ids))
        wanted = result_file.categories_of(run.ids)
        name = name or ("bfcl" if named else None)
    else:
        then = run.definition.dataset.name
        name = name or (None if then == EMBEDDED else then)
        wanted = choose.categories(run.definition.selection.category, name)
    dataset = load(name, wanted, notify)
    change = data_change(run, dataset)
    if change is not None:
        notify(f"{run.path}: {change}")
    known = dataset.trajectories
    choose.require_languages(known[id] for id in run.ids if id in known)
    return dataset


def as_run(run: Run, dataset: Dataset) -> Dataset:
    """Return the data as a run had it, with what extensions changed of its entries.

    Raises:
        DataError: What an extension needs for that is missing.
    """
    for feature in recorded_features(run.definition, str(run.path)):
        dataset = feature.restored(dataset)
    return dataset


def as_offered(run: Run, dataset: Dataset, notify: Notify) -> Dataset:
    """Return a data set whose entries offer the functions that they offered in a run.

    Raises:
        DataError: What an extension needs for that is missing.
    """
    for feature in recorded_features(run.definition, str(run.path)):
        dataset = feature.restored_offers(run, dataset, notify)
    return dataset


def rules_of(
    run: Run, dataset: Dataset, profile: str | None = None, step_limit: int = STEP_LIMIT
) -> tuple[Profile, int]:
    """Return how a run is executed and judged: its profile and its step limit.

    The profile that is named goes before the one that the run was made under; the step limit is
    for a run that does not say its own.

    Raises:
        DataError: There is no such profile.
    """
    if run.definition is None:
        return profile_for(dataset, profile), step_limit
    own = None if profile else run.profile
    return own or profile_for(dataset, profile), run.definition.step_limit


def source_name(run: Run, examined: Examined) -> str:
    """Return what to call an episode's run; result files have no trials."""
    recorded = examined.recorded
    return f"{run.name}, trial {recorded.trial}" if run.definition and recorded else run.name


def data_change(run: Run, dataset: Dataset) -> str | None:
    """Say how a data set differs from the one that a run was made with, or None."""
    if run.definition is None or run.definition.dataset.sha256 == dataset.sha256:
        return None
    name, version, sha256 = run.definition.dataset
    return (
        f"the data is not what it was: {dataset.name} {dataset.version} now has sha256 "
        f"{dataset.sha256[:12]}, it was {name} {version} with {sha256[:12]}"
    )
