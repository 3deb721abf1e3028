"""Registration of the extension ``pools``."""

from __future__ import annotations

from runner.extension import Extension


class PoolsExtension(Extension):
    """Extension that plays many rollout environments at once."""

    name = "pools"


EXTENSION = PoolsExtension()
