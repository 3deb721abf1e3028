from __future__ import annotations

from collections import Counter
from math import comb, sqrt
from random import Random
from statistics import fmean, pvariance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.statistics import _draw_binomial, sum_draws, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "interval"),
    [
        (0, 10, (0.0, 0.2775)),
        (10, 10, (0.7225, 1.0)),
        (1, 1, (0.2065, 1.0)),
        (50, 100, (0.4038, 0.5962)),
        (124, 200, (0.5511, 0.6844)),
    ],
)
def test_known_intervals(successes, trials, interval):
    assert wilson(successes, trials) == pytest.approx(interval, abs=5e-5)


counts = st.integers(1, 5000).flatmap(
    lambda trials: st.tuples(st.integers(0, trials), st.just(trials))
)


@given(counts)
def test_an_interval_holds_its_rate_and_mirrors(count):
    successes, trials = count
    low, high = wilson(successes, trials)
    assert 0.0 <= low < high <= 1.0
    assert low - 1e-12 <= successes / trials <= high + 1e-12
    mirrored = wilson(trials - successes, trials)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 7, 200, pytest.param(1044, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kinds", [1, 2, 9, 300])
def test_sums_of_draws_have_the_moments_of_drawing_with_replacement(size, kinds):
    made = Random(size)
    values = [made.randrange(kinds) for _ in range(size)]
    sums = sum_draws(Random(0), values, 4000)
    centre, spread = fmean(values), pvariance(values)
    # The mean of 4,000 sums has this standard error; their variance that relative error.
    assert fmean(sums) == pytest.approx(size * centre, abs=5 * sqrt(size * spread / 4000))
    assert pvariance(sums) == pytest.approx(size * spread, rel=0.15)
    assert all(size * min(values) <= each <= size * max(values) for each in sums)
    assert sum_draws(Random(0), made.sample(values, size), 10) == sums[:10]


@pytest.mark.parametrize("trials", [0, 1, 5, 40])
@pytest.mark.parametrize("chance", ["1", "01", "11", "001", "0" * 20, "1" * 20])
def test_a_binomial_number_has_its_distribution(trials, chance):
    rate = int(chance, 2) / 2 ** len(chance)
    source = Random(trials)
    found = Counter(_draw_binomial(source.getrandbits, trials, chance) for _ in range(4000))
    for successes in range(trials + 1):
        expected = comb(trials, successes) * rate**successes * (1 - rate) ** (trials - successes)
        error = 5 * sqrt(expected * (1 - expected) / 4000) + 0.001
        assert found[successes] / 4000 == pytest.approx(expected, abs=error)
