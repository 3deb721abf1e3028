from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from extensions.experiments.curve_page import curve_page
from extensions.experiments.experiment_scores import load_experiment
from tests.browser.conftest import check_with_axe
from tests.extensions.experiments.made_experiments import experiment, outcomes

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e"
LEVELS = ["need", "5", "10", "20", "40", "80", "all"]


@pytest.fixture
def visit_curves(show, tmp_path):
    """Open the page on experiments with so many models, each with seven levels."""

    def visit(models, levels=LEVELS, name="model {}", **settings):
        found = []
        for number in range(models):
            axis = {
                level: outcomes(20 - 2 * place - number, 20, strangers=place)
                for place, level in enumerate(levels)
            }
            sizes = {level: 5 * 2**place for place, level in enumerate(levels)}
            folder = experiment(
                tmp_path / f"m{number}", {"tools": axis}, model=name.format(number), sizes=sizes
            )
            found.append(load_experiment(folder))
        return show(curve_page(found), **settings)

    return visit


def test_seven_levels_of_five_models(visit_curves):
    page = visit_curves(5)
    expect(page.locator("svg.curve")).to_have_count(3)
    first = page.locator("svg.curve").first
    expect(first.locator("g")).to_have_count(5)
    expect(first.locator(".run-5 circle")).to_have_count(7)
    expect(first.locator(".run-5 path")).to_have_count(6)
    expect(first.locator(".run-5 polygon")).to_have_count(6)
    expect(page.locator("main table")).to_have_count(5)
    expect(page.locator("main table").first.locator("tbody tr")).to_have_count(7)
    expect(page.locator("main")).to_contain_text("per doubling of the functions")


def test_the_text_alternative_says_what_the_curves_show(visit_curves):
    told = re.compile(r"^Passed by tools\. model 0: need 100\.0%, 5 90\.0%")
    expect(visit_curves(1).locator("svg.curve").first).to_have_attribute("aria-label", told)


def test_models_with_other_levels_leave_gaps(show, tmp_path):
    one = experiment(tmp_path / "a", {"tools": {"need": outcomes(3, 4), "20": outcomes(2, 4)}})
    two = experiment(tmp_path / "b", {"tools": {"need": outcomes(3, 4), "40": outcomes(2, 4)}})
    page = show(curve_page([load_experiment(one), load_experiment(two)]))
    first = page.locator("svg.curve").first
    expect(first.locator(".axis")).to_have_count(3)
    expect(first.locator("circle")).to_have_count(4)
    expect(first).to_have_attribute("aria-label", re.compile("20 not run"))


def test_hostile_names_are_texts(visit_curves):
    page = visit_curves(2, ["need", HOSTILE], name=HOSTILE + "{}")
    expect(page.locator("img")).to_have_count(0)
    expect(page.locator("main")).to_contain_text("onerror=alert(1)")
    expect(page.locator("main")).not_to_contain_text("\u202e")
    curve = page.locator("svg.curve").first
    expect(curve).to_have_attribute("aria-label", re.compile("onerror"))
    expect(curve).not_to_have_attribute("aria-label", re.compile("\u202e"))


@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_its_window(visit_curves, width):
    page = visit_curves(5, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_axe_finds_nothing_serious(visit_curves):
    check_with_axe(visit_curves(5))
