"""Agreement of two raters beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return the agreement of two raters beyond chance (Cohen, 1960), at most 1.

    Args:
        pairs: The two raters' classes of each item.

    Returns:
        Kappa; None if there are no items, or only one class.
    """
    return kappa(Counter(pairs))


def kappa(table: Mapping[tuple[str, str], int]) -> float | None:
    """Return Cohen's kappa from counts of pairs; see ``cohen_kappa``."""
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
