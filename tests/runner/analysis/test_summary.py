from __future__ import annotations

import pytest

from runner.analysis.summary import (
    Latency,
    Totals,
    rates_of,
    summary,
    too_many_errors,
    usage_lines,
)
from tests.runner.records.made import episode
from trajectories.schema import Category


def outcomes(category, *results, trials=1):
    """Return outcomes of entries, as many trials of each as there are results."""
    return [
        episode(f"{category}_{number // trials}", number % trials, category, result, 1, 0)
        for number, result in enumerate(results)
    ]


def test_scores_by_category():
    found = rates_of([*outcomes("base", "passed", "failed"), *outcomes("rest", "passed")])
    assert {name: (rate.value, rate.entries) for name, rate in found.items()} == {
        "base": (0.5, 2),
        "rest": (1, 1),
    }


def test_errors_are_not_counted_as_failures():
    found = rates_of([*outcomes("base", "passed", "error"), *outcomes("rest", "error")])
    assert {name: (rate.value, rate.entries) for name, rate in found.items()} == {"base": (1, 1)}


def test_trials_of_an_entry_are_no_independent_entries():
    found = rates_of(outcomes("base", "passed", "failed", "passed", "passed", trials=2))
    assert (found["base"].value, found["base"].entries) == (0.75, 2)


@pytest.mark.parametrize(("errors", "too_many"), [(0, False), (2, False), (3, True)])
def test_more_than_two_percent_are_too_many_errors(errors, too_many):
    results = ["error"] * errors + ["passed"] * (100 - errors)
    assert too_many_errors(outcomes("base", *results)) is too_many


@pytest.mark.parametrize(("category", "shown"), [("simple_python", True), ("base", False)])
def test_the_groups_are_shown_with_single_turns_only(single_turn, folders, category, shown):
    entry = folders if category == "base" else single_turn("python", {"name": "wait"})
    found = [episode(entry.id, 0, category, "passed", 1, 1)]
    text = "\n".join(summary(found, [entry], 1, 1, allow_errors=False, field=True))
    assert ("\ngroup " in text) is shown
    assert ("BFCL's" in text) is shown


def test_too_many_errors_show_no_groups(single_turn):
    entry = single_turn("python", {"name": "wait"}, category=Category.SIMPLE_PYTHON)
    found = [episode(entry.id, 0, "simple_python", "error", 0, 0)]
    assert "\ngroup " not in "\n".join(summary(found, [entry], 1, 1, allow_errors=False))


def test_latency_as_the_field_has_it():
    found = Latency.of([1.0, 1.0, 3.0, 8.0])
    assert found.mean == 3.25
    assert found.deviation == pytest.approx(3.304, abs=0.001)
    assert (found.p50, found.p95) == (2.0, pytest.approx(7.25))


@pytest.mark.parametrize("latencies", [[], [1.0]])
def test_one_request_has_no_spread(latencies):
    assert Latency.of(latencies) is None


def test_what_requests_used():
    totals = Totals(4, 1000, 100, [1.0, 1.0, 3.0, 8.0], 0.02)
    assert list(usage_lines(totals)) == [
        "4 requests, 1000 tokens in, 100 out, cost $0.0200, $5.0000 per 1,000 requests",
        "latency of a request: mean 3.250 s, standard deviation 3.304 s, p50 2.000 s, p95 7.250 s",
    ]


def test_a_price_that_is_unknown():
    assert list(usage_lines(Totals(0, 0, 0, [], None))) == [
        "0 requests, 0 tokens in, 0 out, cost unknown"
    ]
