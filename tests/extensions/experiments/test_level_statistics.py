"""Slopes within entries, shares of items in clusters, and levels with other entries."""

from __future__ import annotations

from random import Random

import pytest

from checkers.statistics import TrialCounts, wilson
from extensions.experiments.level_statistics import (
    compare_unpaired,
    fisher,
    item_interval,
    slope_within,
)


def test_a_slope_is_that_within_entries_whatever_their_height():
    points = {
        ("a", "1"): [(0.0, 0.9), (1.0, 0.8), (2.0, 0.7)],
        ("b", "2"): [(3.0, 0.5), (5.0, 0.3)],
    }
    found = slope_within(points)
    assert found.value == pytest.approx(-0.1)
    low, high = found.interval
    assert -1 <= low < -0.1 < high <= 1


def test_equal_slopes_of_many_entries_have_a_narrow_interval():
    points = {(str(n), str(n)): [(0.0, 0.9), (1.0, 0.8), (2.0, 0.7)] for n in range(100)}
    low, high = slope_within(points).interval
    assert -0.13 < low < -0.1 < high < -0.07


def test_a_slope_is_least_squares_and_its_interval_holds_it():
    points = {(str(n), str(n)): [(0.0, 0.0), (1.0, float(n % 2))] for n in range(40)}
    found = slope_within(points)
    assert found.value == pytest.approx(0.5)
    low, high = found.interval
    assert 0.3 < low < 0.5 < high < 0.7
    assert slope_within(points) == found


@pytest.mark.parametrize("slope", [0.0, -0.1, 0.25])
def test_nine_in_ten_intervals_contain_the_slope(slope):
    source, held = Random(1), 0
    for _ in range(200):
        points = {
            (str(n // 4), str(n)): [
                (float(x), float(source.random() < 0.5 + slope * (x - 1.5))) for x in range(4)
            ]
            for n in range(60)
        }
        low, high = slope_within(points).interval
        held += low <= slope <= high
    assert held >= 180


def test_where_nothing_varies_there_is_no_slope():
    assert slope_within({("a", "1"): [(1.0, 0.2), (1.0, 0.9)]}) is None
    assert slope_within({}) is None


def test_a_share_counts_items_and_clusters():
    parts = [("a", 3, 4), ("a", 1, 1), ("b", 0, 5), ("c", 0, 0)]
    low, high = item_interval(parts)
    assert 0.0 <= low < 0.1
    assert 0.8 < high <= 1.0
    assert item_interval([("a", 2, 2), ("b", 1, 1)]) == pytest.approx(wilson(2, 2))


@pytest.mark.parametrize(
    ("first", "second", "p_value"),
    [
        ((3, 4), (1, 4), 34 / 70),
        ((5, 5), (0, 5), 2 / 252),
        ((2, 4), (2, 4), 1.0),
        ((0, 3), (0, 9), 1.0),
    ],
)
def test_the_exact_test_of_fisher(first, second, p_value):
    assert fisher(first, second) == pytest.approx(p_value)


def test_levels_with_other_entries_are_compared_as_two_samples():
    first = [TrialCounts(f"a{n}", 1, 1) for n in range(20)]
    second = [TrialCounts(f"b{n}", 1, int(n < 5)) for n in range(20)]
    found = compare_unpaired(first, second)
    assert (found.first, found.second, found.difference) == (1.0, 0.25, -0.75)
    low, high = found.interval
    assert -0.95 <= low < -0.75 < high < -0.4
    assert found.p_value < 0.001
    assert compare_unpaired(first, first).p_value == 1.0
