from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.reasons import Reason
from checkers.statistics import Score, cohen_kappa, score, sum_draws, wilson
from checkers.turn import inference_error
from checkers.verdict import Failure, Verdict


def test_a_score_counts_episodes_and_turns():
    verdicts = [
        Verdict(True, None, None, 3, 3),
        Verdict(False, Failure(Reason.EMPTY_TURN), 2, 4, 2),
        inference_error(5),
    ]
    assert score(iter(verdicts)) == Score(entries=3, passed=1, turns=12, turns_passed=5)


def test_the_score_of_nothing():
    nothing = score([])
    assert nothing == Score(0, 0, 0, 0)
    assert (nothing.rate, nothing.interval) == (0.0, (0.0, 1.0))


def test_a_rate_with_its_interval():
    some = Score(entries=100, passed=50, turns=0, turns_passed=0)
    assert some.rate == 0.5
    assert some.interval == wilson(50, 100)


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


def test_a_known_kappa():
    # The usual textbook table: two readers of 50 proposals, yes or no.
    table = {("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}
    pairs = [pair for pair, times in table.items() for _ in range(times)]
    assert cohen_kappa(pairs) == pytest.approx(0.4)
    assert cohen_kappa([(b, a) for a, b in pairs]) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([], None),
        ([("a", "a")] * 3, None),
        ([("a", "a"), ("b", "b"), ("c", "c")], 1.0),
        ([("a", "b"), ("b", "a")], -1.0),
        ([("a", "a"), ("a", "b")], 0.0),
    ],
)
def test_kappa_at_its_ends(pairs, kappa):
    assert cohen_kappa(pairs) == kappa


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


@pytest.mark.parametrize("size", [1, 2, 7, 200, 255, 256, 257, 1044])
@pytest.mark.parametrize("kinds", [1, 2, 9, 300])
def test_sums_of_draws_are_those_that_random_gives(size, kinds):
    made = Random(size)
    values = sorted([made.randrange(kinds) << 32 | made.choice([1, 3]) for _ in range(size)])
    ours, its = Random(0), Random(0)
    expected = [sum(its.choices(values, k=size)) for _ in range(30)]
    assert sum_draws(ours, values, 30) == expected
    assert ours.random() == its.random()
