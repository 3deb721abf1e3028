"""Statistics for experiments with levels, such as 10, 20 and 40 functions per entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb, sqrt
from typing import NamedTuple

from checkers.statistics import (
    Cluster,
    RunDifference,
    TrialCounts,
    cluster_interval,
    difference_interval,
    fit_interval,
    pass_at_1,
    share_interval,
    sum_clusters,
)


def item_interval(parts: Iterable[tuple[str, int, int]]) -> tuple[float, float]:
    """Return the 95% interval of a share of items.

    Args:
        parts: Cluster, counted items and all items; at least one item in total.
    """
    clusters: dict[str, Cluster] = {}
    for cluster, counted, items in parts:
        if items:
            total, size = clusters.get(cluster, (0, 0))
            clusters[cluster] = total + counted, size + items
    return share_interval(clusters.values())


class Slope(NamedTuple):
    """Slope of a regression, with a confidence interval."""

    value: float
    interval: tuple[float, float]
    """95% interval."""


def slope_within(points: Mapping[tuple[str, str], Sequence[tuple[float, float]]]) -> Slope | None:
    """Return the least-squares slope of y on x, or None if x never varies.

    Each entry has its own intercept. The values of y are shares.
    """
    clusters: dict[str, Cluster] = {}
    largest = 0.0
    for (cluster, _), found in sorted(points.items()):
        middle = sum(x for x, _ in found) / len(found)
        spread = sum((x - middle) ** 2 for x, _ in found)
        if spread:
            total, size = clusters.get(cluster, (0.0, 0.0))
            product = sum((x - middle) * y for x, y in found)
            clusters[cluster] = total + product, size + spread
            largest += sum(abs(x - middle) for x, _ in found) / 2
    if not clusters:
        return None
    product, spread = map(sum, zip(*clusters.values(), strict=True))
    return Slope(product / spread, difference_interval(clusters.values(), largest / spread))


def compare_unpaired(first: Sequence[TrialCounts], second: Sequence[TrialCounts]) -> RunDifference:
    """Compare two runs on different entries; each run has at least one entry.

    The interval is Newcombe's. The p-value is from Fisher's exact test on clusters. A cluster
    passes if at least half of its trials pass.
    """
    ours, theirs = pass_at_1(first), pass_at_1(second)
    (low_a, high_a), (low_b, high_b) = cluster_interval(first), cluster_interval(second)
    middle = theirs - ours
    low = middle - sqrt((theirs - low_b) ** 2 + (high_a - ours) ** 2)
    high = middle + sqrt((high_b - theirs) ** 2 + (ours - low_a) ** 2)
    one, other = (
        (sum(2 * total >= count for total, count in found), len(found))
        for found in (
            sum_clusters((entry.cluster, entry.passed / entry.trials) for entry in entries)
            for entries in (first, second)
        )
    )
    p_value = fisher(one, other)
    return RunDifference(
        len(first) + len(second),
        ours,
        second=theirs,
        worse=0,
        better=0,
        interval=fit_interval((max(-1.0, low), min(1.0, high)), middle, p_value),
        p_value=p_value,
        mcnemar=None,
        needed=None,
    )


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the two-sided p-value of Fisher's exact test."""
    (passed, size), (others, more) = first, second
    successes, total = passed + others, size + more
    ways = [
        comb(size, count) * comb(more, successes - count)
        for count in range(max(0, successes - more), min(size, successes) + 1)
    ]
    here = comb(size, passed) * comb(more, others)
    return sum(way for way in ways if way <= here) / comb(total, successes)
