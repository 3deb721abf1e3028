"""What the fillings of all backends go by."""

from __future__ import annotations

from typing import NamedTuple


class Bulk(NamedTuple):
    """How much is filled in, and how."""

    seed: int
    """The same seed, size and words give the same items."""
    items: int
    """How many of each kind."""
    without: tuple[str, ...]
    """Words that no item has, and days before which all of it has happened."""
    lengthens: bool = True
    """Whether what is there gets longer as well; else it stays, and items only stand beside it."""
