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
    total, by_chance = _count_chance(table)
    if by_chance == total**2:
        return None
    alike = sum(count for (one, other), count in table.items() if one == other) * total
    return (alike - by_chance) / (total**2 - by_chance)


def kappa_interval(
    table: Mapping[tuple[_Class, _Class], int], agreement: tuple[float, float]
) -> tuple[float, float]:
    """Convert the interval of an agreement to an interval of kappa.

    ``table`` must have a kappa.
    """
    total, by_chance = _count_chance(table)
    chance = by_chance / total**2
    low, high = ((share - chance) / (1 - chance) for share in agreement)
    return max(-1.0, low), high


def _count_chance(table: Mapping[tuple[_Class, _Class], int]) -> tuple[int, int]:
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for (one, other), count in table.items():
        first[one] += count
        second[other] += count
    return first.total(), sum(first[name] * second[name] for name in first)
