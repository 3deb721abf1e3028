"""Which web services an episode may ask."""

from __future__ import annotations

from typing import NamedTuple


class Reach(NamedTuple):
    """Which web services may be asked besides the fixture, which is ours."""

    services: frozenset[tuple[str, int]] = frozenset()
    """Host and port of those that the user named."""
    network: bool = False
    """Whether all those of other machines may be."""


FIXTURE_ONLY = Reach()
