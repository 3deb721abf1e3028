"""How often an interval contains the true rate. Run as a module, it prints the coverage."""

from __future__ import annotations

from random import Random

import pytest

from checkers.statistics import TrialCounts, cluster_interval

CORRELATION = 0.5
"""Correlation of two episodes of one scenario."""


def draw(
    source: Random, entries: int, variants: int, trials: int, rate: float
) -> list[TrialCounts]:
    """Return entries whose scenarios differ in difficulty, unless each has one episode."""
    spread = (1 - CORRELATION) / CORRELATION
    found = []
    for cluster in range(entries // variants):
        ease = source.betavariate(rate * spread, (1 - rate) * spread)
        for _ in range(variants):
            passed = sum(source.random() < ease for _ in range(trials))
            found.append(TrialCounts(str(cluster), trials, passed))
    return found


def coverage(entries: int, variants: int, trials: int, rate: float, draws: int) -> float:
    """Return the share of draws whose interval contains the rate."""
    source, held = Random(1), 0
    for _ in range(draws):
        low, high = cluster_interval(draw(source, entries, variants, trials, rate))
        held += low <= rate <= high
    return held / draws


@pytest.mark.parametrize(("variants", "trials"), [(1, 1), (4, 1), (1, 3)])
def test_nine_in_ten_intervals_contain_a_rate_of_half(variants: int, trials: int) -> None:
    assert 0.9 <= coverage(48, variants, trials, 0.5, 200) <= 0.99


if __name__ == "__main__":
    for variants, trials in ((1, 1), (4, 1), (1, 3)):
        for entries in (20, 50, 200):
            shares = [coverage(entries, variants, trials, rate, 1000) for rate in (0.02, 0.5, 0.98)]
            print(variants, trials, entries, *shares, flush=True)
