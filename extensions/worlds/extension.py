"""Registration of the extension ``worlds``."""

from __future__ import annotations

from runner.extension import Extension


class WorldsExtension(Extension):
    """Time, events, and four worlds that use them."""

    name = "worlds"


EXTENSION = WorldsExtension()
