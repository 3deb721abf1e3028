"""What this extension registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.extension import Extension

if TYPE_CHECKING:
    from extensions.ray import cluster, on_ray
    from runner.episodes.allowance import Allowance
    from runner.live.workers import Workers
else:
    cluster = lazily("extensions.ray.cluster")
    on_ray = lazily("extensions.ray.on_ray")


class RayExtension(Extension):
    """Runs and judges on a Ray cluster."""

    name = "ray"

    def engine(self, address: str | None, workers: int | None, allowance: Allowance) -> Workers:
        """Return the workers of a Ray cluster.

        Raises:
            DataError: Ray is not installed.
        """
        cluster.library(address)
        return on_ray.OnRay(cluster.Cluster(address, workers), allowance)


EXTENSION = RayExtension()
