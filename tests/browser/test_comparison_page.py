from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from checkers.profile import BFCL
from runner.analysis.comparison import compare_each
from runner.analysis.report.pages import comparison_page
from tests.browser.conftest import becomes, check_with_axe
from tests.runner.analysis.report.making import call, source_of

RIGHT = [
    [call("mv", source="notes.txt", destination="old")],
    [call("cd", folder="old"), call("wc", file_name="notes.txt")],
]
LAZY = [RIGHT[0], []]
HOSTILE = [[call("</script><img src=x onerror=alert(1)>\u202e\x00", a=1)], []]


@pytest.fixture
def visit_comparison(show, dataset_of, folders):
    """Open the page that compares runs of as many entries as the second one has turns."""

    def open_page(*others, **settings):
        entries = [replace(folders, id=f"entry_{n}", provenance={}) for n in range(len(others))]
        ids = [entry.id for entry in entries]
        runs = source_of(dict.fromkeys(ids, RIGHT)), source_of(dict(zip(ids, others, strict=True)))
        compared = compare_each(runs, dataset_of(*entries), BFCL, (20, 20))[0]
        return show(comparison_page(compared), **settings)

    return open_page


def rows(page):
    """Find the ids of the entries that are shown as flips."""
    return page.locator(".flips tbody tr:visible .id")


def test_what_it_comes_to_comes_first(visit_comparison):
    page = visit_comparison(LAZY, RIGHT)
    expect(page.locator(".finding")).to_have_text(re.compile("^Within noise"))
    expect(rows(page)).to_have_text(["entry_0 base"])
    expect(page.locator(".flips .cause")).to_contain_text("at end of turn 2: made")


def test_the_flips_can_be_narrowed_by_the_keyboard(visit_comparison):
    page = visit_comparison(LAZY, HOSTILE, LAZY)
    page.keyboard.press("/")
    page.keyboard.type("missing")
    expect(rows(page)).to_have_text(["entry_0 base", "entry_2 base"])
    page.keyboard.press("Escape")
    expect(rows(page)).to_have_count(3)


def test_hostile_text_is_only_shown(visit_comparison):
    page = visit_comparison(HOSTILE)
    expect(page.locator(".flips .cause")).to_contain_text("<img src=x")
    expect(page.locator("img")).to_have_count(0)


def test_it_fits_on_a_phone(visit_comparison):
    page = visit_comparison(LAZY, viewport={"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # Where there are no headings, what passed says in which run.
    said = "getComputedStyle(document.querySelectorAll('.flips td')[2], '::before').content"
    becomes(page, said, '"B "')


def test_runs_that_do_not_differ(visit_comparison):
    page = visit_comparison(RIGHT)
    expect(page.locator(".finding")).to_have_text(re.compile("^All entries have equal scores"))
    expect(rows(page)).to_have_text([])


def test_axe_finds_nothing_serious(visit_comparison):
    check_with_axe(visit_comparison(LAZY, HOSTILE))
