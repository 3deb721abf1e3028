from __future__ import annotations

from math import hypot

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.statistics import TrialCounts, wilson
from runner.analysis.bfcl_table import CLASSIC, classic, score_rows, table
from tests.group_scores import judged_once
from trajectories.schema import Category

EVERYTHING = [category.value for category in Category]
COUNTS = st.integers(1, 50).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SCORES = st.dictionaries(st.sampled_from(EVERYTHING), COUNTS)


def rates(**counts):
    """Return the rates of categories of which some passed of some."""
    return {category: judged_once(*count) for category, count in counts.items()}


def rows(**counts):
    """Return the lines of a table by their path."""
    return {"/".join(row.path): row for row in table(rates(**counts))}


def test_rest_counts_in_executable_simple():
    found = classic(rates(exec_simple=(10, 10), rest=(0, 10)))
    assert found["executable simple"].value == pytest.approx(0.5)
    assert len(found) == 9


def test_simple_is_the_mean_of_three_languages():
    found = rows(simple_python=(9, 10), simple_java=(3, 6), simple_javascript=(1, 10))
    assert found["overall/non-live/simple"].rate.value == pytest.approx(0.5)
    assert found["overall/non-live/simple"].rate.entries == 26


def test_non_live_counts_simple_as_one_of_four():
    found = rows(
        simple_python=(1, 1),
        simple_java=(1, 1),
        simple_javascript=(1, 1),
        multiple=(1, 2),
        parallel=(1, 4),
        parallel_multiple=(0, 9),
    )
    assert found["overall/non-live"].rate.value == pytest.approx((1 + 0.5 + 0.25 + 0) / 4)


def test_live_is_weighted_by_entries():
    found = rows(live_simple=(9, 10), live_multiple=(10, 90))
    assert found["overall/live"].rate.value == pytest.approx(0.19)


def test_the_field_weighs_a_live_category_that_was_not_run_as_large_as_it_is():
    found = rows(live_simple=(129, 258), live_parallel=(16, 16), live_parallel_multiple=(24, 24))
    assert found["overall/live"].rate.value == pytest.approx((129 + 40) / 298)
    assert found["overall/live"].field == pytest.approx((129 + 40) / 1351)


def test_irrelevance_is_unweighted():
    found = rows(irrelevance=(1, 1), live_irrelevance=(0, 99))
    assert found["overall/irrelevance"].rate.value == pytest.approx(0.5)


def test_overall_has_the_fields_weights():
    found = rows(
        multiple=(1, 2),
        live_simple=(1, 4),
        irrelevance=(1, 1),
        live_irrelevance=(1, 1),
        base=(1, 5),
    )
    # 10, 10, 10 and 30 of 100; the 40 of the agentic categories are left out.
    overall = found["overall"]
    assert overall.rate.value == pytest.approx((10 * 0.5 + 10 * 0.25 + 10 * 1 + 30 * 0.2) / 60)
    field = 10 * 0.5 / 4 + 10 * 1 / 1097 + 10 * 1 + 30 * 0.2 / 4
    assert overall.field == pytest.approx(field / 100)
    assert overall.missing[-1] == "agentic"


def test_the_fields_figure_counts_what_was_not_run_as_0():
    found = rows(base=(1, 2), miss_func=(1, 2))
    assert found["overall/multi-turn"].rate.value == pytest.approx(0.5)
    assert found["overall/multi-turn"].field == pytest.approx(0.25)
    assert found["overall"].rate.value == pytest.approx(0.5)
    assert found["overall"].field == pytest.approx(0.3 * 0.25)


def test_what_was_not_run_is_named():
    found = rows(base=(1, 2))
    assert found["overall/multi-turn"].missing == ("miss_param", "miss_func", "long_context")
    assert found["overall/live"].rate is None
    assert found["overall/agentic"].missing == ("agentic",)


def test_executable_categories_are_no_part_of_the_overall_score():
    found = rows(exec_simple=(1, 1), rest=(0, 4))
    assert found["executable"].rate.value == pytest.approx(0.5)
    assert (found["overall"].rate, found["overall"].field) == (None, 0)
    assert found["executable/rest"].field is None


@pytest.mark.parametrize("category", ["live_relevance", "composite", "chat"])
def test_some_categories_are_shown_and_not_counted(category):
    found = rows(base=(1, 2), **{category: (3, 3)})
    assert found[category].rate.value == 1
    assert found["overall"].rate.value == pytest.approx(0.5)


def test_margins_of_independent_members_add_up_like_the_sides_of_a_triangle():
    found = rows(irrelevance=(30, 40), live_irrelevance=(30, 40))
    low, high = wilson(30, 40)
    expected = 0.75 - hypot(0.75 - low, 0.75 - low) / 2, 0.75 + hypot(high - 0.75, high - 0.75) / 2
    assert found["overall/irrelevance"].rate.interval == pytest.approx(expected)


def clustered(scenarios, **counts):
    """Return the table of categories whose entries belong to numbered scenarios."""
    found = {}
    for category, (passed, entries) in counts.items():
        trials = [TrialCounts(str(n % scenarios), 1, int(n < passed)) for n in range(entries)]
        found[category] = judged_once(passed, entries)._replace(strata=((1.0, trials),))
    return {"/".join(row.path): row.rate for row in table(found)}


def test_scenarios_are_clusters_where_members_share_them():
    rate = clustered(40, base=(30, 40), miss_func=(30, 40))["overall/multi-turn"]
    # Both members pass the same scenarios, so that two entries count as one.
    low, high = wilson(30, 40)
    assert rate.interval == pytest.approx((low, high), abs=0.03)
    alone = rows(base=(30, 40), miss_func=(30, 40))["overall/multi-turn"].rate.interval
    assert rate.interval[0] < alone[0] < alone[1] < rate.interval[1]


def test_weights_of_members_that_share_scenarios_count():
    rate = clustered(20, base=(20, 20), miss_func=(5, 10))["overall/multi-turn"]
    low, high = rate.interval
    assert rate.value == pytest.approx(0.75)
    assert 0.5 < low < 0.75 < high < 0.95


def test_a_run_has_its_score_first_and_the_mean_of_its_categories():
    rates = {"base": judged_once(1, 2), "live_simple": judged_once(4, 4)}
    score, mean, overall, *_ = score_rows(judged_once(5, 6), rates)
    assert [row.label for row in (score, mean, overall)] == [
        *("all", "mean of categories", "weighted overall")
    ]
    assert score.rate.value == pytest.approx(5 / 6)
    assert mean.rate.value == pytest.approx(0.75)
    assert overall.rate.value == pytest.approx((30 * 0.5 + 10) / 40)


@given(SCORES)
def test_a_group_lies_between_its_members(counts):
    found = rows(**counts)
    for path, row in found.items():
        inner = [r.rate for p, r in found.items() if p.rpartition("/")[0] == path and r.rate]
        if inner:
            values = [rate.value for rate in inner]
            assert min(values) - 1e-9 <= row.rate.value <= max(values) + 1e-9


@given(SCORES)
def test_every_line_is_a_share_in_its_interval(counts):
    for row in table(rates(**counts)):
        assert row.field is None or 0 <= row.field <= 1 + 1e-9
        if row.rate:
            low, high = row.rate.interval
            assert 0 <= low <= row.rate.value + 1e-9
            assert row.rate.value - 1e-9 <= high <= 1


@given(SCORES)
def test_the_field_never_gives_more(counts):
    for row in table(rates(**counts)):
        assert (row.field or 0) <= (row.rate.value if row.rate else 0) + 1e-9


@given(SCORES)
def test_every_table_has_the_same_lines(counts):
    assert [row.path for row in table(rates(**counts))] == [row.path for row in table({})]


def test_nothing_is_missing_but_the_agentic_categories_when_everything_was_run():
    found = rows(**dict.fromkeys(EVERYTHING, (1, 1)))
    assert found["overall"].missing == ("agentic",)
    assert all(row.rate for path, row in found.items() if path != "overall/agentic")


def test_the_nine_classic_groups():
    found = classic(rates(simple_python=(1, 2), simple_java=(0, 2), exec_parallel=(1, 1)))
    assert list(found) == list(CLASSIC)
    assert len(found) == 9
    assert {name: rate.value for name, rate in found.items() if rate} == {
        "AST simple": 0.25,
        "executable parallel": 1,
    }
