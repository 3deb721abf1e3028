"""Judging with several processes: trajectories go out in chunks, outcomes come back in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from checkers.profile import Profile
from checkers.verdict import Verdict
from runner.episodes.evaluate import evaluate
from runner.records.record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import Prepared
from trajectories.schema import Trajectory

Run = Callable[[Prepared], Verdict]
"""Runs and judges one prepared trajectory; it must be one that can be pickled."""

Chunk = Sequence[Trajectory]

Found = list[EpisodeRecord] | str
"""What became of each trajectory of a chunk, or what is wrong with the user's input."""

Judges = Callable[["Judge", Sequence[Chunk]], Iterator[Found]]
"""Let several copies of a judge, each in a process of its own, judge chunks; yield what they have
found in the order of the chunks."""

_LARGEST_CHUNK = 32


@dataclass(frozen=True)
class Judge:
    """Judges chunks of trajectories; one per process, so that bulky things go there once.

    Attributes:
        dataset: Where the trajectories are from; they themselves come with the chunks.
        profile: How the ground truth is played.
        run: Runs and judges one of them.
    """

    dataset: Dataset
    profile: Profile
    run: Run

    def each(self, chunk: Chunk) -> Iterator[EpisodeRecord | str]:
        """Yield what became of each, in the end perhaps what is wrong with the user's input."""
        try:
            yield from evaluate(self.dataset, chunk, self.profile, self.run)
        except DataError as error:
            # It would not survive the way back as an exception.
            yield str(error)


def without_trajectories(dataset: Dataset) -> Dataset:
    """Return a data set for trajectories that come by themselves."""
    return replace(dataset, trajectories={})


def chunks(trajectories: Chunk, workers: int) -> list[Chunk]:
    """Return trajectories in parts, several per worker so that none waits long for the others."""
    size = max(1, min(_LARGEST_CHUNK, len(trajectories) // (4 * workers)))
    return [trajectories[at : at + size] for at in range(0, len(trajectories), size)]


def outcomes_of(judged: Found) -> list[EpisodeRecord]:
    """Return what a judge has found.

    Raises:
        DataError: It complained of the user's input.
    """
    if isinstance(judged, str):
        raise DataError(*judged.split(": ", 1))
    return judged


def evaluate_by(
    judges: Judges,
    workers: int,
    dataset: Dataset,
    trajectories: Chunk,
    profile: Profile,
    run: Run,
) -> Iterator[EpisodeRecord]:
    """Do what ``evaluate`` does with several judges; the outcomes are the same, in its order.

    Raises:
        DataError: The user's input is wrong.
    """
    judge = Judge(without_trajectories(dataset), profile, run)
    for judged in judges(judge, chunks(trajectories, workers)):
        yield from outcomes_of(judged)
