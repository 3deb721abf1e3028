"""Registration of the extension ``pools``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Extension

if TYPE_CHECKING:
    from extensions.pools import worker_processes
    from runner.episodes.judging import TimeAndMemoryLimits
    from runner.live.workers import Workers
else:
    worker_processes = lazy_module("extensions.pools.worker_processes")


class PoolsExtension(Extension):
    """Extension with worker processes, for rollouts and for judging."""

    name = "pools"

    def engine(
        self, address: str | None, workers: int | None, allowance: TimeAndMemoryLimits
    ) -> Workers:
        """Return the worker processes of ``--workers``."""
        return worker_processes.IsolatedWorkers(workers or 1, allowance)


EXTENSION = PoolsExtension()
