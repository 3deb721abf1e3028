"""Options and functions of the commands that execute a recorded episode again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.profile import Profile
from envs.errors import DataError
from runner.analysis import replayed_runs
from runner.analysis.replayed_runs import dataset_of, result_rendering
from runner.commands.common_options import DataOptions, JudgingOptions, category_option, note
from runner.commands.options import argument
from runner.data import dataset_choice
from runner.data.dataset_choice import choose_profile
from runner.episodes.judging import describe_error
from runner.episodes.offline import examine_recorded, examine_truth
from runner.episodes.rejudged_episode import RejudgedEpisode
from runner.records.bfcl_result_file import categories_of
from runner.records.recorded_run import Run, open_run
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions(DataOptions, JudgingOptions):
    """Episode."""

    category: str | None = category_option("by ID")
    id: str = argument("id of the entry", "ID")


def execute_truth(options: EpisodeOptions) -> RejudgedEpisode:
    """Execute the ground truth of the chosen entry.

    Raises DataError if the entry does not exist or cannot be judged.
    """
    name = dataset_choice.guess_dataset_name(options.dataset, [options.id])
    wanted = categories_of([options.id])
    if options.category:
        wanted = dataset_choice.parse_categories(options.category, name)
    dataset = dataset_choice.open_dataset(name, wanted, note)
    profile = choose_profile(dataset, options.profile)
    trajectory = dataset_choice.get_entry(dataset, options.id)
    with _reporting_errors(options.id):
        prepared = prepare(dataset, trajectory, profile)
        return examine_truth(prepared, profile, options.step_limit)


def execute_episode(options: EpisodeOptions, path: Path, trial: int) -> tuple[Run, RejudgedEpisode]:
    """Execute one episode of the chosen entry again; see ``execute_episodes``."""
    run, (examined,) = execute_episodes(options, path, [trial])
    return run, examined


def execute_episodes(
    options: EpisodeOptions, path: Path, trials: Sequence[int] | None
) -> tuple[Run, list[RejudgedEpisode]]:
    """Execute a run's episodes of one entry again; ``trials`` selects episodes (default: all).

    Raises DataError if the run, entry or trial does not exist, or the entry cannot be judged.
    """
    run = open_run(path, only=options.id)
    wanted = sorted(trial for _, trial in run.episodes) if trials is None else trials
    episodes = [run.episode(options.id, trial) for trial in wanted]
    dataset = dataset_of(run, options.dataset, note)
    profile, step_limit = rules_of(run, dataset, options)
    trajectory = dataset_choice.get_entry(dataset, options.id)
    with _reporting_errors(options.id):
        prepared = prepare(dataset, trajectory, profile)
        observe = result_rendering(run, dataset)
        return run, [
            examine_recorded(prepared, each, profile, step_limit, observe) for each in episodes
        ]


@contextmanager
def _reporting_errors(id: str) -> Iterator[None]:
    try:
        yield
    except UnjudgeableEntry as error:
        raise DataError(id, f"cannot be judged: {error}") from None
    except MemoryError as error:
        raise DataError(id, f"cannot be judged: {describe_error(error)}") from None


def rules_of(run: Run, dataset: Dataset, options: JudgingOptions) -> tuple[Profile, int]:
    """Return the profile and step limit; options take precedence over the run."""
    return replayed_runs.resolve_rules(run, dataset, options.profile, options.step_limit)
