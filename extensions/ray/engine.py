"""The engine ``ray``: episodes are run and judged on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from checkers.profile import Profile
from extensions.ray import on_ray
from extensions.ray.cluster import Cluster, library
from runner.episodes import spread
from runner.episodes.allowance import ALLOWANCE, Allowance
from runner.live.campaign import Job, Plan
from runner.live.conduct import Connect, Ending, Watches
from runner.live.settings import Settings
from runner.records.record import EpisodeRecord
from runner.records.store import RunStore
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import Trajectory


class OnRay(NamedTuple):
    """A Ray cluster."""

    where: Cluster
    allowance: Allowance = ALLOWANCE

    def judge(
        self,
        dataset: Dataset,
        trajectories: Sequence[Trajectory],
        profile: Profile,
        run: spread.Run,
    ) -> Iterator[EpisodeRecord]:
        """Judge on the cluster; files of the data set are read where its workers are."""
        return on_ray.evaluate_on_ray(
            dataset, trajectories, profile, run, cluster=self.where, allowance=self.allowance
        )

    def check(self, settings: Settings, connect: Connect) -> None:
        """Refuse what must not, or cannot, travel to the workers."""
        if self.allowance.megabytes is not None:
            raise DataError("--memory", "limits judging, no live run on Ray")
        on_ray.refuse_what_must_not_travel(settings, connect)

    def conduct(
        self, plan: Plan, store: RunStore, jobs: Sequence[Job], connect: Connect, watch: Watches
    ) -> Ending:
        """Have the cluster's workers ask the model."""
        where, patience = self.where, self.allowance.seconds
        return on_ray.conduct_on_ray(
            plan, store, jobs=jobs, connect=connect, watch=watch, cluster=where, patience=patience
        )


def workers_on_ray(address: str | None, workers: int | None, allowance: Allowance) -> OnRay:
    """Return the workers of a cluster; they are connected to when they are first used.

    Raises:
        DataError: Ray is not installed.
    """
    library(address)
    return OnRay(Cluster(address, workers), allowance)
