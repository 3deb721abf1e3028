"""What this extension registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.extension import Extension

if TYPE_CHECKING:
    from extensions.ray import engine
    from runner.episodes.allowance import Allowance
    from runner.live.workers import Workers
else:
    engine = lazily("extensions.ray.engine")


class RayExtension(Extension):
    """Runs and judges on a Ray cluster."""

    name = "ray"

    def engine(self, address: str | None, workers: int | None, allowance: Allowance) -> Workers:
        """Return the workers of a Ray cluster."""
        return engine.workers_on_ray(address, workers, allowance)


EXTENSION = RayExtension()
