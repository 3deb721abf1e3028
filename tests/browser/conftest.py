"""A real browser without a network, and pages that must neither complain nor ask for anything."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from runner.analysis.replayed_runs import ReplayedRun
from runner.analysis.report.run_report import report

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP = {"width": 1280, "height": 900}
PATIENCE = 20_000
"""Milliseconds after which what should have come is taken to be missing."""
expect.set_options(timeout=PATIENCE)


def within(hash: str) -> re.Pattern[str]:
    """Return what the address of a page looks like when it is at a place within it."""
    return re.compile(f"{re.escape(hash)}$")


def becomes(page: Page, expression: str, wanted: object) -> None:
    """Wait until an expression has a value; a page draws after a key or a click, not at once."""
    is_so = f"wanted => JSON.stringify({expression}) === JSON.stringify(wanted)"
    try:
        page.wait_for_function(is_so, arg=wanted)
    except PlaywrightTimeout:
        assert page.evaluate(expression) == wanted


def stays(page: Page, expression: str) -> None:
    """See that something is so when a page is opened again; Chromium stores in its own time."""

    def is_so() -> bool:
        page.reload()
        page.wait_for_selector("h1")
        return bool(page.evaluate(expression))

    assert any(is_so() for _ in range(20))


FOCUSED = "document.activeElement.textContent"
PHONE = {"width": 400, "height": 800}


def check_with_axe(page: Page) -> None:
    """See that axe-core finds nothing serious on a page, wide and narrow, light and dark."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
    for width in (DESKTOP, PHONE):
        page.set_viewport_size(width)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = page.evaluate("axe.run(document)")["violations"]
            serious = [each for each in found if each["impact"] in ("serious", "critical")]
            assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == []


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start Chromium: the one that CHROMIUM names, or the system's."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "there is no Chromium here; say where: CHROMIUM=path"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


def watched_page(browser: Browser, url: str, complaints: list[str], **settings: Any) -> Page:
    """Return a page in a context of its own; what it complains of or asks others for is added."""
    page = browser.new_context(**{"viewport": DESKTOP, **settings}).new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
    page.on("request", lambda asked: asked.url.startswith(url) or complaints.append(asked.url))
    return page


@pytest.fixture
def complaints() -> list[str]:
    """Return what pages complain of and ask for; a test fails if something is left in it."""
    return []


@pytest.fixture
def show(browser: Browser, tmp_path: Path, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """Open an HTML page, and see at the end that there was nothing to complain of."""
    path = tmp_path / "page.html"
    contexts = []

    def asked(request: Request) -> None:
        if request.url.split("#")[0] != path.as_uri() or not request.is_navigation_request():
            complaints.append(f"asked for {request.url}")

    def open_page(html: str, at: str = "", **settings: Any) -> Page:
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(**{"viewport": DESKTOP, **settings})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
        page.on("request", asked)
        page.goto(f"{path.as_uri()}{at}")
        page.wait_for_selector("h1")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def visit(show: Callable[..., Page]) -> Callable[..., Page]:
    """Open a report on runs."""

    def open_report(*runs: ReplayedRun, at: str = "", **settings: Any) -> Page:
        return show("".join(report(runs)), at, **settings)

    return open_report
