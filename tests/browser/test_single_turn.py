"""Answers of single turns as one reads them, and hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from checkers.profile import STRICT
from runner.analysis.replayed_runs import ReplayedRun
from tests.browser.conftest import check_with_axe, within
from tests.browser.test_hostile import TEXTS
from tests.browser.test_report import PHONE
from tests.conftest import user
from tests.runner.analysis.entries import LAST, WAIT, called, executed_entry
from tests.runner.analysis.report.making import source_of, viewed
from trajectories.schema import Category

Visit = Callable[..., Page]

WAITS = [called("clock_wait", n=1), called("clock_wait", n=9)]


@pytest.fixture
def run(dataset_of, single_turn, folders) -> ReplayedRun:
    """View a run of three episodes: a wrong argument, a missing call, and words that are right."""
    answers = [{"clock.wait": {"n": [n]}} for n in (1, 2)]
    parallel = single_turn("python", WAIT, *answers, category=Category.PARALLEL)
    silent = single_turn("python", WAIT, category=Category.IRRELEVANCE)
    executed = executed_entry(folders)
    steps = {parallel.id: [[WAITS]], executed.id: [[[LAST]]], silent.id: [["I cannot wait."]]}
    return viewed(dataset_of(parallel, executed, silent), source_of(steps), STRICT)


def test_the_list_leads_to_the_wrong_argument(visit: Visit, run) -> None:
    page = visit(run)
    expect(page.locator("table.episodes tbody tr")).to_have_count(3)
    page.select_option("label[data-name=cause] select", "wrong_argument")
    page.locator("table.episodes td.id a").click()
    expect(page.locator(".why")).to_contain_text("clock_wait: n should be 2, but is 9")
    expect(page.locator(".answered .step")).to_have_count(2)
    wrong = page.locator(".step.divergent .arguments tr.wrong")
    expect(wrong.locator("th, td").nth(0)).to_have_text("n")
    expect(wrong.locator("th, td").nth(1)).to_have_text("2")
    expect(wrong.locator("td.bad")).to_contain_text("9")


def test_calls_have_links_and_keys(visit: Visit, run) -> None:
    page = visit(run, at="#e/parallel_0/0")
    page.keyboard.press("n")
    expect(page).to_have_url(within("#e/parallel_0/0/0/1"))
    expect(page.locator(".step.here")).to_contain_text("clock_wait(n=9)")
    page.keyboard.press("k")
    expect(page).to_have_url(within("#e/parallel_0/0/0/0"))
    page.reload()
    expect(page.locator(".step.here")).to_contain_text("clock_wait(n=1)")


def test_a_call_that_is_missing_stands_with_its_result(visit: Visit, run) -> None:
    page = visit(run, at="#e/folders_0/0")
    missing = page.locator(".step.divergent")
    expect(missing).to_contain_text("Not called")
    expect(missing.locator(".result")).to_have_text('{"count": 2, "type": "lines"}')
    expect(page.locator(".step:not(.divergent) .result")).to_be_visible()


def test_words_where_no_call_is_right(visit: Visit, run) -> None:
    page = visit(run, at="#e/irrelevance_0/0")
    expect(page.locator(".answered")).to_contain_text("making no call is right")
    expect(page.locator(".answer")).to_have_text("I cannot wait.")
    page.locator("summary", has_text="1 function offered").click()
    expect(page.locator(".answered footer pre")).to_contain_text("clock.wait")


def test_a_phone_needs_no_sideways_scrolling(visit: Visit, run) -> None:
    page = visit(run, at="#e/parallel_0/0", viewport=PHONE)
    expect(page.locator(".step")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_shown_and_does_nothing(
    visit: Visit, dataset_of, single_turn, text: str
) -> None:
    parameters = {"n": {"type": "string", "description": text}}
    document = {
        "name": text,
        "description": text,
        "parameters": {"type": "dict", "properties": parameters, "required": ["n"]},
    }
    entry = single_turn("python", document, {text: {"n": [text, "x"]}}, category=Category.MULTIPLE)
    entry = replace(entry, turns=(replace(entry.turns[0], messages=user(text)),))
    name = text.replace(".", "_")
    steps = {"called": [[[called(name, n=f"{text}!", **{text: text})]]], "said": [[text]]}
    entries = [replace(entry, id=id) for id in steps]
    run = viewed(dataset_of(*entries), source_of(steps), STRICT)
    for id in steps:
        page = visit(run, at=f"#e/{id}/0")
        expect(page.locator(".says")).to_be_visible()
        page.keyboard.press("e")
        expect(page.locator(".answered footer pre")).to_be_visible()
        assert page.evaluate("window.ran") is None
        expect(page.locator("main img, main svg, main script, main style")).to_have_count(0)
        assert page.evaluate("Object.keys(Object.prototype)") == []


def test_axe_finds_nothing_serious(visit: Visit, run) -> None:
    check_with_axe(visit(run, at="#e/parallel_0/0"))
