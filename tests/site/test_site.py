"""The site as `make docs` built it: what is on it, and that it asks for nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import turnwise

from runner.cli import all_commands
from tests.source import ROOT

SITE = ROOT / "build" / "site"
PAGES = sorted(SITE.rglob("*.html"))


class Fetched(HTMLParser):
    """Collects what a browser fetches for a page, and where it may be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Take the addresses of one element."""
        found = dict(attributes)
        if tag == "a":
            self.linked.append(found.get("href") or "")
        elif tag != "link" or found.get("rel") not in ("canonical", "next", "prev"):
            self.fetched += [found[name] or "" for name in ("src", "href") if name in found]


def read(page: Path) -> Fetched:
    """Return the addresses on a page."""
    found = Fetched()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def test_the_site_was_built() -> None:
    assert len(PAGES) > 30


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(SITE).as_posix())
def test_a_page_opens_offline(page: Path) -> None:
    outside = [address for address in read(page).fetched if re.match(r"(\w+:)?//", address)]
    assert outside == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(SITE).as_posix())
def test_links_lead_to_pages(page: Path) -> None:
    if page.name == "404.html":
        return
    links = [link.split("#")[0] for link in read(page).linked]
    ours = [link for link in links if link and not re.match(r"\w+:", link)]
    assert [link for link in ours if not (page.parent / link).exists()] == []


def test_every_command_and_every_name_is_described() -> None:
    commands = (SITE / "reference" / "commands.html").read_text(encoding="utf-8")
    shown = set(re.findall(r"<h3[^>]*>turnwise ([a-z -]+)<", commands))
    assert shown == set(all_commands())
    assert commands.count("usage: turnwise") >= len(all_commands())
    names = (SITE / "reference" / "python.html").read_text(encoding="utf-8")
    anchors = {anchor.split(".")[-1] for anchor in re.findall(r'<h2 id="([\w.]+)"', names)}
    assert anchors >= {*turnwise.__all__} - {"__version__"}


def test_the_glossary_is_that_of_the_contributors() -> None:
    rows = re.findall(
        r"^\| ([a-z ,]+) \| .* \|$",
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Words")[1],
        re.MULTILINE,
    )
    page = (SITE / "glossary.html").read_text(encoding="utf-8")
    assert len(rows) > 10
    assert [row for row in rows if f"<td>{row}</td>" not in page and row != "word"] == []


def test_the_search_knows_every_page() -> None:
    index = (SITE / "search" / "search_index.js").read_text(encoding="utf-8")
    pages = [page.relative_to(SITE).as_posix() for page in PAGES]
    left = {"404.html", "search.html"}
    assert [page for page in pages if page not in left and f'"{page}"' not in index] == []
