"""Judging on a Ray cluster: what ``runner/spread.py`` does with processes of one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from checkers.profile import Profile
from runner.episodes.evaluate import Judged
from runner.episodes.spread import Chunk, Judge, Run, chunks, outcomes_of, without_trajectories
from runner.live.ray.cluster import TRIES, Cluster, Fleet, connected, library
from trajectories.dataset import Dataset


def evaluate_on_ray(
    dataset: Dataset, trajectories: Chunk, profile: Profile, run: Run, *, cluster: Cluster
) -> Iterator[Judged]:
    """Do what ``evaluate`` does on a cluster; the outcomes are the same, in its order.

    Args:
        dataset: Where the trajectories are from; its files are read where the workers are.
        trajectories: Which to run.
        profile: How the ground truth is played.
        run: Runs and judges one prepared trajectory.
        cluster: Where.

    Raises:
        DataError: The user's input is wrong, or the cluster cannot be used.
    """
    with connected(cluster) as size:
        fleet = Fleet(_Judge, size, Judge(without_trajectories(dataset), profile, run))
        parts = chunks(trajectories, size)
        early: dict[int, list[Judged]] = {}
        due = 0
        for number, result in fleet.results(parts):
            early[number] = _judged(parts[number], result)
            while due in early:
                yield from early.pop(due)
                due += 1


class _Judge:
    """A judge in a process of its own."""

    def __init__(self) -> None:
        self._judge: Judge | None = None

    def do(self, needs: Sequence[Any], chunk: Chunk) -> list[Judged] | str:
        if self._judge is None:
            (self._judge,) = library().get(needs)
        return self._judge.do(chunk)


def _judged(chunk: Chunk, result: Any) -> list[Judged]:
    ray = library()
    try:
        return outcomes_of(ray.get(result))
    except ray.exceptions.RayActorError:
        message = f"the process that judged it was killed {TRIES} times"
        return [Judged(trajectory.id, trajectory.category, None, message) for trajectory in chunk]
