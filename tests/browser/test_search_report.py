"""The tree of a search on the page: it opens, and what was undone stands apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from extensions.search.record import search_of
from runner.analysis.replayed_runs import replay_run
from runner.analysis.report.run_report import report
from runner.cli import main
from runner.records.recorded_run import open_run
from tests.browser.conftest import check_with_axe
from trajectories.dataset import load_embedded
from trajectories.schema import Category


def test_a_search_shows_its_branches(show: Callable[..., Page], tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    asked = ["search", "--model", "scripted:0.5", "--category", "base", "--limit", "2"]
    assert main([*asked, "--run-dir", str(folder)]) == 0
    run = open_run(folder / "dfsdt")
    [undone, *_] = [each for each in run.records if (tree := search_of(each)) and tree.undone]
    assert run.profile is not None
    html = "".join(report([replay_run(run, load_embedded([Category.BASE]), run.profile, 20)]))
    page = show(html, f"#e/{undone.id}/0")
    page.locator("details.search summary").click()
    expect(page.locator(".search .point.undone").first).to_be_visible()
    searched = search_of(undone)
    assert searched is not None
    expect(page.locator(".search .point")).to_have_count(searched.requests)
    check_with_axe(page)
