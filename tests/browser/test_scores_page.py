from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from runner.analysis.figures import ActCounts, RunFigures, UsageTotals
from runner.analysis.report.pages import scores_page
from runner.analysis.run_scores import RunScores
from tests.browser.conftest import check_with_axe
from tests.runner.records.made import episode

AST = ["simple_python", "multiple", "parallel", "parallel_multiple"]
EXECUTABLE = ["exec_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple"]
CLASSIC = [*AST, *EXECUTABLE, "irrelevance"]
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x00"


def scored(name="model", categories=CLASSIC):
    """Return a run in which two of three entries of each category passed."""
    outcomes = [
        episode(f"{category}_{number}", 0, category, result, 1, 0)
        for category in categories
        for number, result in enumerate(("passed", "passed", "failed"))
    ]
    totals = UsageTotals(2, 9, 9, [1.0, 3.0], None)
    return RunScores(name, Path("made-up"), "bfcl", RunFigures(outcomes, totals=totals))


@pytest.fixture
def visit_scores(show):
    """Open the page on runs."""
    return lambda *runs, **settings: show(scores_page(runs), **settings)


def test_a_chart_of_nine_groups(visit_scores):
    page = visit_scores(scored())
    expect(page.locator(".radar .spoke")).to_have_count(9)
    expect(page.locator(".radar .run-1 circle")).to_have_count(9)
    expect(page.locator(".radar .run-1 path")).to_have_count(9)
    expect(page.locator(".radar .inside")).to_have_count(1)


def test_a_group_that_was_not_run_leaves_a_gap_and_is_named(visit_scores):
    page = visit_scores(scored(categories=CLASSIC[:3]))
    expect(page.locator(".radar .run-1 circle")).to_have_count(3)
    expect(page.locator(".radar .run-1 path")).to_have_count(2)
    expect(page.locator(".radar .inside")).to_have_count(0)
    expect(page.locator(".radar .axis", has_text="not run")).to_have_count(6)
    said = re.compile("irrelevance not run")
    expect(page.locator(".radar")).to_have_attribute("aria-label", said)


def test_five_runs_are_overlaid_and_more_are_only_in_the_table(visit_scores):
    page = visit_scores(*[scored(f"model {number}") for number in range(6)])
    expect(page.locator(".radar g")).to_have_count(5)
    expect(page.locator("main")).to_contain_text("The chart shows the first 5 runs.")
    expect(page.locator(".chart table tbody tr").first.locator("td")).to_have_count(6)


def test_the_groups_of_runs_without_a_classic_one_have_no_chart(visit_scores):
    page = visit_scores(scored(categories=["base"]))
    expect(page.locator(".radar")).to_have_count(0)
    expect(page.locator("tr", has_text="multi-turn")).to_contain_text("66.7%")


def test_what_requests_took(visit_scores):
    page = visit_scores(scored())
    cells = page.locator("section", has_text="Requests").last.locator("tbody tr td")
    for number, said in enumerate(("2", "unknown", "2.000")):
        expect(cells.nth(number)).to_have_text(said)
    expect(page.locator("main")).not_to_contain_text("cache reads")


def test_what_was_made_up(visit_scores, monkeypatch):
    made_up = {"invented_functions": ActCounts(3, 1, 4)}
    monkeypatch.setattr(RunFigures, "hallucinations", made_up)
    page = visit_scores(scored())
    card = page.locator("section", has_text="Hallucinations and irreversible calls").last
    expect(card).to_contain_text("invented functions")
    expect(card.locator("tbody td").first).to_have_text("3 (25.0%)")


def test_hostile_names_are_only_shown(visit_scores):
    page = visit_scores(scored(HOSTILE))
    expect(page.locator(".legend-line")).to_contain_text("<img src=x")
    expect(page.locator("img")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_stand_out_from_the_page(visit_scores, scheme):
    page = visit_scores(scored(), color_scheme=scheme)
    style = "getComputedStyle(document.querySelector('.radar .run-1 path')).stroke"
    card = "getComputedStyle(document.querySelector('.card')).backgroundColor"
    expect(page.locator(".radar .run-1 path").first).to_be_attached()
    assert page.evaluate(style) != page.evaluate(card)


def test_it_fits_on_a_phone(visit_scores):
    page = visit_scores(scored(), scored("x" * 200), viewport={"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_axe_finds_nothing_serious(visit_scores):
    check_with_axe(visit_scores(scored(), scored("other")))
