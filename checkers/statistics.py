"""Scores with confidence intervals, and tests for comparing runs.

Variants of one base entry tend to pass or fail together. Trials of one entry also tend to pass or
fail together. Resampling and sign flips therefore work on clusters of entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import ceil, comb, lcm, sqrt
from typing import TYPE_CHECKING, NamedTuple

from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    import random
else:
    # One entry needs no samples.
    random = lazy_module("random")

Z_95 = 1.959963984540054


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """Return the 95% score interval of a binomial proportion (Wilson, 1927)."""
    if not trials:
        return 0.0, 1.0
    rate, square = successes / trials, Z_95 * Z_95
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    spread = Z_95 * sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials))
    spread /= 1 + square / trials
    return max(0.0, centre - spread), min(1.0, centre + spread)


RESAMPLES = 2000
_SAME_SHARE = 1e-9
"""Relative tolerance for treating weights as equal."""
_BITS = 32


class TrialCounts(NamedTuple):
    """Trials of one entry."""

    cluster: str
    """Name shared by all entries from one base entry."""
    trials: int
    passed: int


def pass_at_1(entries: Sequence[TrialCounts]) -> float:
    """Return the share of passed trials, averaged over entries."""
    return sum(entry.passed / entry.trials for entry in entries) / len(entries)


def pass_at_k(entries: Sequence[TrialCounts], k: int) -> float:
    """Estimate the chance that at least one of k trials passes (Chen et al., 2021, unbiased).

    Every entry must have at least k trials.
    """
    return sum(1 - comb(e.trials - e.passed, k) / comb(e.trials, k) for e in entries) / len(entries)


def pass_hat_k(entries: Sequence[TrialCounts], k: int) -> float:
    """Estimate pass^k, the chance that all of k trials pass (Yao et al., 2024, unbiased).

    Every entry must have at least k trials.
    """
    return sum(comb(e.passed, k) / comb(e.trials, k) for e in entries) / len(entries)


def cluster_interval(entries: Sequence[TrialCounts]) -> tuple[float, float]:
    """Return the 95% interval of pass@1.

    If each cluster has one trial, return the Wilson interval. Otherwise, resample clusters with a
    fixed seed. If all clusters have the same rate, return Wilson's with one trial per cluster.
    """
    if sum(entry.trials for entry in entries) == len({entry.cluster for entry in entries}):
        return wilson(sum(entry.passed for entry in entries), len(entries))
    # Sorted, so that the order and names of entries do not matter.
    return resample_share(tuple(sorted(sum_clusters(sorted(entries)).values())))


Stratum = tuple[float, Sequence[TrialCounts]]


def strata_interval(strata: Sequence[Stratum]) -> tuple[float, float]:
    """Return a 95% percentile interval of the weighted mean pass@1 of several sets.

    A cluster may have entries in several sets; a resample draws all these entries together. If all
    entries have the same weight, the result is ``cluster_interval`` of the joined sets. If the
    percentiles are equal, the result is the Wilson interval with one trial per cluster.
    """
    strata = [(weight, entries) for weight, entries in strata if weight and entries]
    shares = [weight / len(entries) for weight, entries in strata]
    if max(shares) - min(shares) <= _SAME_SHARE * max(shares):
        return cluster_interval([entry for _, entries in strata for entry in entries])
    parts = min(_FINEST, lcm(*(entry.trials for _, entries in strata for entry in entries)))
    counts: dict[str, list[int]] = {}
    for place, (_, entries) in enumerate(strata):
        for entry in entries:
            of = counts.setdefault(entry.cluster, [0] * 2 * len(strata))
            of[2 * place] += round(parts * entry.passed / entry.trials)
            of[2 * place + 1] += parts
    means = []
    for drawn in resample_counts([*counts.values()]):
        sums = zip(strata, drawn[::2], drawn[1::2], strict=True)
        found = [(weight, passed / total) for (weight, _), passed, total in sums if total]
        means.append(sum(w * rate for w, rate in found) / sum(w for w, _ in found))
    low, high = percentiles(means)
    # Equal resamples say nothing about other clusters.
    if high - low <= _SAME_SHARE:
        return wilson(min(1.0, low) * len(counts), len(counts))
    return low, high


@lru_cache(maxsize=16)
def resample_share(clusters: tuple[tuple[float, int], ...]) -> tuple[float, float]:
    """Return a 95% percentile interval of a share. A cluster is (successes, size)."""
    # Equal shares may differ by rounding errors.
    shares = {round(total / count, 12) for total, count in clusters}
    if len(shares) == 1:
        return wilson(shares.pop() * len(clusters), len(clusters))
    source = random.Random(0)
    # Passes and entries are packed into one number, so that one sum adds up both.
    if all(total == int(total) for total, _ in clusters):
        wholes = [(int(total) << _BITS) + count for total, count in clusters]
        sums = sum_draws(source, wholes, RESAMPLES)
        rates = [(drawn >> _BITS) / (drawn & ~(-1 << _BITS)) for drawn in sums]
    else:
        pairs = [complex(total, count) for total, count in clusters]
        drawings = [sum(source.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES)]
        rates = [drawn.real / drawn.imag for drawn in drawings]
    rates.sort()
    return rates[int(0.025 * RESAMPLES)], rates[int(0.975 * RESAMPLES) - 1]


def resample_counts(clusters: Sequence[Sequence[int]]) -> list[list[int]]:
    """Resample clusters of counts with a fixed seed; return the sums of counts for each sample."""
    # Counts are packed into one number; sorted, so that the order does not matter.
    wholes = sorted(sum(n << _BITS * place for place, n in enumerate(each)) for each in clusters)
    length = len(clusters[0]) if clusters else 0
    source, mask = random.Random(0), ~(-1 << _BITS)
    sums = sum_draws(source, wholes, RESAMPLES if wholes else 0)
    return [[drawn >> _BITS * place & mask for place in range(length)] for drawn in sums]


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentiles of one or more values."""
    ranked = sorted(values)
    return ranked[int(0.025 * len(ranked))], ranked[max(0, int(0.975 * len(ranked)) - 1)]


_CHANCE_BITS = 60


def sum_draws(source: random.Random, values: Sequence[int], rounds: int) -> list[int]:
    """Resample the values with replacement in each round; return the sum of each resample.

    A round makes one binomial draw per distinct value instead of one draw per item. Resampling many
    equal items is therefore fast.
    """
    chances, left = [], len(values)
    for value, count in sorted(Counter(values).items(), key=lambda each: (-each[1], each)):
        chance = (count << _CHANCE_BITS) // left
        bits = bin(chance + (1 << _CHANCE_BITS))[3:] if count < left else ""
        chances.append((value, bits))
        left -= count
    sums, draw_bits = [], source.getrandbits
    for _ in range(rounds):
        total, left = 0, len(values)
        for value, bits in chances:
            drawn = _draw_binomial(draw_bits, left, bits) if bits and left else left
            total += value * drawn
            left -= drawn
        sums.append(total)
    return sums


def _draw_binomial(draw_bits: Callable[[int], int], trials: int, bits: str) -> int:
    """Draw a binomial number; ``bits`` are the binary digits of the probability of success."""
    # A trial succeeds if its random binary fraction is below the chance. Its first digit that
    # differs from the chance's digit decides, so that half of the trials are left at each digit.
    successes = 0
    for bit in bits:
        ones = draw_bits(trials).bit_count()
        if bit == "1":
            successes += trials - ones
            trials = ones
        else:
            trials -= ones
        if not trials:
            break
    return successes


def sampling_error(rate: float, size: int, population: int) -> float:
    """Return the 95% margin of error of a sample, with finite population correction."""
    if size >= population or not size:
        return 0.0
    correction = (population - size) / (population - 1)
    if rate in (0.0, 1.0):
        # The rule of three bounds a rate without observed variance.
        return min(1.0, 3 / size) * sqrt(correction)
    return Z_95 * sqrt(rate * (1 - rate) / size * correction)


def sum_clusters(entries: Sequence[TrialCounts]) -> Mapping[str, tuple[float, int]]:
    """Return the number of entries and the sum of their pass rates for each cluster."""
    clusters: dict[str, tuple[float, int]] = {}
    for entry in entries:
        total, count = clusters.get(entry.cluster, (0.0, 0))
        clusters[entry.cluster] = (total + entry.passed / entry.trials, count + 1)
    return clusters


SIGNIFICANCE = 0.05
"""Significance threshold: a difference is noise if its p-value is at least this number."""
POWER = 0.8

_Z_POWER = 0.8416212335729143
_FINEST = 840
"""Maximum denominator of pass rates; 840 is divisible by each number of trials from 1 to 8."""


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
    """McNemar's exact p-value, which assumes independent entries; None with several trials."""
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
    independent = len({pair.first.cluster for pair in pairs}) == len(pairs)
    simple = single and independent
    return RunDifference(
        len(pairs),
        sum(pair.first.passed / pair.first.trials for pair in pairs) / len(pairs),
        second=sum(pair.second.passed / pair.second.trials for pair in pairs) / len(pairs),
        worse=worse,
        better=better,
        interval=compute_bonett_price_interval(worse, better, len(pairs))
        if simple
        else _resampled(pairs),
        p_value=cluster_test(pairs),
        mcnemar=mcnemar(worse, better) if single else None,
        needed=count_needed_entries(pairs),
    )


def cluster_test(pairs: Sequence[EntryPair]) -> float:
    """Return the p-value of the difference between two runs, by a sign-flip test of clusters."""
    return sign_flip(_by_cluster(pairs))


def mcnemar(worse: int, better: int) -> float:
    """Return the two-sided p-value of McNemar's exact test for the pairs that differ."""
    total = worse + better
    ways = sum(comb(total, count) for count in range(min(worse, better) + 1))
    return min(1.0, 2 * ways / (1 << total))


def sign_flip(differences: Sequence[int]) -> float:
    """Return the exact two-sided p-value of Fisher's randomization test for a sum of differences.

    If all differences are 1 or -1, the test equals McNemar's test.
    """
    sizes = [abs(difference) for difference in differences if difference]
    most = (sum(sizes) - abs(sum(differences))) // 2
    # One long number serves as a table: digit s in base 2**width counts the subsets of sizes
    # with sum s.
    width = len(sizes) + 1
    ways = 1
    for size in sizes:
        ways += ways << (width * size)
    tail = ways & ((1 << width * (most + 1)) - 1)
    if not sizes:
        return 1.0
    # The remainder modulo base - 1 is the sum of the digits.
    return min(1.0, 2 * (tail % ((1 << width) - 1)) / (1 << len(sizes)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values after Holm's correction (1979), in the order of ``p_values``."""
    corrected = [1.0] * len(p_values)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = least
    return corrected


def compute_bonett_price_interval(worse: float, better: float, pairs: int) -> tuple[float, float]:
    """Return the 95% interval of a difference of paired proportions (Bonett and Price, 2012)."""
    first, second = (worse + 1) / (pairs + 2), (better + 1) / (pairs + 2)
    middle = second - first
    spread = Z_95 * sqrt((first + second - middle**2) / (pairs + 2))
    return max(-1.0, middle - spread), min(1.0, middle + spread)


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

    The result is the number of pairs from Connor's formula, times the design effect of clusters.
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


def _resampled(pairs: Sequence[EntryPair]) -> tuple[float, float]:
    parts = _parts(pairs)
    # Differences from -1 to 1 are mapped to shares from 0 to 1.
    halved = [
        TrialCounts(pair.first.cluster, 2 * parts, parts + round(pair.difference * parts))
        for pair in pairs
    ]
    clusters = sum_clusters(halved).values()
    shares = {round(total / count, 12) for total, count in clusters}
    if len(shares) == 1:  # resamples would all be equal
        same = (2 * shares.pop() - 1) * len(clusters)
        return compute_bonett_price_interval(max(0, -same), max(0, same), len(clusters))
    turned = [each._replace(passed=each.trials - each.passed) for each in halved]
    # The interval of the runs in reverse order is its mirror image, so one order is drawn.
    if sorted(sum_clusters(turned).values()) > sorted(clusters):
        low, high = cluster_interval(turned)
        return 1 - 2 * high, 1 - 2 * low
    low, high = cluster_interval(halved)
    return 2 * low - 1, 2 * high - 1
