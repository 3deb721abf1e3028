"""Two runs of the same entries: is the difference more than noise, and what would settle it.

Entries that were made from one another pass or fail together, and trials of one entry more so, so
the unit that is drawn anew or given the other sign is the cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, comb, lcm, sqrt
from typing import NamedTuple

from checkers.score import Z_95
from checkers.trials import Attempts, cluster_interval

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


class Difference(NamedTuple):
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


def compare(pairs: Sequence[Pair]) -> Difference:
    """Compare two runs over the entries that both have.

    Args:
        pairs: At least one.
    """
    differences = [pair.difference for pair in pairs]
    worse, better = sum(d < 0 for d in differences), sum(d > 0 for d in differences)
    single = all(pair.first.trials == pair.second.trials == 1 for pair in pairs)
    independent = len({pair.first.cluster for pair in pairs}) == len(pairs)
    simple = single and independent
    return Difference(
        len(pairs),
        sum(pair.first.passed / pair.first.trials for pair in pairs) / len(pairs),
        sum(pair.second.passed / pair.second.trials for pair in pairs) / len(pairs),
        worse,
        better,
        bonett_price(worse, better, len(pairs)) if simple else _resampled(pairs),
        cluster_test(pairs),
        mcnemar(worse, better) if single else None,
        entries_needed(pairs),
    )


def cluster_test(pairs: Sequence[Pair]) -> float:
    """Return how often chance alone makes a difference as large as that of two runs."""
    return sign_flip(_by_cluster(pairs))


def mcnemar(worse: int, better: int) -> float:
    """Return the two-sided p-value of McNemar's exact test.

    Args:
        worse: Pairs of which only the first succeeds.
        better: Pairs of which only the second succeeds.
    """
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


def bonett_price(worse: int, better: int, pairs: int) -> tuple[float, float]:
    """Return the 95% interval of a difference of paired proportions (Bonett and Price, 2012).

    Args:
        worse: Pairs of which only the first succeeds.
        better: Pairs of which only the second succeeds.
        pairs: All of them.
    """
    first, second = (worse + 1) / (pairs + 2), (better + 1) / (pairs + 2)
    middle = second - first
    spread = Z_95 * sqrt((first + second - middle**2) / (pairs + 2))
    return max(-1.0, middle - spread), min(1.0, middle + spread)


def connor(discordant: float, difference: float) -> float:
    """Return how many pairs McNemar's test needs (Connor, 1987), for two-sided 5% and 80% power.

    Args:
        discordant: Share of pairs that differ.
        difference: Difference of the proportions, not 0.
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
