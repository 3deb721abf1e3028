"""Scores over several trials of the same entries, with intervals that respect what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, sqrt
from random import Random
from typing import NamedTuple

from checkers.score import Z_95, wilson

_RESAMPLES = 2000


class Attempts(NamedTuple):
    """The trials of one entry."""

    cluster: str
    """What entries share that came from one base entry: they pass or fail together."""
    trials: int
    passed: int


def pass_at_1(entries: Sequence[Attempts]) -> float:
    """Return the share of trials that passed, every entry counting the same."""
    return sum(entry.passed / entry.trials for entry in entries) / len(entries)


def pass_at_k(entries: Sequence[Attempts], k: int) -> float:
    """Return the chance that at least one of k trials passes (Chen et al., 2021, unbiased).

    Args:
        entries: Each with at least k trials.
        k: How many trials.
    """
    return sum(1 - comb(e.trials - e.passed, k) / comb(e.trials, k) for e in entries) / len(entries)


def pass_hat_k(entries: Sequence[Attempts], k: int) -> float:
    """Return pass^k, the chance that all of k trials pass (Yao et al., 2024, unbiased).

    Args:
        entries: Each with at least k trials.
        k: How many trials.
    """
    return sum(comb(e.passed, k) / comb(e.trials, k) for e in entries) / len(entries)


def cluster_interval(entries: Sequence[Attempts]) -> tuple[float, float]:
    """Return a 95% percentile interval of pass@1 from resampling clusters, with a fixed seed.

    Where all clusters agree there is nothing to resample, and each of them counts as one trial.
    """
    # Sorted, so that neither the order of entries nor what they are called has a part in it.
    clusters = sorted(_clusters(sorted(entries)).values())
    shares = {total / count for total, count in clusters}
    if len(shares) == 1:
        return wilson(shares.pop() * len(clusters), len(clusters))
    source = Random(0)
    # As complex numbers, so that one sum adds up passes and entries; it runs very often.
    pairs = [complex(total, count) for total, count in clusters]
    rates = []
    for _ in range(_RESAMPLES):
        drawn = sum(source.choices(pairs, k=len(pairs)))
        rates.append(drawn.real / drawn.imag)
    rates.sort()
    return rates[int(0.025 * _RESAMPLES)], rates[int(0.975 * _RESAMPLES) - 1]


def sampling_error(rate: float, size: int, population: int) -> float:
    """Return the 95% margin that taking a sample adds, with finite population correction.

    Args:
        rate: The score of the sample.
        size: How many entries it has.
        population: How many entries there are in all.
    """
    if size >= population or not size:
        return 0.0
    correction = (population - size) / (population - 1)
    if rate in (0.0, 1.0):
        # The rule of three: that none was seen bounds the rate, though it shows no variance.
        return min(1.0, 3 / size) * sqrt(correction)
    return Z_95 * sqrt(rate * (1 - rate) / size * correction)


def _clusters(entries: Sequence[Attempts]) -> Mapping[str, tuple[float, int]]:
    """Return per cluster the sum of its entries' rates, and their number."""
    clusters: dict[str, tuple[float, int]] = {}
    for entry in entries:
        total, count = clusters.get(entry.cluster, (0.0, 0))
        clusters[entry.cluster] = (total + entry.passed / entry.trials, count + 1)
    return clusters
