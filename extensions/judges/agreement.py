"""Agreement of two raters beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

_Class = TypeVar("_Class", bound=str)


def cohen_kappa(table: Mapping[tuple[_Class, _Class], int]) -> float | None:
    """Return the agreement of two raters beyond chance (Cohen, 1960), at most 1.

    Args:
        table: Number of items for each pair of the two raters' classes.

    Returns:
        Kappa; None if there are no items, or only one class.
    """
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for (one, other), count in table.items():
        first[one] += count
        second[other] += count
    total = first.total()
    by_chance = sum(first[name] * second[name] for name in first)
    if by_chance == total**2:
        return None
    alike = sum(count for (one, other), count in table.items() if one == other) * total
    return (alike - by_chance) / (total**2 - by_chance)
