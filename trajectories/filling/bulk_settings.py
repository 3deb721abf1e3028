"""Settings of generated long-context material."""

from __future__ import annotations

from typing import NamedTuple


class BulkSettings(NamedTuple):
    """Settings of generated items; equal settings give equal items."""

    seed: int
    items: int
    """Items per kind."""
    without: tuple[str, ...]
    """Words that items avoid, and days that all items precede."""
    lengthens: bool = True
    """Whether existing texts are lengthened, too."""
