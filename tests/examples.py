"""How many examples a test of hypothesis with a number of its own tries."""

from __future__ import annotations

from hypothesis import settings


def examples(full: int) -> int:
    """Return the number with the profile `full`, a quarter of it with `quick`."""
    return full * settings().max_examples // 100
