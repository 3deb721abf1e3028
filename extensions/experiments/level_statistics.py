"""Statistics for experiments with levels, such as 10, 20 and 40 functions per entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb, sqrt
from random import Random
from typing import NamedTuple

from checkers.statistics import (
    RESAMPLES,
    RunDifference,
    TrialCounts,
    cluster_interval,
    pass_at_1,
    resample_share,
    sum_clusters,
)


def share_interval(parts: Iterable[tuple[str, int, int]]) -> tuple[float, float]:
    """Return the 95% interval of a share of items, by a bootstrap over clusters.

    Args:
        parts: Cluster, counted items and all items; at least one item in total.
    """
    clusters: dict[str, tuple[float, int]] = {}
    for cluster, counted, things in parts:
        total, count = clusters.get(cluster, (0, 0))
        clusters[cluster] = total + counted, count + things
    return resample_share(tuple(sorted(each for each in clusters.values() if each[1])))


class Slope(NamedTuple):
    """Slope of a regression, with a confidence interval."""

    value: float
    interval: tuple[float, float]
    """95% interval from resampling clusters."""


def slope_within(points: Mapping[tuple[str, str], Sequence[tuple[float, float]]]) -> Slope | None:
    """Return the least-squares slope of y on x within entries; None if x never varies."""
    clusters: dict[str, complex] = {}
    for (cluster, _), found in sorted(points.items()):
        middle = sum(x for x, _ in found) / len(found)
        above = sum((x - middle) * y for x, y in found)
        spread = sum((x - middle) ** 2 for x, _ in found)
        clusters[cluster] = clusters.get(cluster, 0) + complex(above, spread)
    parts = sorted(
        (each for each in clusters.values() if each.imag), key=lambda c: (c.real, c.imag)
    )
    if not parts:
        return None
    whole, source = sum(parts), Random(0)
    drawings = [sum(source.choices(parts, k=len(parts))) for _ in range(RESAMPLES)]
    slopes = sorted(drawn.real / drawn.imag for drawn in drawings)
    low, high = slopes[int(0.025 * RESAMPLES)], slopes[int(0.975 * RESAMPLES) - 1]
    return Slope(whole.real / whole.imag, (low, high))


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
        for found in (sum_clusters(first).values(), sum_clusters(second).values())
    )
    return RunDifference(
        len(first) + len(second),
        ours,
        second=theirs,
        worse=0,
        better=0,
        interval=(max(-1.0, low), min(1.0, high)),
        p_value=fisher(one, other),
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
