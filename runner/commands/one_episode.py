"""Episodes of recorded runs, executed once more: which one, and how it is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from checkers.calls.documents import CannotJudge
from checkers.profile import Profile
from runner.analysis import runs
from runner.analysis.runs import dataset_of, read_in_run
from runner.commands.options import argument
from runner.commands.shared import DataOptions, JudgingOptions, category_option, note
from runner.data import choose
from runner.data.choose import profile_for
from runner.episodes.evaluate import fault_of
from runner.episodes.examined import Examined
from runner.episodes.offline import examine_recorded, examine_truth
from runner.records.result_file import categories_of
from runner.records.run import Run, open_run
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import prepare


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions(DataOptions, JudgingOptions):
    """Episode."""

    category: str | None = category_option("those that the ID can be of")
    id: str = argument("id of the trajectory", "ID")


def examined_truth(options: EpisodeOptions) -> Examined:
    """Return the ground truth of the trajectory that the user named, played.

    Raises:
        DataError: There is no such trajectory, or no verdict on it.
    """
    name = choose.dataset_name(options.dataset, [options.id])
    wanted = categories_of([options.id])
    if options.category:
        wanted = choose.categories(options.category, name)
    dataset = choose.dataset(name, wanted, note)
    profile = profile_for(dataset, options.profile)
    trajectory = choose.trajectory(dataset, options.id)
    with _judged(options.id):
        prepared = prepare(dataset, trajectory, profile)
        return examine_truth(prepared, profile, options.step_limit)


def examined_episode(options: EpisodeOptions, path: Path, trial: int) -> tuple[Run, Examined]:
    """Return one episode, as ``examined_episodes`` does."""
    run, (examined,) = examined_episodes(options, path, [trial])
    return run, examined


def examined_episodes(
    options: EpisodeOptions, path: Path, trials: Sequence[int] | None
) -> tuple[Run, list[Examined]]:
    """Return episodes of the trajectory that the user named, executed once more.

    Args:
        options: The trajectory's id, and how it is judged.
        path: The run that they are of.
        trials: Which; None for all that there are.

    Raises:
        DataError: There is no such run, trajectory or trial, or no verdict on it.
    """
    run = open_run(path, only=options.id)
    wanted = sorted(trial for _, trial in run.episodes) if trials is None else trials
    episodes = [run.episode(options.id, trial) for trial in wanted]
    dataset = dataset_of(run, options.dataset, note)
    profile, step_limit = rules_of(run, dataset, options)
    trajectory = choose.trajectory(dataset, options.id)
    with _judged(options.id):
        prepared = prepare(dataset, trajectory, profile)
        observe = read_in_run(run, dataset)
        return run, [
            examine_recorded(prepared, each, profile, step_limit, observe) for each in episodes
        ]


@contextmanager
def _judged(id: str) -> Iterator[None]:
    """Tell the user where there is no verdict on an entry."""
    try:
        yield
    except CannotJudge as error:
        raise DataError(id, f"there is no verdict on it: {error}") from None
    except MemoryError as error:
        raise DataError(id, f"there is no verdict on it: {fault_of(error)}") from None


def rules_of(run: Run, dataset: Dataset, options: JudgingOptions) -> tuple[Profile, int]:
    """Return how a run is executed and judged, given what the user says of that."""
    return runs.rules_of(run, dataset, options.profile, options.step_limit)
