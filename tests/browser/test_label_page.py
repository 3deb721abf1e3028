"""The page on which people label episodes: keys, notes, files saved and read, and no verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from extensions.judges.judged_episode import exhibits
from extensions.judges.label_page import label_page, win_label_page
from extensions.judges.people_labels import read_people
from extensions.judges.win_labels import pair_up, read_win_labels
from tests.browser.conftest import check_with_axe, stays
from tests.browser.test_hostile import TEXTS
from tests.browser.test_report import PHONE, RIGHT, STUCK, WRONG
from tests.conftest import user
from tests.runner.analysis.report.making import source_of, viewed

Visit = Callable[..., Page]


@pytest.fixture
def visit_labels(show, dataset_of, help_desk) -> Visit:
    """Open the page on episodes, by id and recorded turns."""

    def open_page(episodes=None, **settings):
        episodes = episodes or {"desk_0": RIGHT, "desk_1": WRONG, "desk_2": STUCK}
        data = dataset_of(*[replace(help_desk, id=id) for id in episodes])
        run = viewed(data, source_of(episodes))
        return show(label_page([*exhibits(run.episodes, "steps")]), **settings)

    return open_page


def saved(page: Page, path: Path) -> list[dict[str, object]]:
    """Save the labels and return them."""
    with page.expect_download() as download:
        page.locator("button.save").click()
    assert download.value.suggested_filename == "labels.jsonl"
    download.value.save_as(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_episodes_are_labelled_and_the_file_is_read_back(visit_labels: Visit, tmp_path) -> None:
    page = visit_labels()
    expect(page.locator("h1")).to_contain_text("1. desk_0")
    page.get_by_role("button", name="Served", exact=False).first.click()
    expect(page.locator(".count")).to_have_text("1 of 3 episodes labelled")
    page.get_by_role("button", name="Next →").click()
    expect(page.locator("h1")).to_contain_text("2. desk_1")
    page.get_by_role("button", name="Not served").click()
    page.get_by_label("Note").fill('looked at "1", not 2\n…')
    path = tmp_path / "labels.jsonl"
    assert saved(page, path) == [
        {"id": "desk_0", "trial": 0, "passed": True},
        {"id": "desk_1", "trial": 0, "passed": False, "note": 'looked at "1", not 2\n…'},
    ]
    known = {(f"desk_{number}", 0) for number in range(3)}
    assert read_people(path, known) == {("desk_0", 0): True, ("desk_1", 0): False}


def test_all_can_be_done_with_keys(visit_labels: Visit, tmp_path) -> None:
    page = visit_labels()
    for key in ("p", "j", "f", "j", "p", "k", "u", "n"):
        page.keyboard.press(key)
    expect(page.locator(".count")).to_have_text("2 of 3 episodes labelled")
    expect(page.locator("h1")).to_contain_text("2. desk_1")
    expect(page.locator("button[aria-pressed='true']")).to_have_count(0)
    found = saved(page, tmp_path / "labels.jsonl")
    assert [(each["id"], each["passed"]) for each in found] == [("desk_0", True), ("desk_2", True)]
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("the user was served", use_inner_text=True)


def test_labels_stay_when_the_page_is_opened_again(visit_labels: Visit) -> None:
    page = visit_labels()
    page.keyboard.press("p")
    expect(page.locator(".count")).to_have_text("1 of 3 episodes labelled")
    # What has no label yet comes first.
    stays(page, "document.querySelector('h1').textContent.includes('2. desk_1')")
    expect(page.locator(".count")).to_have_text("1 of 3 episodes labelled")


def test_a_file_is_gone_on_with(visit_labels: Visit, tmp_path) -> None:
    page = visit_labels()
    path = tmp_path / "earlier.jsonl"
    lines = ['{"id": "desk_2", "passed": true, "note": "fine"}', '{"id": "other", "passed": true}']
    path.write_text("\n".join([*lines, "no JSON", "null", ""]), encoding="utf-8")
    page.locator("input[type=file]").set_input_files(path)
    expect(page.locator(".count")).to_contain_text("1 of 3 episodes labelled")
    expect(page.locator(".count")).to_contain_text(
        "1 label loaded; 3 lines without an episode here"
    )
    assert saved(page, tmp_path / "out.jsonl") == [
        {"id": "desk_2", "trial": 0, "passed": True, "note": "fine"}
    ]


def test_what_is_shown_tells_nothing_of_the_verdict(visit_labels: Visit) -> None:
    page = visit_labels({"desk_1": WRONG})
    expect(page.locator(".says.call")).to_have_count(4)
    expect(page.locator(".says.result")).to_have_count(4)
    text = page.locator("main").inner_text().lower()
    for word in ("failed", "passed", "ground truth", "wrong argument", "made-up"):
        assert word not in text
    expect(page.locator(".says.user").first).to_contain_text(
        "My screen is dark.", use_inner_text=True
    )


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_shown_and_does_nothing(
    show, dataset_of, help_desk, text: str, tmp_path
) -> None:
    entry = replace(help_desk, id=text, turns=(replace(help_desk.turns[0], messages=user(text)),))
    run = viewed(dataset_of(entry, tolerant=True), source_of({text: [[text]]}))
    page = show(label_page([*exhibits(run.episodes, "steps")]))
    expect(page.locator(".says").first).to_be_visible()
    page.keyboard.press("p")
    page.get_by_label("Note").fill(text.replace("\x00", ""))
    expect(page.locator(".count")).to_contain_text("1 of 1")
    assert page.evaluate("window.ran") is None
    expect(page.locator("main img, main svg, main script, main style")).to_have_count(0)
    assert [*read_people_of(page, tmp_path, text)] == [(text, 0)]


def read_people_of(page: Page, folder: Path, id: str) -> object:
    """Save the labels and read them as ``turnwise judge`` does."""
    saved(page, folder / "labels.jsonl")
    return read_people(folder / "labels.jsonl", {(id, 0)})


@pytest.mark.parametrize("width", [320, PHONE["width"]])
def test_it_fits_a_phone(visit_labels: Visit, width: int) -> None:
    page = visit_labels(viewport={"width": width, "height": 568})
    expect(page.locator(".says.call").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_nothing_serious(visit_labels: Visit) -> None:
    check_with_axe(visit_labels())


# Pairs of episodes of two runs


@pytest.fixture
def pairs(dataset_of, help_desk):
    """Return pairs of episodes: the first run is right, wrong and stuck, the second is right."""
    made = {"desk_0": RIGHT, "desk_1": WRONG, "desk_2": STUCK, "desk_3": WRONG}
    data = dataset_of(*[replace(help_desk, id=id) for id in made])
    runs = [viewed(data, source_of(each)) for each in (made, dict.fromkeys(made, RIGHT))]
    return pair_up(*[exhibits(run.episodes, "steps") for run in runs])


def test_the_better_of_two_is_labelled_and_the_file_is_read_back(show, pairs, tmp_path) -> None:
    assert len({pair.is_swapped for pair in pairs.values()}) == 2
    page = show(win_label_page([*pairs.values()]))
    expect(page.locator(".side")).to_have_count(2)
    for pair in pairs.values():
        # The second run is better, wherever it stands.
        name = "The first is better" if pair.is_swapped else "The second is better"
        page.get_by_role("button", name=name).click()
        page.get_by_role("button", name="Next →").click()
    page.keyboard.press("0")
    page.get_by_label("Your name").fill("Ada")
    path = tmp_path / "labels.jsonl"
    lines = saved(page, path)
    assert [line["winner"] for line in lines] == ["second", "second", "second", "tie"]
    assert {line["person"] for line in lines} == {"Ada"}
    found = read_win_labels(path, pairs)
    assert [label.preference for label in found] == ["win", "win", "win", "tie"]
    page.keyboard.press("u")
    page.locator("input[type=file]").set_input_files(path)
    expect(page.locator(".count")).to_contain_text("4 of 4 pairs labelled")
    assert [line["winner"] for line in saved(page, path)] == [line["winner"] for line in lines]


def test_pairs_tell_nothing_of_verdicts_and_fit_a_phone(show, pairs) -> None:
    page = show(win_label_page([*pairs.values()]))
    expect(page.locator(".side").first).to_be_visible()
    text = page.locator("main").inner_text().lower()
    for word in ("failed", "passed", "ground truth", "org/model"):
        assert word not in text
    check_with_axe(page)
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
