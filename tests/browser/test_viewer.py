"""The viewer as one uses it: the table of runs, live; a run, comparisons, episodes side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from extensions.viewer.annotation_writer import write_annotation
from runner.records.annotations import TagsAndNote, read_annotations
from runner.records.run_store import RunStore
from tests.browser.conftest import FOCUSED, PHONE, becomes, check_with_axe, watched_page
from tests.browser.test_hostile import TEXTS
from tests.conftest import user
from tests.extensions.viewer.viewing import viewing, write_noted
from tests.runner.analysis.replayed_runs import definition, record, truth_turns
from trajectories.schema import Trajectory

LAZY = [["No."], ["No."]]

Open = Callable[..., Page]


@pytest.fixture
def data(write_lines: Callable[..., Path], folders: Trajectory, help_desk: Trajectory) -> Path:
    """A data file of two trajectories."""
    return write_lines("data.jsonl", folders, help_desk)


@pytest.fixture
def runs(tmp_path: Path, data: Path, folders: Trajectory) -> Path:
    """Three runs; two of them are of one history."""
    right = record(data, "folders_0", truth_turns(folders))
    desk = record(data, "help_desk_0", [["I will not."], [], []])
    wrong = record(data, "folders_0", LAZY)
    folder = tmp_path / "runs"
    write_noted(folder / "a", definition(data), [right, desk], 2, "2026-01-01T00:00:00")
    write_noted(folder / "b", definition(data), [wrong, desk], 2, "2026-01-02T00:00:00")
    write_noted(folder / "deep/c", definition(data, model="other"), [wrong], 9, "2026-01-03")
    return folder


@pytest.fixture
def view(browser: Browser, runs: Path, complaints: list[str]) -> Iterator[Open]:
    """Open a page of the viewer, and see at the end that there was nothing to complain of."""
    with viewing(runs) as viewer:
        pages = []

        def open_page(path: str = "", **settings: object) -> Page:
            page = watched_page(browser, viewer.url, complaints, **settings)
            pages.append(page)
            page.goto(viewer.url + path)
            page.wait_for_selector("#main > :not(.quiet)")
            return page

        yield open_page
        for page in pages:
            page.context.close()
    assert complaints == []


def names(page: Page) -> Locator:
    """Find the runs that are listed."""
    return page.locator(".of-runs .run-name > a")


PAGES = {
    "runs": "",
    "run": "run/a",
    "episode": "run/a#e/help_desk_0/0",
    "two": "compare?run=a&run=b",
    "three": "compare?run=a&run=b&run=deep/c",
    "aligned": "align?id=folders_0&run=a&run=b&run=deep/c",
}


# All runs


def test_all_runs_are_listed_the_newest_first(view: Open) -> None:
    page = view()
    expect(names(page)).to_have_text(["deep/c", "b", "a"])
    first = page.locator(".of-runs tbody tr").nth(2)
    expect(first.locator(".col-score")).to_contain_text("50.0%")
    expect(first.locator(".col-latency")).to_have_text("0.50 s")
    expect(first.locator(".col-state")).to_contain_text("finished")
    said = "2 runs of this model on this data: 50.0%, 0.0%; this one 50.0%"
    expect(first.locator("svg")).to_have_attribute("aria-label", said)
    expect(page.locator(".of-runs tbody tr").nth(0).locator("svg")).to_have_count(0)


def test_filters_and_order_are_part_of_the_address(view: Open) -> None:
    page = view()
    page.select_option('label[data-name="model"] select', "org/model")
    expect(names(page)).to_have_text(["b", "a"])
    page.locator('th[data-column="score"] button').click()
    page.fill("#search", "org finished")
    expect(page.locator(".filters .count")).to_have_text("2 of 3")
    page.reload()
    page.wait_for_selector(".of-runs tbody tr")
    expect(names(page)).to_have_text(["b", "a"])
    page.locator('th[data-column="score"] button').click()
    expect(names(page)).to_have_text(["a", "b"])
    page.fill("#search", "nothing like this")
    expect(page.locator(".empty")).to_have_text("No matching runs.")
    page.keyboard.press("Escape")
    expect(names(page)).to_have_count(3)


def test_runs_are_chosen_and_compared_by_the_keyboard(view: Open) -> None:
    page = view()
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator(".compare")).to_have_text("Compare 2 runs")
    page.keyboard.press("c")
    expect(page.locator("h1")).to_have_text("A deep/c: otherB b: org/model")
    page.keyboard.press("g")
    expect(page.locator("h1")).to_contain_text("Runs")


def test_a_run_that_comes_grows_and_goes_is_seen(
    view: Open, runs: Path, data: Path, folders: Trajectory
) -> None:
    page = view()
    page.locator(".of-runs a", has_text="deep/c").focus()
    write_noted(runs / "new", definition(data), [], 2, "2026-02-01")
    expect(page.locator(".of-runs tbody tr")).to_have_count(4)
    expect(names(page).first).to_have_text("new")
    becomes(page, FOCUSED, "deep/c")
    with RunStore.resume(runs / "new", definition(data)) as store:
        store.append(record(data, "folders_0", truth_turns(folders)))
        line = page.locator(".of-runs tbody tr").first
        expect(line.locator(".col-done")).to_contain_text("1 of 2")
        expect(line.locator(".col-state")).to_contain_text("running")
    for path in (runs / "new").iterdir():
        path.unlink()
    expect(page.locator(".of-runs tbody tr")).to_have_count(3)


def test_a_damaged_run_says_why(view: Open, runs: Path) -> None:
    (runs / "bad").mkdir()
    (runs / "bad" / "run.json").write_text("{")
    page = view()
    expect(page.locator("tr.damaged")).to_contain_text("run.json")
    expect(page.locator("tr.damaged a")).to_have_count(0)


def test_many_runs_are_listed_as_one_scrolls(view: Open, runs: Path, data: Path) -> None:
    for number in range(260):
        write_noted(runs / f"many-{number}", definition(data), [], 1, f"2025-{number:03}")
    page = view()
    expect(page.locator(".filters .count")).to_have_text("263 of 263")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.locator(".of-runs tbody tr")).to_have_count(263)


# A run


def test_the_pages_of_report_are_inside(view: Open) -> None:
    page = view("run/a")
    expect(page.locator(".big")).to_have_text("50.0% passed")
    page.locator("td.id a", has_text="folders_0").click()
    expect(page.locator(".says").first).to_be_visible()
    page.keyboard.press("e")
    expect(page.locator(".raw").first).to_be_visible()
    page.go_back()
    expect(page.locator("table.episodes tbody tr")).to_have_count(2)


def test_the_outcomes_come_first_and_the_causes_follow(view: Open) -> None:
    page = view("run/deep/c")
    expect(page.locator(".notes")).to_contain_text("appear in a few seconds")
    expect(page.locator("table.episodes tbody tr")).to_contain_text("failed")
    expect(page.locator(".notes")).to_have_count(0)
    expect(page.locator("table.episodes tbody tr")).to_contain_text(
        "made no call; this call is missing"
    )


def test_an_episode_that_is_opened_before_the_causes_shows_its_cause_later(view: Open) -> None:
    page = view("run/deep/c")
    expect(page.locator(".notes")).to_contain_text("appear in a few seconds")
    page.locator("table.episodes tbody td.id a").click()
    expect(page.locator(".summary")).to_contain_text("made no call; this call is missing")


def test_an_address_leads_to_an_episode_and_its_list_comes_after(view: Open) -> None:
    page = view("run/a#e/help_desk_0/0/1")
    expect(page.locator("#t1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("table.episodes tbody tr")).to_have_count(2)


def test_transcripts_are_searched(view: Open) -> None:
    page = view("run/a")
    page.fill("#search", "I will not.")
    expect(page.locator(".filters .count")).to_have_text("1 of 2")


def test_a_run_grows_while_it_is_looked_at(view: Open, runs: Path, data: Path) -> None:
    page = view("run/deep/c")
    expect(page.locator("table.episodes tbody tr")).to_have_count(1)
    with RunStore.resume(runs / "deep/c", definition(data, model="other")) as store:
        store.append(record(data, "help_desk_0", [["I will not."], [], []]))
        expect(page.locator("table.episodes tbody tr")).to_have_count(2)
        expect(page.locator("#live")).to_have_text("● 2 of 9")


def test_a_run_without_an_episode_waits_for_one(view: Open, runs: Path, data: Path) -> None:
    write_noted(runs / "new", definition(data), [], 2)
    page = view("run/new")
    expect(page.locator(".problem")).to_contain_text("has no finished episode")
    with RunStore.resume(runs / "new", definition(data)) as store:
        store.append(record(data, "help_desk_0", [["I will not."], [], []]))
        expect(page.locator("table.episodes tbody tr")).to_have_count(1)


def test_the_same_entry_in_other_runs(view: Open) -> None:
    page = view("run/a#e/folders_0/0")
    page.locator(".others summary").click()
    expect(page.locator(".others tbody tr")).to_have_count(3)
    page.get_by_label("Put deep/c side by side").check()
    page.locator(".others .tool").click()
    expect(page.locator(".aligned-runs")).to_contain_text("deep/c")
    expect(page.locator(".parting")).to_have_text("The runs first differ in turn 1, step 1.")


def test_a_call_is_tried_on_the_state_of_an_episode(view: Open) -> None:
    page = view("run/a#e/folders_0/0")
    page.get_by_text("Try a call").click()
    form = page.locator("form.try")
    form.get_by_label("Call").fill("touch(file_name='new&lt;.txt')")
    form.get_by_role("button").click()
    expect(form.locator("li")).to_contain_text("new&lt;.txt")
    form.get_by_label("Call").fill("ls()")
    form.get_by_label("Call").press("Enter")
    expect(form.locator(".quiet").last).to_have_text("The state is unchanged.")
    expect(form.locator("pre")).not_to_contain_text("new")
    form.get_by_label("Turn").fill("9")
    form.get_by_role("button").click()
    expect(form.locator(".problem")).to_have_text("turn: 9 must be a number from 1 to 2")
    check_with_axe(page)


def test_an_episode_that_cannot_be_shown_is_a_line(view: Open, runs: Path) -> None:
    page = view("run/a")
    for path in (runs / "b").iterdir():
        path.unlink()
    page.locator("td.id a", has_text="folders_0").click()
    page.wait_for_selector(".others")
    for path in (runs / "a").iterdir():
        path.unlink()
    page.keyboard.press("]")
    expect(page.locator(".notes")).to_contain_text("does not contain this run")


# Several runs


def test_a_flip_leads_to_its_episodes(view: Open) -> None:
    page = view("compare?run=a&run=b")
    row = page.locator(".flips tbody tr")
    expect(row).to_have_count(1)
    row.locator("td.id a").click()
    expect(page.locator(".aligned h1")).to_have_text("folders_0")
    page.go_back()
    page.locator(".flips td a", has_text="failed").click()
    expect(page.locator("#heading")).to_contain_text("b: org/model")
    expect(page.locator("h1")).to_have_text("folders_0")


def test_three_runs_show_where_they_are_not_alike(view: Open) -> None:
    page = view("compare?run=a&run=b&run=deep/c")
    expect(page.locator(".flips .badge")).to_have_text(["passed", "failed", "failed"])
    why = page.get_by_role("table").filter(has_text="cause")
    expect(why.locator("tbody td")).to_have_text(["0.0%", "100.0%", "100.0%"])
    page.keyboard.press("/")
    page.keyboard.type("nothing")
    expect(page.locator(".flips .count")).to_have_text("0")


def test_steps_that_are_not_alike_are_found_by_the_keyboard(view: Open) -> None:
    page = view("align?id=folders_0&run=a&run=b")
    page.keyboard.press("n")
    at = "document.activeElement.getAttribute('aria-label')"
    becomes(page, at, "Turn 1, step 1, differs")
    page.keyboard.press("n")
    becomes(page, at, "Turn 2, step 1, differs")
    page.keyboard.press("p")
    becomes(page, at, "Turn 1, step 1, differs")


# Every page


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_a_page_is_exported_and_opens_offline(
    view: Open, show: Callable[..., Page], path: str
) -> None:
    page = view(path)
    page.wait_for_selector("h1")
    heading = page.locator("h1").inner_text()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Export").click()
    offline = show(Path(saved.value.path()).read_text())
    if "#" in path:
        offline.locator("td.id a").click()
        offline.wait_for_selector(".summary")
    # A run that is one file has no name but its model's.
    expect(offline.locator("h1")).to_have_text(heading.removeprefix("a: "), use_inner_text=True)
    hrefs = offline.eval_on_selector_all("a", "all => all.map(a => a.getAttribute('href'))")
    assert all(href.startswith("#") for href in hrefs)


def test_the_path_of_a_page_is_copied(view: Open) -> None:
    page = view("run/a#e/help_desk_0/0", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_selector(".summary")
    page.get_by_role("button", name="Copy path").click()
    expect(page.locator("#said")).to_have_text("Copied: run/a#e/help_desk_0/0")
    assert page.evaluate("navigator.clipboard.readText()") == "run/a#e/help_desk_0/0"


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_a_page_fits_on_a_phone(view: Open, path: str) -> None:
    page = view(path, viewport=PHONE)
    page.wait_for_selector("h1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_axe_finds_nothing_serious(view: Open, path: str) -> None:
    page = view(path)
    page.wait_for_selector("h1")
    check_with_axe(page)


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_what_can_be_operated_has_a_name_and_a_size(view: Open, path: str) -> None:
    page = view(path, viewport=PHONE)
    page.wait_for_selector("h1")
    nameless = """all => all.filter(node => node.checkVisibility() &&
      !(node.textContent.trim() || node.ariaLabel || node.labels?.length)).length"""
    assert page.eval_on_selector_all("a, button, input, select", nameless) == 0
    unreached = """all => all.filter(node => node.scrollWidth > node.clientWidth + 1 &&
      getComputedStyle(node).overflowX === "auto" && node.tabIndex < 0 &&
      !node.querySelector("a, button")).length"""
    assert page.eval_on_selector_all("#main *", unreached) == 0


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_shown_and_does_nothing(
    view: Open, runs: Path, write_lines: Callable[..., Path], folders: Trajectory, text: str
) -> None:
    # Data cannot hold half a character, which a model's words can.
    whole = text.encode("utf-8", "replace").decode()
    first = replace(folders.turns[0], messages=user(whole))
    data = write_lines("hostile.jsonl", replace(folders, id=whole, turns=(first, folders.turns[1])))
    said = [[f"[mv(source={text!r}, destination='old')]", text], [text]]
    made = record(data, whole, said)
    named = "".join(each for each in whole if each not in "/\0")[:60]
    for name in (f"{named} 1", f"{named} 2"):
        write_noted(runs / name, definition(data, model=whole), [made], 1, "2027")
    page = view()
    expect(names(page)).to_have_count(5)
    page.locator(".of-runs .run-name > a").first.click()
    page.locator("td.id a").click()
    page.wait_for_selector(".others")
    expect(page.locator("#said")).to_have_text("The list shows the causes.")
    page.keyboard.press("e")
    expect(page.locator(".others tbody tr")).to_have_count(2)
    for box in page.locator(".others input").all():
        box.check()
    page.locator(".others .tool").click()
    expect(page.locator(".aligned-runs p")).to_have_count(2)
    assert page.evaluate("window.ran") is None
    expect(page.locator("main img, main script, main style")).to_have_count(0)
    hrefs = page.eval_on_selector_all("a", "links => links.map(link => link.getAttribute('href'))")
    assert all(href.startswith(("#", "/")) and not href.startswith("//") for href in hrefs)


# Tags and notes


def test_tags_are_set_kept_and_chosen_by(view: Open, runs: Path) -> None:
    page = view("run/a#e/help_desk_0/0")
    page.click(".annotate")
    page.fill("#tags", "odd, <b>")
    page.fill("#note", "See the log.")
    page.click(".annotation dialog button >> text=Save")
    expect(page.locator(".annotation .tag")).to_have_text(["odd", "<b>"])
    kept = read_annotations(runs / "a")
    assert kept == {("help_desk_0", 0): TagsAndNote(("odd", "<b>"), "See the log.")}
    page.click("text=← Episodes")
    page.select_option('label[data-name="tag"] select', "odd")
    expect(page.locator("table.episodes td.id a")).to_have_text(["help_desk_0"])
    write_annotation(runs / "b", None, TagsAndNote(("baseline",)))
    page = view()
    page.select_option('label[data-name="tag"] select', "baseline")
    expect(names(page)).to_have_text(["b"])


def test_a_tag_that_is_too_long_is_refused(view: Open, runs: Path) -> None:
    page = view("run/a")
    page.click(".annotate")
    page.fill("#tags", "x" * 41)
    page.click(".annotation dialog button >> text=Save")
    expect(page.locator(".annotation dialog .problem")).to_contain_text("1 to 40")
    assert read_annotations(runs / "a") == {}
    check_with_axe(page)


def test_the_scores_of_a_history_are_a_chart(view: Open) -> None:
    page = view()
    expect(page.locator(".trend circle")).to_have_count(2)
    title = page.locator(".trend circle title").first
    expect(title).to_contain_text("a, 2026-01-01 00:00:00: 50.0%, 95%")
    expect(page.locator(".trend-legend li")).to_contain_text(["org/model"])
    page.fill("#search", "deep")
    expect(page.locator(".trend")).to_have_count(0)
