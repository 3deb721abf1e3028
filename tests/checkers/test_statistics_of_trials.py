from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.statistics import (
    Z_95,
    TrialCounts,
    cluster_interval,
    pass_at_1,
    pass_at_k,
    pass_hat_k,
    sampling_error,
    strata_interval,
    wilson,
)

attempts = st.integers(1, 7).flatmap(
    lambda trials: st.builds(
        TrialCounts, st.sampled_from("abc"), st.just(trials), st.integers(0, trials)
    )
)
entries = st.lists(attempts, min_size=1, max_size=8)


def drawn(entry, k):
    """Return all ways to draw k of an entry's trials, each as whether they passed."""
    passed = [index < entry.passed for index in range(entry.trials)]
    return list(combinations(passed, k))


def mean(values):
    """Return the mean of numbers."""
    listed = list(values)
    return sum(listed) / len(listed)


# Formulas


@given(entries)
def test_pass_at_1_is_the_mean_share_of_passed_trials(some):
    expected = mean(mean(way) for entry in some for way in [drawn(entry, entry.trials)[0]])
    assert pass_at_1(some) == pytest.approx(expected)


@given(entries, st.integers(1, 7))
def test_pass_at_k_is_how_often_any_of_k_drawn_trials_passed(some, k):
    some = [entry for entry in some if entry.trials >= k] or [TrialCounts("a", k, k // 2)]
    expected = mean(mean(map(any, drawn(entry, k))) for entry in some)
    assert pass_at_k(some, k)[-1] == pytest.approx(expected)


@given(entries, st.integers(1, 7))
def test_pass_hat_k_is_how_often_all_of_k_drawn_trials_passed(some, k):
    some = [entry for entry in some if entry.trials >= k] or [TrialCounts("a", k, k // 2)]
    expected = mean(mean(map(all, drawn(entry, k))) for entry in some)
    assert pass_hat_k(some, k)[-1] == pytest.approx(expected)


@given(entries)
def test_one_trial_of_them_is_the_same_by_all_three(some):
    assert pass_at_k(some, 1) == pytest.approx([pass_at_1(some)])
    assert pass_hat_k(some, 1) == pytest.approx([pass_at_1(some)])


@pytest.mark.parametrize(
    ("trials", "passed", "k", "any_passes", "all_pass"),
    [
        (5, 0, 3, 0.0, 0.0),
        (5, 5, 3, 1.0, 1.0),
        (5, 2, 3, 0.9, 0.0),
        (4, 2, 2, 5 / 6, 1 / 6),
        (3, 2, 3, 1.0, 0.0),
    ],
)
def test_known_values(trials, passed, k, any_passes, all_pass):
    some = [TrialCounts("a", trials, passed)]
    assert pass_at_k(some, k)[-1] == pytest.approx(any_passes)
    assert pass_hat_k(some, k)[-1] == pytest.approx(all_pass)


def test_thousands_of_trials_are_as_exact_as_fractions():
    size, passed, failed = 4000, 3990, 10
    at, hat = (find([TrialCounts("a", size, passed)], size) for find in (pass_at_k, pass_hat_k))
    assert len(at) == len(hat) == size
    for k in (1, 2, 500, 2000, size):
        exact = Fraction(comb(passed, k), comb(size, k)), Fraction(comb(failed, k), comb(size, k))
        assert hat[k - 1] == pytest.approx(float(exact[0]), rel=k * 3e-16)
        assert at[k - 1] == pytest.approx(float(1 - exact[1]), rel=1e-15)


def test_many_trials_take_as_many_steps_as_there_are():
    started = process_time()
    pass_at_k([TrialCounts("a", 50_000, 25_000)], 50_000)
    assert process_time() - started < 1


def test_every_entry_counts_the_same_however_many_trials_it_has():
    some = [TrialCounts("a", 1, 1), TrialCounts("b", 9, 0)]
    assert pass_at_1(some) == 0.5


# The interval


def correlated(clusters=50, size=4, seed=0):
    """Return entries that pass or fail together with those of their cluster."""
    source = Random(seed)
    passed = [source.random() < 0.5 for _ in range(clusters)]
    return [TrialCounts(f"c{i}", 1, int(passed[i])) for i in range(clusters) for _ in range(size)]


def width(interval):
    """Return how wide an interval is."""
    low, high = interval
    return high - low


def test_the_interval_of_entries_that_pass_together_is_wider_than_that_of_independent_ones():
    together = correlated()
    alone = [entry._replace(cluster=str(i)) for i, entry in enumerate(together)]
    assert pass_at_1(together) == pass_at_1(alone)
    # With four entries that are all alike in a cluster, the error is that of a fourth of them.
    ratio = width(cluster_interval(together)) / width(cluster_interval(alone))
    assert ratio == pytest.approx(2, rel=0.15)


def test_the_interval_of_a_weighted_mean_lies_about_the_mean():
    some = [TrialCounts(str(i), 1, int(i % 5 == 0)) for i in range(500)]
    more = [TrialCounts(str(i), 2, int(i % 2 == 0)) for i in range(500)]
    low, high = strata_interval([(0.75, some), (0.25, more)])
    mean = 0.75 * 0.2 + 0.25 * 0.25
    margin = width(cluster_interval(some)) / 2
    assert mean - margin < low < mean < high < mean + margin


def test_the_interval_is_about_that_of_the_normal_distribution_where_that_holds():
    some = [TrialCounts(str(i), 1, int(i % 5 == 0)) for i in range(500)]
    low, high = cluster_interval(some)
    margin = Z_95 * (0.2 * 0.8 / 500) ** 0.5
    assert (low, high) == (
        pytest.approx(0.2 - margin, abs=0.006),
        pytest.approx(0.2 + margin, abs=0.006),
    )


def test_a_cluster_weighs_as_much_as_it_has_entries():
    some = [TrialCounts(str(i), 1, int(i % 2)) for i in range(40) for _ in range(9 if i % 2 else 1)]
    low, high = cluster_interval(some)
    assert 0.8 < low < pass_at_1(some) == 0.9 < high < 1.0


def test_the_interval_does_not_change_with_the_order_within_clusters():
    some = correlated()
    inside = sorted(some, key=lambda entry: int(entry.cluster[1:]))
    assert cluster_interval(inside) == cluster_interval(some)


@given(entries)
def test_the_interval_lies_within_what_is_possible(some):
    low, high = cluster_interval(some)
    assert 0.0 <= low <= high <= 1.0


@pytest.mark.parametrize(
    "some",
    [
        [TrialCounts(str(i), 1, 0) for i in range(4)],
        [TrialCounts(str(i), 1, 1) for i in range(4)],
        [TrialCounts("a", 10, 5)],
        [TrialCounts(str(i), 2, 1) for i in range(4)],
        [TrialCounts("a", 1, 1), TrialCounts("a", 1, 0)],
    ],
    ids=["none", "all", "one entry", "half of each", "one cluster"],
)
def test_the_interval_of_few_entries_that_all_agree_is_not_a_point(some):
    # 4 of 4 does not prove that all would pass, and one entry says little about the others.
    assert width(cluster_interval(some)) > 0.1


# The error of a sample


def test_a_sample_of_all_has_no_error():
    assert sampling_error(0.5, 10, 10) == 0.0
    assert sampling_error(0.5, 11, 10) == 0.0
    assert sampling_error(0.5, 0, 0) == 0.0
    assert sampling_error(0.0, 2, 3) == pytest.approx(0.5**0.5)


def test_the_error_of_a_sample_is_that_of_drawing_without_replacement():
    population = [1] * 3 + [0] * 5
    size = 3
    ways = [mean(way) for way in combinations(population, size)]
    assert len(ways) == comb(8, 3)
    deviation = mean((rate - 3 / 8) ** 2 for rate in ways) ** 0.5
    assert sampling_error(3 / 8, size, 8) == pytest.approx(Z_95 * deviation)


@given(st.floats(0, 1), st.integers(1, 500), st.integers(1, 500))
def test_the_error_shrinks_with_the_sample(rate, size, population):
    error = sampling_error(rate, size, population)
    assert error >= sampling_error(rate, size + 1, population) >= 0.0
    assert error <= 1.0


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_small_sample_that_agrees_is_not_without_error(rate):
    # 5 of 5 in a sample of 800 entries leaves the other 795 open.
    assert sampling_error(rate, 5, 800) > 0.1


def test_the_interval_does_not_depend_on_order_or_names():
    some = [TrialCounts(f"c{n // 3}", 4, n * 7 % 5) for n in range(60)]
    renamed = [entry._replace(cluster=f"x{entry.cluster[::-1]}") for entry in reversed(some)]
    assert cluster_interval(renamed) == cluster_interval(some)


def test_entries_that_are_independent_have_wilson_s_interval():
    some = [TrialCounts(str(i), 1, int(i < 7)) for i in range(10)]
    assert cluster_interval(some) == pytest.approx(wilson(7, 10), rel=1e-12)
    again = [*some, some[0]._replace(cluster="10", trials=2)]
    assert cluster_interval(again) != wilson(7, 11)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 1)])
def test_a_weighted_mean_without_variance_has_the_interval_of_its_clusters(first, second):
    some = [TrialCounts(str(i), 1, first) for i in range(10)]
    more = [TrialCounts(str(i), 1, second) for i in range(6)]
    found = strata_interval([(0.5, some), (0.5, more)])
    assert found == pytest.approx(wilson(10 * first, 10))


def test_a_weighted_mean_of_equal_differences_is_not_a_point():
    some = [TrialCounts(str(i), 1, 1) for i in range(10)]
    more = [TrialCounts(str(i), 1, 0) for i in range(6)]
    low, high = strata_interval([(0.5, some), (0.5, more)])
    assert low < 0.4 < 0.6 < high


@given(entries)
def test_one_set_has_the_interval_of_its_entries(some):
    assert strata_interval([(0.3, some)]) == pytest.approx(cluster_interval(some))


def test_independent_sets_of_equal_weight_are_one_sample():
    some = [TrialCounts(f"a{i}", 1, i % 2) for i in range(20)]
    more = [TrialCounts(f"b{i}", 1, i % 2) for i in range(20)]
    found = strata_interval([(1, some), (1, more)])
    assert found == pytest.approx(wilson(20, 40))


def test_clusters_that_pass_or_fail_as_a_whole_count_once():
    low, high = cluster_interval(correlated(200, 4))
    passed = sum(entry.passed for entry in correlated(200, 4)) / 4
    assert (low, high) == pytest.approx(wilson(passed, 200))


def test_variants_that_are_independent_count_nearly_as_single_entries():
    source = Random(3)
    some = [TrialCounts(str(i // 4), 1, int(source.random() < 0.5)) for i in range(2000)]
    total = sum(entry.passed for entry in some)
    assert width(cluster_interval(some)) == pytest.approx(width(wilson(total, 2000)), rel=0.1)
