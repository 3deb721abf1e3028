"""What this extension registers."""

from __future__ import annotations

from runner.extension import Extension


class RayExtension(Extension):
    """Runs and judges on a Ray cluster."""

    name = "ray"


EXTENSION = RayExtension()
