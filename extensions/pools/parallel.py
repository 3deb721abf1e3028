"""Judging in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from checkers.profile import Profile
from envs.errors import DataError
from runner.episodes.judging import Run, evaluate
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory

Chunk = Sequence[Trajectory]

Found = list[EpisodeRecord] | str

Judges = Callable[["ChunkJudge", Sequence[Chunk]], Iterator[Found]]
"""Function that judges chunks in several processes and yields results in chunk order."""

_MAX_CHUNK = 32


@dataclass(frozen=True)
class ChunkJudge:
    """Callable that judges chunks; each process receives it once, without trajectories.

    ``run`` must be picklable.
    """

    dataset: Dataset
    profile: Profile
    run: Run

    def each(self, chunk: Chunk) -> Iterator[EpisodeRecord | str]:
        """Yield the records of a chunk; a DataError becomes a text."""
        try:
            yield from evaluate(self.dataset, chunk, self.profile, self.run)
        except DataError as error:
            # DataError cannot be pickled.
            yield str(error)


def without_trajectories(dataset: Dataset) -> Dataset:
    """Return a copy of a data set without its trajectories."""
    return replace(dataset, trajectories={})


def chunks(trajectories: Chunk, workers: int) -> list[Chunk]:
    """Split trajectories into chunks, several per worker to balance the load."""
    size = max(1, min(_MAX_CHUNK, len(trajectories) // (4 * workers)))
    return [trajectories[at : at + size] for at in range(0, len(trajectories), size)]


def outcomes_of(judged: Found) -> list[EpisodeRecord]:
    """Return the records of a chunk. Raises DataError if the user's input is wrong."""
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
    """Run ``evaluate`` in several processes, with the same records in the same order.

    Raises DataError if the user's input is wrong.
    """
    judge = ChunkJudge(without_trajectories(dataset), profile, run)
    for judged in judges(judge, chunks(trajectories, workers)):
        yield from outcomes_of(judged)
