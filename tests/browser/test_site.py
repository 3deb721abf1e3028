"""The site as `make docs` built it, in a browser: it opens from the disk, also dark and narrow."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import DESKTOP, PATIENCE, PHONE
from tests.source import ROOT

SITE = ROOT / "build" / "site"


@pytest.mark.skipif(not (SITE / "index.html").exists(), reason="make test-docs builds the site")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pages_open_and_nothing_is_asked_from_elsewhere(
    browser: Browser, complaints: list[str], size: dict[str, int], scheme: str
) -> None:
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: said.type != "error" or complaints.append(said.text))
    page.on("request", lambda asked: complaints.append(asked.url) if "http" in asked.url else None)
    for name in ("index", "viewer", "reference/commands/eval", "tutorials/first_steps"):
        page.goto((SITE / f"{name}.html").as_uri())
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator("body")).to_have_attribute(
            "data-md-color-scheme", "slate" if scheme == "dark" else "default"
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if size is PHONE:
        page.locator("label.md-header__button[for=__search]").click()
    page.locator(".md-search__input").click()
    page.keyboard.type("trajectory")
    expect(page.locator(".md-search-result__item").first).to_be_visible()
    context.close()
    assert complaints == []
