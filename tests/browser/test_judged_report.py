"""The report on a run on which there are votes of judges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from extensions.judges.judged_episode import exhibits
from extensions.judges.label_rules import TurnObservation
from extensions.judges.votes import JudgeDefinition, Vote, VoteStore, find_votes_folder
from runner.records.run_file_mask import SecretMask
from tests.browser.conftest import check_with_axe, within
from tests.browser.test_hostile import TEXTS
from tests.browser.test_report import RIGHT, WRONG
from tests.runner.analysis.report.making import source_of, viewed

Visit = Callable[..., Page]


def test_label_votes_and_reasons_are_shown(
    visit: Visit, dataset_of, help_desk, tmp_path: Path
) -> None:
    keys = {(help_desk.id, 0): RIGHT, (help_desk.id, 1): WRONG}
    run = viewed(dataset_of(help_desk), source_of(keys, path=tmp_path))
    judge = JudgeDefinition(TEXTS["image"], None, "", "steps")
    first = next(exhibits(run.episodes, "steps"))
    with VoteStore(
        find_votes_folder(tmp_path) / judge.folder, judge, Vote, {}, SecretMask([])
    ) as store:
        for draw, answer in enumerate(("solved", "partly", "solved")):
            turns = [
                TurnObservation(n, "yes", True, True, answer, TEXTS["script"]) for n in range(3)
            ]
            store.append(Vote(*first.key, draw, first.brief.sha256, turns))
    page = visit(run)
    expect(page.locator(".judge")).to_contain_text(["100.0%"])
    expect(page.locator(".judge .outcomes")).to_have_text("1 pass")
    expect(page.locator("tr.of-fold td.judged")).to_have_text(["pass 2/3", ""])
    page.click("button.fold")
    page.locator("table.episodes td.id a").first.click()
    part = page.locator(".summary .judged")
    expect(part).to_contain_text("pass 2/3")
    expect(part).to_contain_text(TEXTS["image"])
    part.locator("summary").click()
    expect(part.locator("li").nth(1)).to_contain_text("fail: turn 1: partly (")
    assert page.evaluate("window.ran") is None
    check_with_axe(page)
    page.keyboard.press("]")
    expect(page).to_have_url(within(f"#e/{help_desk.id}/1"))
    expect(page.locator(".summary")).to_be_visible()
    expect(page.locator(".judged")).to_have_count(0)
