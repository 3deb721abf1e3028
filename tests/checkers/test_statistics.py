from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.statistics import wilson


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
