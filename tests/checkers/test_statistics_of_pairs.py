from __future__ import annotations

from itertools import product
from math import ceil
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checkers.statistics import (
    EntryPair,
    TrialCounts,
    compare,
    count_connor_pairs,
    count_needed_entries,
    difference_interval,
    holm,
    mcnemar,
    sign_flip,
)

counts = st.integers(0, 30)


def pairs(*entries, trials=1):
    """Return pairs of how often an entry passed in either run, with the cluster it is in."""
    return [
        EntryPair(TrialCounts(cluster, trials, first), TrialCounts(cluster, trials, second))
        for cluster, first, second in entries
    ]


def singles(worse, better, equal):
    """Return independent pairs of single trials."""
    outcomes = [(1, 0)] * worse + [(0, 1)] * better + [(1, 1)] * equal
    return pairs(*[(str(n), *outcome) for n, outcome in enumerate(outcomes)])


# McNemar's test


@pytest.mark.parametrize(
    ("worse", "better", "expected"),
    # As scipy.stats.binomtest has them; the first is Bentur et al. (2009).
    [(7, 1, 0.0703125), (0, 6, 0.03125), (10, 20, 0.09873714670538902), (5, 5, 1.0), (0, 0, 1.0)],
)
def test_mcnemar(worse, better, expected):
    assert mcnemar(worse, better) == pytest.approx(expected, rel=1e-12)


@given(counts, counts)
def test_mcnemar_does_not_care_which_run_is_first(worse, better):
    assert mcnemar(worse, better) == mcnemar(better, worse)


def test_mcnemar_of_many_pairs():
    assert mcnemar(1_000, 1_000) == 1.0
    assert mcnemar(1_000, 2_000) < 1e-70


# The sign-flip test


@given(counts, counts)
def test_flipping_single_trials_is_mcnemar(worse, better):
    assert sign_flip([-1] * worse + [1] * better) == pytest.approx(mcnemar(worse, better))


@given(st.lists(st.integers(-5, 5), max_size=8))
def test_the_flips_are_counted_as_if_one_by_one(differences):
    flips = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    share = sum(flip >= abs(sum(differences)) for flip in flips) / len(flips)
    assert sign_flip(differences) == pytest.approx(share)


def test_flipping_few_large_differences_among_many_small_ones_is_fast():
    started = process_time()
    assert sign_flip([840] * 60 + [1, -1] * 750) == pytest.approx(8.852275314792616e-19)
    assert process_time() - started < 3


def test_nothing_to_flip():
    assert sign_flip([]) == sign_flip([0, 0]) == 1.0


# Intervals


def interval(worse, better, equal):
    """Return the interval of independent pairs of single trials."""
    return difference_interval([(pair.difference, 1) for pair in singles(worse, better, equal)])


def test_the_interval_of_independent_pairs():
    # Bentur et al. (2009): 1 and 7 of 21 pairs are discordant.
    assert interval(7, 1, 13) == pytest.approx((-0.508, -0.0134), abs=5e-4)


@given(counts, counts, counts)
def test_an_interval_turns_with_the_runs(worse, better, equal):
    if worse + better + equal == 0:
        equal = 1
    low, high = interval(worse, better, equal)
    assert interval(better, worse, equal) == pytest.approx((-high, -low))
    assert -1 <= low <= high <= 1


def test_an_interval_is_wider_where_entries_fall_together():
    outcomes = [(0, 1), (1, 0), (0, 1), (0, 1), (1, 1)]
    apart = compare(pairs(*[(f"{n}{m}", *o) for n in range(4) for m, o in enumerate(outcomes * 4)]))
    together = compare(pairs(*[(f"{m}", *o) for n in range(4) for m, o in enumerate(outcomes * 4)]))
    assert together.interval[0] < apart.interval[0] < apart.interval[1] < together.interval[1]
    assert together.p_value > apart.p_value


def test_an_interval_of_runs_that_never_differ():
    low, high = compare(pairs(*[(str(n % 5), 1, 1) for n in range(20)])).interval
    assert low == -high < 0


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 3), st.integers(0, 3)), min_size=1
    )
)
@example([(str(n), 0, 1) for n in range(5)])
@example([(str(n), 0, 1) for n in range(8)])
@example([(str(n), 0, 3 if n < 2 else 1) for n in range(8)])
@example([(str(n), 1, 2) for n in range(1200)])
def test_the_interval_contains_zero_exactly_where_the_difference_is_noise(entries):
    found = compare(pairs(*entries, trials=3))
    low, high = found.interval
    assert found.is_noise == (low <= 0.0 <= high)
    assert low - 1e-12 <= found.difference <= high + 1e-12


# How many entries it takes


@pytest.mark.parametrize(
    # Published by calculators that follow Connor (1987).
    ("discordant", "difference", "expected"),
    [(0.5, 0.4, 23), (0.45, 0.15, 155)],
)
def test_connor(discordant, difference, expected):
    assert ceil(count_connor_pairs(discordant, difference)) == expected


def test_entries_needed_by_independent_pairs_are_connors():
    assert count_needed_entries(singles(15, 30, 55)) == 155


def test_entries_that_fall_together_are_needed_in_greater_number():
    outcomes = [(1, 0)] * 15 + [(0, 1)] * 30 + [(1, 1)] * 55
    together = pairs(*[(str(n // 3), *outcome) for n, outcome in enumerate(outcomes)])
    assert count_needed_entries(together) > 155


def test_no_number_of_entries_shows_what_is_not_there():
    assert count_needed_entries(singles(5, 5, 10)) is None


# All in all


def test_single_trials_of_independent_entries():
    found = compare(singles(1, 7, 12))
    assert (found.entries, found.worse, found.better) == (20, 1, 7)
    assert (found.first, found.second) == (13 / 20, 19 / 20)
    assert found.difference == pytest.approx(0.3)
    assert found.p_value == found.mcnemar == pytest.approx(0.0703125)
    assert found.interval == pytest.approx((0.0, interval(1, 7, 12)[1]))
    assert found.is_noise


def test_a_clear_difference_is_no_noise():
    assert not compare(singles(1, 20, 12)).is_noise


@pytest.mark.parametrize(("p_value", "is_noise"), [(0.049, False), (0.05, True), (1.0, True)])
def test_a_difference_below_five_percent_is_no_noise(p_value, is_noise):
    found = compare(singles(1, 7, 12))._replace(p_value=p_value)
    assert found.is_noise is is_noise


def test_several_trials_are_compared_by_pass_rate():
    found = compare(pairs(("a", 0, 4), ("b", 1, 3), ("c", 4, 4), ("d", 2, 1), trials=4))
    assert (found.worse, found.better, found.mcnemar) == (1, 2, None)
    assert found.difference == pytest.approx((1 + 0.5 - 0.25) / 4)
    # Of the eight ways to give 4, 2 and 1 signs, four lead to a sum as far from zero as 5.
    assert found.p_value == 0.5


def test_numbers_of_trials_may_differ():
    mixed = [EntryPair(TrialCounts("a", 3, 3), TrialCounts("a", 7, 0)), *singles(0, 1, 1)]
    found = compare(mixed)
    assert found.difference == pytest.approx(0)
    assert found.p_value == 1.0


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 3)), min_size=1)
)
@example([("a", 1, 0), ("b", 0, 0), ("b", 2, 0)])
def test_the_runs_may_be_exchanged(entries):
    there = compare(pairs(*entries, trials=3))
    back = compare(pairs(*[(cluster, b, a) for cluster, a, b in entries], trials=3))
    assert (there.p_value, there.needed) == (back.p_value, back.needed)
    assert (there.worse, there.better) == (back.better, back.worse)
    assert there.difference == -back.difference
    low, high = back.interval
    assert there.interval == pytest.approx((-high, -low))


# several comparisons


@pytest.mark.parametrize(
    ("values", "corrected"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.5, 0.9, 0.6], [1.0, 1.0, 1.0]),
        ([0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_several_p_values_are_corrected_as_holm_does(values, corrected):
    assert holm(values) == pytest.approx(corrected)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_a_correction_keeps_the_order_and_makes_nothing_smaller(values):
    corrected = holm(values)
    order = sorted(range(len(values)), key=values.__getitem__)
    assert all(p <= q <= 1 for p, q in zip(values, corrected, strict=True))
    assert sorted(corrected) == [corrected[index] for index in order]


def test_equal_runs_with_different_trials_have_the_interval_of_single_trials():
    def pairs(trials):
        counts = [(str(entry), entry % 2) for entry in range(60)]
        return [
            EntryPair(TrialCounts(name, trials, trials * passed), TrialCounts(name, 1, passed))
            for name, passed in counts
        ]

    assert compare(pairs(4)).interval == pytest.approx(compare(pairs(1)).interval)
