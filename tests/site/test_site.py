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
    folder = SITE / "reference" / "commands"
    assert {page.stem for page in folder.glob("*.html")} - {"index"} == {
        name.replace(" ", "_") for name in all_commands()
    }
    listed = (folder / "index.html").read_text(encoding="utf-8")
    for name, command in all_commands().items():
        page = (folder / f"{name.replace(' ', '_')}.html").read_text(encoding="utf-8")
        assert "usage: turnwise" in page
        assert f">turnwise {name}</a></td>" in listed, name
        assert re.search(rf"<h2[^>]*>{command.group.capitalize()}<", listed)
    names = (SITE / "reference" / "python.html").read_text(encoding="utf-8")
    anchors = {anchor.split(".")[-1] for anchor in re.findall(r'<h2 id="([\w.]+)"', names)}
    assert anchors >= {*turnwise.__all__} - {"__version__"}


def test_the_glossary_has_all_its_words() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([a-z ]+) \| .* \|$", text, re.MULTILINE)
    page = (SITE / "glossary.html").read_text(encoding="utf-8")
    assert len(words) > 10
    assert [word for word in words if f"<td>{word}</td>" not in page and word != "word"] == []


def test_the_notebook_is_shown_with_its_outputs() -> None:
    page = (SITE / "tutorials" / "first_steps.html").read_text(encoding="utf-8")
    assert page.count("<table") >= 3
    assert "1.0 0.75" in page
    assert "Traceback" not in page


def test_the_search_knows_every_page() -> None:
    index = (SITE / "search" / "search_index.js").read_text(encoding="utf-8")
    pages = [page.relative_to(SITE).as_posix() for page in PAGES]
    left = {"404.html", "search.html"}
    assert [page for page in pages if page not in left and f'"{page}"' not in index] == []
