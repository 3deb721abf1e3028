"""Reading a report: what is long folds, what is wanted is copied, what is sought is marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from runner.analysis.replayed_runs import ReplayedRun
from runner.analysis.report import run_report
from runner.analysis.report.value_bounds import ValueBounds
from tests.browser.conftest import becomes, check_with_axe
from tests.runner.analysis.report.making import call, source_of, viewed

RIGHT = [
    [call("create_ticket", title="Dark screen"), "I opened ticket 2."],
    [],
    [call("close_ticket", ticket_id=1), call("get_ticket", ticket_id=1)],
]
LONG = "\n".join(f"line {number} of it" for number in range(200))
WRONG = [[call("create_ticket", title=LONG)], *RIGHT[1:]]
STUCK = [[call("get_ticket", ticket_id=99)], [], []]

Visit = Callable[..., Page]


@pytest.fixture
def run(dataset_of, help_desk) -> ReplayedRun:
    """View a run of three episodes, of which one has a long text."""
    turns = {"desk_0": RIGHT, "desk_1": WRONG, "desk_2": STUCK}
    data = dataset_of(*[replace(help_desk, id=id) for id in turns])
    return viewed(data, source_of(turns, path=Path("runs/my run")))


@pytest.fixture
def copied(run: ReplayedRun, visit: Visit) -> Callable[[str, str], str]:
    """Press a button of an address, and return what is then on the clipboard."""

    def press(at: str, name: str) -> str:
        page = visit(run, at=at, permissions=["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name=name, exact=True).first.click()
        expect(page.locator("#said")).to_contain_text("Copied")
        return str(page.evaluate("navigator.clipboard.readText()"))

    return press


def expect_marked(page: Page, *texts: str) -> None:
    """Wait until texts are marked as found, and maybe others."""
    found = "[...(CSS.highlights.get('found') || [])].map(range => range.toString())"
    becomes(page, f"{[*texts]}.filter((text) => {found}.includes(text))", [*texts])


@pytest.mark.parametrize("part", [".step .code", ".was, .is", "td.bad"])
def test_a_long_value_shows_its_beginning_until_asked_for_all(
    visit: Visit, run: ReplayedRun, part: str
) -> None:
    page = visit(run, at="#e/desk_1/0")
    folded = page.locator(f":is({part}).folded, :is({part}) .folded").first
    expect(folded).to_be_visible()
    lines = folded.bounding_box()["height"] / 19
    assert 15 < lines < 30
    there = page.locator(".folded").count()
    button = folded.locator("xpath=following-sibling::button[1]")
    expect(button).to_contain_text("Show all: ")
    button.click()
    expect(page.locator(".folded")).to_have_count(there - 1)
    expect(page.locator(".all")).to_have_count(there - 1)
    expect(page.locator("#t0s0")).to_contain_text("line 199 of it")


def test_a_short_value_is_not_folded(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run, at="#e/desk_0/0")
    expect(page.locator(".step .code").first).to_be_visible()
    expect(page.locator(".folded")).to_have_count(0)


def test_an_episode_with_a_long_text_stays_readable(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run, at="#e/desk_1/0")
    expect(page.locator("#t0s0 .folded").first).to_be_visible()
    assert page.locator("#t0s0").bounding_box()["height"] < 3 * 900


def test_many_steps_are_drawn_as_they_come_into_sight(visit: Visit, dataset_of, help_desk) -> None:
    looks = [call("get_ticket", ticket_id=1)] * 400
    page = visit(viewed(dataset_of(help_desk), source_of({help_desk.id: [looks, [], []]})))
    page.click(f"text={help_desk.id}")
    last = page.locator("#t0s19 .code")
    expect(last).to_be_attached()
    drawn = """["#t0s0 .code", "#t0s19 .code"].map((at) =>
      document.querySelector(at).checkVisibility({ contentVisibilityAuto: true }))"""
    becomes(page, drawn, [True, False])
    page.evaluate("() => { location.hash = `${location.hash}/0/19` }")
    expect(last).to_be_in_viewport()
    becomes(page, f"{drawn}[1]", True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Copy id", "desk_2"),
        ("Copy turnwise debug …", "turnwise debug desk_2 --run 'runs/my run' --profile bfcl"),
        ("Copy call", "get_ticket(ticket_id=99)"),
        ("Copy arguments", "ticket_id=99"),
    ],
)
def test_what_is_wanted_elsewhere_is_copied(
    copied: Callable[[str, str], str], name: str, text: str
) -> None:
    assert copied("#e/desk_2/0", name) == text


def test_a_page_that_cuts_values_off_has_the_command_that_shows_them(
    visit: Visit, run: ReplayedRun, copied: Callable[[str, str], str], monkeypatch
) -> None:
    name = "Copy turnwise replay … --full"
    expect(visit(run, at="#e/desk_1/0").get_by_role("button", name=name)).to_have_count(0)
    monkeypatch.setattr(run_report, "BOUNDS", (ValueBounds(120, 8),))
    command = "turnwise replay desk_1 --run 'runs/my run' --profile bfcl --full"
    assert copied("#e/desk_1/0", name) == command


def test_a_result_is_copied_as_the_model_read_it(copied: Callable[[str, str], str]) -> None:
    assert copied("#e/desk_2/0", "Copy result").startswith('{"error": ')


def test_the_list_has_what_the_user_said_first(visit: Visit, run: ReplayedRun) -> None:
    said = run.dataset.trajectories["desk_0"].opening
    page = visit(run)
    expect(page.locator("td.id .detail").first).to_have_text(said)


@pytest.mark.parametrize("at", ["", "#e/desk_2/0"])
def test_what_a_cause_means_is_told_under_the_pointer_and_with_the_focus(
    visit: Visit, run: ReplayedRun, at: str
) -> None:
    page = visit(run, at=at)
    cause = page.locator("td.cause .term, .why .term").last
    shown = "node => getComputedStyle(node, '::after').content"
    assert cause.evaluate(shown) == "none"
    cause.hover()
    meaning = cause.evaluate(shown)
    assert meaning == f'"{cause.get_attribute("aria-description")}"'
    assert len(meaning) > 20
    page.mouse.move(0, 0)
    assert cause.evaluate(shown) == "none"
    page.keyboard.press("Tab")
    cause.evaluate("node => node.focus()")
    assert cause.evaluate(shown) == meaning


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ticket_id=99 get_ticket", ["desk_2"]),
        ("get_ticket desk_2", ["desk_2"]),
        ('"line 7 of"', ["desk_1"]),
        ('"7 line of"', []),
    ],
)
def test_words_are_searched_as_words_and_texts_in_quotes_as_they_are(
    visit: Visit, run: ReplayedRun, text: str, found: list[str]
) -> None:
    page = visit(run)
    page.fill("#search", text)
    expect(page.locator(".filters .count")).to_have_text(f"{len(found)} of 3")
    expect(page.locator("td.id a")).to_have_text(found)


def test_what_was_found_is_marked_in_the_list_and_in_an_episode(
    visit: Visit, run: ReplayedRun
) -> None:
    page = visit(run)
    page.fill("#search", "DESK_2 99")
    expect(page.locator("td.id a")).to_have_count(1)
    expect_marked(page, "desk_2", "99")
    page.click("text=desk_2")
    expect(page.locator("h1")).to_have_text("desk_2")
    expect_marked(page, "desk_2", "99")


def test_nothing_found_says_so_and_leads_back(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    page.fill("#search", "no such words")
    expect(page.locator(".more")).to_contain_text("No matching episodes.")
    page.click("text=Show all episodes")
    expect(page.locator("td.id a")).to_have_count(3)


def test_a_count_does_not_look_like_a_value(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run, at="#e/desk_1/0/0/0")
    page.click(".step.here >> text=State after this step")
    tree = page.locator(".step.here .tree")
    expect(tree).to_contain_text("ticket_queue 2 members")
    expect(tree.locator(".leaf .value").first).to_be_attached()
    count, value = (
        tree.locator(kind).first.evaluate("node => getComputedStyle(node).fontStyle")
        for kind in (".members", ".leaf .value")
    )
    assert (count, value) == ("italic", "normal")


def test_axe_finds_nothing_serious_in_folded_values(visit: Visit, run: ReplayedRun) -> None:
    check_with_axe(visit(run, at="#e/desk_1/0"))
