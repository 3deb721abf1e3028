"""Scores with confidence intervals, and tests for comparing runs.

Entries from one scenario often have the same outcome, and so do the trials of one entry. Therefore,
the entries of a scenario form a cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import ceil, comb, fsum, lcm, sqrt
from typing import TYPE_CHECKING, NamedTuple

from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    import statistics
else:
    statistics = lazy_module("statistics")

Z_95 = 1.959963984540054


def wilson(successes: float, trials: float) -> tuple[float, float]:
    """Return the 95% score interval of a binomial proportion (Wilson, 1927)."""
    if not trials:
        return 0.0, 1.0
    rate, square = successes / trials, Z_95 * Z_95
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    spread = Z_95 * sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials))
    spread /= 1 + square / trials
    return max(0.0, centre - spread), min(1.0, centre + spread)


class TrialCounts(NamedTuple):
    """Trials of one entry."""

    cluster: str
    """Name of the scenario from which the entry was made."""
    trials: int
    passed: int


def pass_at_1(entries: Sequence[TrialCounts]) -> float:
    """Return the share of passed trials, averaged over entries."""
    return sum(entry.passed / entry.trials for entry in entries) / len(entries)


def pass_at_k(entries: Sequence[TrialCounts], k: int) -> list[float]:
    """Return unbiased estimates of pass@1 to pass@k (Chen et al., 2021).

    pass@k is the chance that any of k trials passes. Every entry must have at least k trials.
    """
    failed = [entry._replace(passed=entry.trials - entry.passed) for entry in entries]
    return [1 - share for share in pass_hat_k(failed, k)]


def pass_hat_k(entries: Sequence[TrialCounts], k: int) -> list[float]:
    """Return unbiased estimates of pass^1 to pass^k (Yao et al., 2024).

    pass^k is the chance that k trials all pass. Every entry must have at least k trials.
    """
    sums = [0.0] * k
    for _, trials, passed in entries:
        chance = 1.0
        for drawn in range(min(k, passed)):
            chance *= (passed - drawn) / (trials - drawn)
            sums[drawn] += chance
    return [total / len(entries) for total in sums]


Cluster = tuple[float, float]
"""Sum and count of the values in a cluster."""


def cluster_interval(entries: Sequence[TrialCounts]) -> tuple[float, float]:
    """Return the 95% interval of pass@1."""
    rates = ((entry.cluster, entry.passed / entry.trials) for entry in entries)
    return share_interval(sum_clusters(rates))


def share_interval(clusters: Collection[Cluster]) -> tuple[float, float]:
    """Return the 95% interval of a share: Wilson's interval for the effective sample size.

    If every cluster has one trial, the effective sample size is the number of trials.
    """
    number, rate, spread = _measure_spread(clusters)
    rate = min(1.0, rate)
    # For the estimate, one passed and one failed cluster are added.
    added = (number * rate + 1) * (number * (1 - rate) + 1) / (number + 2)
    size = number * added / (added + spread - number * rate * (1 - rate))
    return wilson(rate * size, size)


def difference_interval(clusters: Collection[Cluster], largest: float = 1.0) -> tuple[float, float]:
    """Return the 95% interval of a mean difference (Bonett and Price, 2012).

    If every cluster has one pair, the interval is Bonett and Price's.
    """
    number, mean, spread = _measure_spread(clusters)
    middle = number * mean / (number + 2)
    spread += number * (mean - middle) ** 2 + 2 * (largest**2 + middle**2)
    margin = Z_95 * sqrt(spread) / (number + 2)
    return max(-largest, middle - margin), min(largest, middle + margin)


def _measure_spread(clusters: Collection[Cluster]) -> tuple[int, float, float]:
    """Return the number of clusters, the mean and the sum of squared deviations.

    A cluster's deviation is ``(sum - expected sum) / mean cluster size``.
    """
    number, size = len(clusters), fsum(size for _, size in clusters)
    mean = fsum(total for total, _ in clusters) / size
    squares = ((number * (total - mean * size_) / size) ** 2 for total, size_ in clusters)
    return number, mean, fsum(squares)


Stratum = tuple[float, Sequence[TrialCounts]]


def strata_interval(strata: Sequence[Stratum]) -> tuple[float, float]:
    """Return the 95% interval of the weighted mean pass@1 of several sets.

    A cluster may have entries in several sets.
    """
    strata = [(weight, entries) for weight, entries in strata if weight and entries]
    weights = sum(weight for weight, _ in strata)
    mean, deviations = 0.0, []
    for weight, entries in strata:
        rate, share = pass_at_1(entries), weight / weights
        mean += share * rate
        for cluster, trials, passed in entries:
            deviations.append((cluster, share * (passed / trials - rate) / len(entries)))
    clusters = sum_clusters(deviations)
    return share_interval([(mean + len(clusters) * total, 1) for total, _ in clusters])


def sampling_error(rate: float, size: int, population: int) -> float:
    """Return the 95% margin of error of a sample, with finite population correction."""
    if size >= population or not size:
        return 0.0
    correction = (population - size) / (population - 1)
    if rate in (0.0, 1.0):
        # The rule of three bounds a rate without observed variance.
        return min(1.0, 3 / size) * sqrt(correction)
    return Z_95 * sqrt(rate * (1 - rate) / size * correction)


def sum_clusters(values: Iterable[tuple[str, float]]) -> list[Cluster]:
    """Return the sum of the values and the number of values for each cluster."""
    clusters: dict[str, list[float]] = {}
    for cluster, value in values:
        clusters.setdefault(cluster, []).append(value)
    # The order of values does not change an exact sum.
    return [(fsum(found), len(found)) for found in clusters.values()]


SIGNIFICANCE = 0.05
"""Significance threshold: a difference with a smaller p-value is significant."""
POWER = 0.8

_Z_POWER = 0.8416212335729143
_FINEST = 840
"""Maximum denominator of pass rates. Rates of up to 8 trials are exact."""


class EntryPair(NamedTuple):
    """One entry in two runs."""

    first: TrialCounts
    second: TrialCounts

    @property
    def difference(self) -> float:
        """The second run's pass rate minus the first run's pass rate."""
        return self.second.passed / self.second.trials - self.first.passed / self.first.trials


class RunDifference(NamedTuple):
    """Difference between two runs: the second minus the first."""

    entries: int
    first: float
    second: float
    worse: int
    better: int
    interval: tuple[float, float]
    p_value: float
    mcnemar: float | None
    """McNemar's exact p-value, which assumes independent entries; None for several trials."""
    needed: int | None
    """Number of entries needed to detect this difference; None if there is no difference."""

    @property
    def difference(self) -> float:
        """Difference of the pass rates."""
        return self.second - self.first

    @property
    def is_noise(self) -> bool:
        """Whether the difference is not significant."""
        return self.p_value >= SIGNIFICANCE


def compare(pairs: Sequence[EntryPair]) -> RunDifference:
    """Compare two runs that have at least one entry in common."""
    differences = [pair.difference for pair in pairs]
    worse, better = sum(d < 0 for d in differences), sum(d > 0 for d in differences)
    single = all(pair.first.trials == pair.second.trials == 1 for pair in pairs)
    clusters = sum_clusters((pair.first.cluster, pair.difference) for pair in pairs)
    p_value = cluster_test(pairs)
    return RunDifference(
        len(pairs),
        sum(pair.first.passed / pair.first.trials for pair in pairs) / len(pairs),
        second=sum(pair.second.passed / pair.second.trials for pair in pairs) / len(pairs),
        worse=worse,
        better=better,
        interval=fit_interval(
            difference_interval(clusters), sum(differences) / len(pairs), p_value
        ),
        p_value=p_value,
        mcnemar=mcnemar(worse, better) if single else None,
        needed=count_needed_entries(pairs),
    )


def fit_interval(
    interval: tuple[float, float], difference: float, p_value: float
) -> tuple[float, float]:
    """Adjust the interval of a difference to its p-value.

    If the difference is not significant, the interval is extended to contain zero. The interval of
    a significant difference never contains zero (Miettinen, 1976).
    """
    low, high = interval
    if p_value >= SIGNIFICANCE:
        return min(low, 0.0), max(high, 0.0)
    if low <= 0 <= high:
        bound = difference * (1 + Z_95 / statistics.NormalDist().inv_cdf(max(p_value, 1e-99) / 2))
        return (bound, high) if difference > 0 else (low, bound)
    return interval


def cluster_test(pairs: Sequence[EntryPair]) -> float:
    """Return the p-value of a sign-flip test of two runs."""
    return sign_flip(_by_cluster(pairs))


def mcnemar(worse: int, better: int) -> float:
    """Return the two-sided p-value of McNemar's exact test for the pairs that differ."""
    total = worse + better
    ways = sum(comb(total, count) for count in range(min(worse, better) + 1))
    return min(1.0, 2 * ways / (1 << total))


def sign_flip(differences: Sequence[int]) -> float:
    """Apply Fisher's randomization test to differences; return the exact two-sided p-value.

    If all differences are 1 or -1, the test equals McNemar's test.
    """
    # Small sizes first, so that the table below stays short for most steps.
    sizes = sorted(abs(difference) for difference in differences if difference)
    most = (sum(sizes) - abs(sum(differences))) // 2
    # One long number serves as a table: digit s in base 2**width counts the subsets of sizes
    # with sum s.
    width = len(sizes) + 1
    ways, tail = 1, (1 << width * (most + 1)) - 1
    for size in sizes:
        ways = (ways + (ways << (width * size))) & tail
    if not sizes:
        return 1.0
    # The remainder modulo base - 1 is the sum of the digits.
    return min(1.0, 2 * (ways % ((1 << width) - 1)) / (1 << len(sizes)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values after Holm's correction (1979), in the order of ``p_values``."""
    corrected = [1.0] * len(p_values)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = least
    return corrected


def count_connor_pairs(discordant: float, difference: float) -> float:
    """Return the number of pairs that McNemar's test needs at 5% (two-sided) and 80% power.

    The formula is from Connor (1987).

    ``discordant`` is the share of pairs that differ.
    """
    # If all pairs differ alike, the variance is a rounding error.
    null, alternative = sqrt(discordant), sqrt(max(0.0, discordant - difference**2))
    return float(((Z_95 * null + _Z_POWER * alternative) / difference) ** 2)


def count_needed_entries(pairs: Sequence[EntryPair]) -> int | None:
    """Return the number of entries needed for significance; ``None`` if there is no difference.

    The estimate uses Connor's formula and the design effect of the clusters.
    """
    sums = _by_cluster(pairs)
    if not sum(sums):
        return None
    squares = sum(pair.difference**2 for pair in pairs)
    unit = _parts(pairs)
    inflation = sum((value / unit) ** 2 for value in sums) / squares
    mean = sum(pair.difference for pair in pairs) / len(pairs)
    return ceil(count_connor_pairs(squares / len(pairs), mean) * max(1.0, inflation))


def _by_cluster(pairs: Sequence[EntryPair]) -> list[int]:
    parts = _parts(pairs)
    sums: Counter[str] = Counter()
    for pair in pairs:
        sums[pair.first.cluster] += round(pair.difference * parts)
    return list(sums.values())


def _parts(pairs: Sequence[EntryPair]) -> int:
    return min(_FINEST, lcm(*(trials.trials for pair in pairs for trials in pair)))
