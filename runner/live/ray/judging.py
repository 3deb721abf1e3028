"""Judging on a Ray cluster: as ``runner/episodes/spread.py`` with processes of one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from checkers.profile import Profile
from runner.episodes.evaluate import Judged
from runner.episodes.spread import Chunk, Judge, Run, evaluate_by
from runner.live.ray.cluster import TRIES, Cluster, Fleet, connected, library
from trajectories.dataset import Dataset


def evaluate_on_ray(
    dataset: Dataset, trajectories: Chunk, profile: Profile, run: Run, *, cluster: Cluster
) -> Iterator[Judged]:
    """Do what ``evaluate`` does on a cluster; files of the data set are read where the workers are.

    Raises:
        DataError: The user's input is wrong, or the cluster cannot be used.
    """
    with connected(cluster) as size:
        judges = partial(_on_cluster, size)
        yield from evaluate_by(judges, size, dataset, trajectories, profile, run)


def _on_cluster(size: int, judge: Judge, parts: Sequence[Chunk]) -> Iterator[list[Judged] | str]:
    early: dict[int, list[Judged] | str] = {}
    due = 0
    for number, result in Fleet(_Judge, size, judge).results(parts):
        early[number] = _found(parts[number], result)
        while due in early:
            yield early.pop(due)
            due += 1


class _Judge:
    """A judge in a process of its own."""

    def __init__(self) -> None:
        self._judge: Judge | None = None

    def do(self, needs: Sequence[Any], chunk: Chunk) -> list[Judged] | str:
        if self._judge is None:
            (self._judge,) = library().get(needs)
        return self._judge.do(chunk)


def _found(chunk: Chunk, result: Any) -> list[Judged] | str:
    ray = library()
    try:
        found: list[Judged] | str = ray.get(result)
    except ray.exceptions.RayActorError:
        message = f"the process that judged it was killed {TRIES} times"
        return [Judged(trajectory.id, trajectory.category, None, message) for trajectory in chunk]
    return found
