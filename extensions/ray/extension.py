"""Registration of the extension ``ray``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Extension

if TYPE_CHECKING:
    from extensions.ray import cluster, ray_workers
    from runner.episodes.judging import TimeAndMemoryLimits
    from runner.live.workers import Workers
else:
    cluster = lazy_module("extensions.ray.cluster")
    ray_workers = lazy_module("extensions.ray.ray_workers")


class RayExtension(Extension):
    """Extension that runs workers on a Ray cluster."""

    name = "ray"

    def engine(
        self, address: str | None, workers: int | None, allowance: TimeAndMemoryLimits
    ) -> Workers:
        """Return the workers of a Ray cluster. Raises DataError if Ray is not installed."""
        cluster.library(address)
        return ray_workers.RayWorkers(cluster.Cluster(address, workers), allowance)


EXTENSION = RayExtension()
