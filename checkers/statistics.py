"""From verdicts to scores, with intervals that respect what entries share, and runs compared.

Entries that were made from one another pass or fail together, and trials of one entry more so, so
the unit that is drawn anew or given the other sign is the cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, comb, floor, lcm, sqrt
from operator import mul
from random import Random
from typing import NamedTuple

from checkers.verdict import Verdict

Z_95 = 1.959963984540054
"""Two-sided 95% quantile of the normal distribution."""


class Score(NamedTuple):
    """The score of a set of episodes."""

    entries: int
    passed: int
    turns: int
    turns_passed: int

    @property
    def rate(self) -> float:
        """Share of episodes that passed, from 0 to 1."""
        return self.passed / self.entries if self.entries else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95% Wilson score interval of the rate."""
        return wilson(self.passed, self.entries)


def score(verdicts: Iterable[Verdict]) -> Score:
    """Count what passed, in episodes and in turns."""
    judged = list(verdicts)
    return Score(
        len(judged),
        sum(verdict.valid for verdict in judged),
        sum(verdict.turns for verdict in judged),
        sum(verdict.turns_passed for verdict in judged),
    )


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """Return the 95% score interval of a binomial proportion (Wilson, 1927)."""
    if not trials:
        return 0.0, 1.0
    rate, square = successes / trials, Z_95 * Z_95
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    spread = Z_95 * sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials))
    spread /= 1 + square / trials
    return max(0.0, centre - spread), min(1.0, centre + spread)


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return how far two raters agree beyond chance (Cohen, 1960), at most 1.

    Args:
        pairs: Per item the class that each rater gave it.

    Returns:
        Kappa; None where there are no items, or both gave all of them one and the same class.
    """
    return kappa(Counter(pairs))


def kappa(table: Mapping[tuple[str, str], int]) -> float | None:
    """Return Cohen's kappa as ``cohen_kappa`` does, from how often each pair of classes comes."""
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


_RESAMPLES = 2000
_BITS = 32
"""In so many the entries of all clusters are counted."""


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

    Every entry has at least k trials.
    """
    return sum(1 - comb(e.trials - e.passed, k) / comb(e.trials, k) for e in entries) / len(entries)


def pass_hat_k(entries: Sequence[Attempts], k: int) -> float:
    """Return pass^k, the chance that all of k trials pass (Yao et al., 2024, unbiased).

    Every entry has at least k trials.
    """
    return sum(comb(e.passed, k) / comb(e.trials, k) for e in entries) / len(entries)


def cluster_interval(entries: Sequence[Attempts]) -> tuple[float, float]:
    """Return a 95% percentile interval of pass@1 from resampling clusters, with a fixed seed.

    Where all clusters agree there is nothing to resample, and each of them counts as one trial.
    """
    # Sorted, so that neither the order of entries nor what they are called has a part in it.
    return _resampled_share(sorted(_clusters(sorted(entries)).values()))


def share_interval(parts: Iterable[tuple[str, int, int]]) -> tuple[float, float]:
    """Return a 95% percentile interval of a share of things of which clusters have many or few.

    Args:
        parts: The cluster, how many of its things count, and how many it has; at least one thing.
    """
    clusters: dict[str, tuple[float, int]] = {}
    for cluster, counted, things in parts:
        total, count = clusters.get(cluster, (0, 0))
        clusters[cluster] = total + counted, count + things
    return _resampled_share(sorted(each for each in clusters.values() if each[1]))


class Slope(NamedTuple):
    """By how much something grows with a quantity, all else being the entry's own."""

    value: float
    interval: tuple[float, float]
    """95%, from resampling clusters."""


def slope_within(points: Mapping[tuple[str, str], Sequence[tuple[float, float]]]) -> Slope | None:
    """Return the slope of y over x within entries, by least squares; None where x never differs."""
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
    drawings = [sum(source.choices(parts, k=len(parts))) for _ in range(_RESAMPLES)]
    slopes = sorted(drawn.real / drawn.imag for drawn in drawings)
    low, high = slopes[int(0.025 * _RESAMPLES)], slopes[int(0.975 * _RESAMPLES) - 1]
    return Slope(whole.real / whole.imag, (low, high))


def unpaired(first: Sequence[Attempts], second: Sequence[Attempts]) -> RunDifference:
    """Compare two runs over different entries, each at least one, by what their clusters have.

    The interval is Newcombe's, from Wilson's of either share; the p-value is Fisher's exact one of
    the clusters, each of which counts as one that passes if it mostly does.
    """
    ours, theirs = pass_at_1(first), pass_at_1(second)
    (low_a, high_a), (low_b, high_b) = cluster_interval(first), cluster_interval(second)
    middle = theirs - ours
    low = middle - sqrt((theirs - low_b) ** 2 + (high_a - ours) ** 2)
    high = middle + sqrt((high_b - theirs) ** 2 + (ours - low_a) ** 2)
    counts = [
        (sum(2 * total >= count for total, count in found), len(found))
        for found in (_clusters(first).values(), _clusters(second).values())
    ]
    p_value = fisher(counts[0], counts[1])
    entries = len(first) + len(second)
    return RunDifference(
        entries,
        ours,
        second=theirs,
        worse=0,
        better=0,
        interval=(max(-1.0, low), min(1.0, high)),
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


def _resampled_share(clusters: Sequence[tuple[float, int]]) -> tuple[float, float]:
    shares = {total / count for total, count in clusters}
    if len(shares) == 1:
        return wilson(shares.pop() * len(clusters), len(clusters))
    source = Random(0)
    # As one number each, so that one sum adds up passes and entries; it runs very often.
    if all(total == int(total) for total, _ in clusters):
        wholes = [(int(total) << _BITS) + count for total, count in clusters]
        sums = sums_of_draws(source, wholes, _RESAMPLES)
        rates = [(drawn >> _BITS) / (drawn & ~(-1 << _BITS)) for drawn in sums]
    else:
        pairs = [complex(total, count) for total, count in clusters]
        drawings = [sum(source.choices(pairs, k=len(pairs))) for _ in range(_RESAMPLES)]
        rates = [drawn.real / drawn.imag for drawn in drawings]
    rates.sort()
    return rates[int(0.025 * _RESAMPLES)], rates[int(0.975 * _RESAMPLES) - 1]


def resamples(clusters: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the sums of counts in clusters that are drawn anew, again and again, by fixed seed.

    Args:
        clusters: Per cluster its counts, all of one length.
    """
    # As one number each, as for ``cluster_interval``; sorted, so that the order has no part in it.
    wholes = sorted(sum(n << _BITS * place for place, n in enumerate(each)) for each in clusters)
    length = len(clusters[0]) if clusters else 0
    source, mask = Random(0), ~(-1 << _BITS)
    sums = sums_of_draws(source, wholes, _RESAMPLES if wholes else 0)
    return [[drawn >> _BITS * place & mask for place in range(length)] for drawn in sums]


def percentiles(values: Sequence[float]) -> tuple[float, float] | None:
    """Return what 95% of values lie between; None where there are none."""
    ranked = sorted(values)
    if not ranked:
        return None
    return ranked[int(0.025 * len(ranked))], ranked[max(0, int(0.975 * len(ranked)) - 1)]


_OPEN = 255
"""Stands for a draw that its first byte does not tell."""


def sums_of_draws(source: Random, values: Sequence[int], rounds: int) -> list[int]:
    """Return what ``sum(source.choices(values, k=len(values)))`` gives so many times, in less time.

    Values are sorted, and few of them are different, so the first byte of a random number nearly
    always tells which is drawn.

    Args:
        source: As it comes; it is left in the state in which the draws leave it.
        values: Sorted.
        rounds: How often as many as there are are drawn.
    """
    size, kinds = len(values), sorted(set(values))
    if not values or len(kinds) > _OPEN:
        return [sum(source.choices(values, k=size)) for _ in range(rounds)]
    ends = [(values[byte * size >> 8], values[((byte + 1) * size - 1) >> 8]) for byte in range(256)]
    told_by = bytes([kinds.index(low) if low == high else _OPEN for low, high in ends])
    sums = []
    for _ in range(rounds):
        drawn = source.randbytes(8 * size)
        told = drawn[3::8].translate(told_by)
        total = sum(map(mul, kinds, map(told.count, range(len(kinds)))))
        place = told.find(_OPEN)
        while place >= 0:
            total += values[_index(drawn, place, size)]
            place = told.find(_OPEN, place + 1)
        sums.append(total)
    return sums


def _index(drawn: bytes, place: int, size: int) -> int:
    """Return which of so many things ``Random.choices`` draws by the bytes of one random number."""
    number = int.from_bytes(drawn[8 * place : 8 * place + 8], "little")
    return floor((((number & 0xFFFFFFFF) >> 5) * 2**26 + (number >> 38)) / 2**53 * size)


def sampling_error(rate: float, size: int, population: int) -> float:
    """Return the 95% margin that a sample of a population adds, with finite correction."""
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


SIGNIFICANCE = 0.05
"""A difference that chance alone makes at least this often is called noise."""
POWER = 0.8
"""Chance at which a difference is to be found by as many entries as are said to be needed."""

_Z_POWER = 0.8416212335729143
_FINEST = 840
"""Most parts that a pass rate is divided into; in these, that of up to eight trials is whole."""


class Pair(NamedTuple):
    """One entry in two runs."""

    first: Attempts
    second: Attempts

    @property
    def difference(self) -> float:
        """The second run's pass rate less the first's."""
        return self.second.passed / self.second.trials - self.first.passed / self.first.trials


class RunDifference(NamedTuple):
    """The second run less the first."""

    entries: int
    first: float
    """Pass rate of the first run, every entry counting the same."""
    second: float
    worse: int
    """Entries that pass less often in the second run."""
    better: int
    """Entries that pass more often there."""
    interval: tuple[float, float]
    """95% interval of the difference of the rates."""
    p_value: float
    """How often chance alone makes a difference as large."""
    mcnemar: float | None
    """McNemar's exact p-value, which takes entries for independent; None with several trials."""
    needed: int | None
    """Entries that would show a difference like this; None where there is none to be shown."""

    @property
    def difference(self) -> float:
        """The difference of the pass rates."""
        return self.second - self.first

    @property
    def is_noise(self) -> bool:
        """Whether chance alone explains the difference."""
        return self.p_value >= SIGNIFICANCE


def compare(pairs: Sequence[Pair]) -> RunDifference:
    """Compare two runs over the entries that both have, of which there is at least one."""
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
        interval=bonett_price(worse, better, len(pairs)) if simple else _resampled(pairs),
        p_value=cluster_test(pairs),
        mcnemar=mcnemar(worse, better) if single else None,
        needed=entries_needed(pairs),
    )


def cluster_test(pairs: Sequence[Pair]) -> float:
    """Return how often chance alone makes a difference as large as that of two runs."""
    return sign_flip(_by_cluster(pairs))


def mcnemar(worse: int, better: int) -> float:
    """Return the two-sided p-value of McNemar's exact test, from the pairs that differ."""
    total = worse + better
    ways = sum(comb(total, count) for count in range(min(worse, better) + 1))
    return min(1.0, 2 * ways / (1 << total))


def sign_flip(differences: Sequence[int]) -> float:
    """Return how often a sum is as far from zero if each term may as well have the other sign.

    Exact, two-sided (Fisher's randomization test). For terms of 1 and -1 it is McNemar's.
    """
    sizes = [abs(difference) for difference in differences if difference]
    most = (sum(sizes) - abs(sum(differences))) // 2
    # One long number as a table: its digit at place s, in base 2**width, counts the choices of
    # sizes that add up to s.
    width = len(sizes) + 1
    ways = 1
    for size in sizes:
        ways += ways << (width * size)
    tail = ways & ((1 << width * (most + 1)) - 1)
    if not sizes:
        return 1.0
    # The remainder by the base less one is the sum of the digits.
    return min(1.0, 2 * (tail % ((1 << width) - 1)) / (1 << len(sizes)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for being several, in their order (Holm, 1979).

    Where no difference is real, the chance that one of them comes out below 5% is below 5%.
    """
    corrected = [1.0] * len(p_values)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = least
    return corrected


def bonett_price(worse: int, better: int, pairs: int) -> tuple[float, float]:
    """Return the 95% interval of a difference of paired proportions (Bonett and Price, 2012)."""
    first, second = (worse + 1) / (pairs + 2), (better + 1) / (pairs + 2)
    middle = second - first
    spread = Z_95 * sqrt((first + second - middle**2) / (pairs + 2))
    return max(-1.0, middle - spread), min(1.0, middle + spread)


def connor(discordant: float, difference: float) -> float:
    """Return how many pairs McNemar's test needs (Connor, 1987), for two-sided 5% and 80% power.

    Args:
        discordant: Share of pairs that differ.
        difference: RunDifference of the proportions, not 0.
    """
    # Where all differ alike there is no variance but that of rounding.
    null, alternative = sqrt(discordant), sqrt(max(0.0, discordant - difference**2))
    return float(((Z_95 * null + _Z_POWER * alternative) / difference) ** 2)


def entries_needed(pairs: Sequence[Pair]) -> int | None:
    """Return how many entries like these would show the difference; None where there is none.

    Connor's number of pairs, multiplied by what clusters add to the variance.
    """
    sums = _by_cluster(pairs)
    if not sum(sums):
        return None
    squares = sum(pair.difference**2 for pair in pairs)
    unit = _parts(pairs)
    inflation = sum((value / unit) ** 2 for value in sums) / squares
    mean = sum(pair.difference for pair in pairs) / len(pairs)
    return ceil(connor(squares / len(pairs), mean) * max(1.0, inflation))


def _by_cluster(pairs: Sequence[Pair]) -> list[int]:
    """Return per cluster the sum of its differences, in parts of a pass rate."""
    parts = _parts(pairs)
    sums: Counter[str] = Counter()
    for pair in pairs:
        sums[pair.first.cluster] += round(pair.difference * parts)
    return list(sums.values())


def _parts(pairs: Sequence[Pair]) -> int:
    """Return in how many parts a pass rate is divided so that all of them are whole numbers."""
    return min(_FINEST, lcm(*(trials.trials for pair in pairs for trials in pair)))


def _resampled(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Return a 95% interval of the difference from resampling clusters."""
    parts = _parts(pairs)
    # A difference from -1 to 1 is written as a share of passes from 0 to 1.
    halved = [
        Attempts(pair.first.cluster, 2 * parts, parts + round(pair.difference * parts))
        for pair in pairs
    ]
    low, high = cluster_interval(halved)
    return 2 * low - 1, 2 * high - 1
