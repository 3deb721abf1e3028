"""Nothing that a model or a data set says may run, load anything, or break the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_report import ids, reply
from tests.conftest import user
from tests.runner.analysis.report.making import call, kept_tools, request, source_of, viewed

Visit = Callable[..., Page]

TEXTS = {
    "script": "</script><script>window.ran = 1</script>",
    "comment": "<!--<script>window.ran = 1",
    "image": "<img src=x onerror='window.ran = 1'>",
    "svg": "<svg/onload=window.ran=1><style>*{display:none}</style>",
    "link": "javascript:window.ran=1",
    "template": "${window.ran = 1} {{constructor.constructor('window.ran=1')()}}",
    "right_to_left": "abc\u202egnp.exe\u2066\u200f",
    "zero": "a\x00b\x1b[31m\x7f",
    "surrogate": "half \ud83d a pair",
    "separators": "a\u2028b\u2029c",
    "prototype": "__proto__",
    "quotes": "\"'`><\\",
}


@pytest.fixture
def hostile(dataset_of, help_desk, tmp_path) -> Callable[[str], object]:
    """View a run in which the model, the user, the data and the provider all say a text."""

    def view(text: str, id: str | None = None) -> object:
        id = id or text
        queue = [{**help_desk.config["TicketAPI"]["ticket_queue"][0], text: {text: text}}]
        config = {"TicketAPI": {**help_desk.config["TicketAPI"], "ticket_queue": queue}}
        first = replace(help_desk.turns[0], messages=user(text))
        trajectory = replace(help_desk, id=id, config=config, turns=(first, *help_desk.turns[1:]))
        steps = [call("create_ticket", title=text, description=text), [{text: text}], text]
        record = {
            "outcome": "failed",
            "error": None,
            "messages": [{"role": "system", "content": text}, {"role": text, text: text}],
            "steps": [request(0, 2, text, reply={**reply(text), "text": text})],
        }
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        tools = kept_tools(folder, {"function": {"name": text, text: text}})
        dataset = replace(dataset_of(trajectory, tolerant=True), name=text)
        run = viewed(dataset, source_of({id: [steps, [text], []]}, {id: record}, tools))
        return run._replace(source=replace(run.source, name=id))

    return view


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_shown_and_does_nothing(visit: Visit, hostile, text: str) -> None:
    page = visit(hostile(text))
    expect(ids(page)).to_have_count(1)
    page.locator("table.episodes td.id a").click()
    expect(page.locator(".says").first).to_be_visible()
    page.keyboard.press("e")
    expect(page.locator(".raw").first).to_be_visible()
    address = page.url
    page.reload()
    expect(page.locator(".says").first).to_be_visible()
    expect(page).to_have_url(address)
    assert page.evaluate("window.ran") is None
    expect(page.locator("main img, main svg, main script, main style")).to_have_count(0)
    assert page.evaluate("Object.keys(Object.prototype)") == []
    hrefs = page.eval_on_selector_all("a", "links => links.map(link => link.getAttribute('href'))")
    assert all(href.startswith("#") for href in hrefs)


def test_characters_that_hide_or_turn_text_can_be_seen(visit: Visit, hostile) -> None:
    page = visit(hostile(TEXTS["right_to_left"]))
    expect(page.locator("h1 .odd")).to_have_text(["U+202E", "U+2066", "U+200F"])
    page = visit(hostile(TEXTS["surrogate"]))
    expect(page.locator("h1")).to_have_text("half U+D83D a pair")


def test_a_very_long_text_is_cut_off_visibly(visit: Visit, hostile) -> None:
    page = visit(hostile("x" * 1_000_000, "long"))
    page.locator("table.episodes td.id a").click()
    expect(page.locator("text=1,000,000 characters in all").first).to_be_attached()
    assert page.evaluate("main.textContent.length") < 500_000
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_deep_value_is_shown_as_far_as_it_goes(visit: Visit, dataset_of, help_desk) -> None:
    deep = "[" * 30 + "]" * 30
    steps = [[{"create_ticket": f'{{"title": {deep}}}'}]]
    page = visit(viewed(dataset_of(help_desk), source_of({help_desk.id: [steps, [], []]})))
    page.locator("table.episodes td.id a").click()
    page.keyboard.press("e")
    expect(page.locator(".step").first).to_contain_text("create_ticket")


def test_a_search_for_markup_is_a_search_for_text(visit: Visit, hostile) -> None:
    page = visit(hostile(TEXTS["image"]))
    page.fill("#search", TEXTS["image"])
    expect(ids(page)).to_have_count(1)
    page.locator("table.episodes td.id a").click()
    expect(page.locator("h1")).to_have_text(TEXTS["image"])
    page.evaluate("q => { location.hash = `#?q=${encodeURIComponent(q)}` }", "<b>" + "(" * 50)
    expect(page.locator(".filters .count")).to_have_text("0 of 1")


INTRUDER = """() => {
  window.addEventListener("securitypolicyviolation", (event) => {
    window.stopped = event.violatedDirective;
  });
  const script = document.createElement("script");
  script.textContent = "window.ran = 1";
  document.body.append(script);
}"""


def test_the_policy_stops_what_gets_in_all_the_same(
    visit: Visit, hostile, complaints: list[str]
) -> None:
    page = visit(hostile("fine"))
    page.evaluate(INTRUDER)
    page.wait_for_function("window.stopped")
    assert page.evaluate("[window.ran, window.stopped]") == [None, "script-src-elem"]
    assert "Content Security Policy" in complaints.pop()
