from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from runner.analysis.report.pages import packed, page
from tests.runner.analysis.report.making import unpack, unpacked

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "\u2028\u2029\x00\u202e",
    "\ud800",
    {"__proto__": "x", "</script>": 1},
]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_pack_gives_back_what_was_packed_and_holds_no_markup(value):
    pack = packed(value)
    assert unpack(pack) == value
    assert re.fullmatch(r"[A-Za-z0-9+/]+=*", pack)


def test_a_pack_has_no_room_for_what_json_cannot_say():
    with pytest.raises(ValueError, match="not JSON compliant"):
        packed(float("nan"))


def test_a_page_holds_its_packs_in_order():
    assert unpacked(page("title", [packed(1), packed("two")], [])) == [1, "two"]


def test_a_title_is_text():
    shown = page("<img src=x onerror=alert(1)>&", [], [])
    assert "<title>&lt;img src=x onerror=alert(1)&gt;&amp;</title>" in shown
    assert "<title>a\\u202eb\\x1b\\ud800</title>" in page("a\u202eb\x1b\ud800", [], [])


@pytest.mark.parametrize("assets", [[], ["report.css", "state.js", "report.js"]])
def test_the_policy_allows_the_style_and_the_script_of_the_page_and_nothing_else(assets):
    shown = page("title", [packed(1)], assets)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', shown)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == "'none'"
    assert rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    assert rules.pop("img-src") == "data:"
    for kind, element in (("style-src", "style"), ("script-src", "script")):
        [text] = re.findall(rf"<{element}>(.*?)</{element}>", shown, re.DOTALL)
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert rules.pop(kind) == f"'sha256-{digest}'"
    assert rules == {}


def test_a_page_names_nothing_outside_of_itself():
    shown = page("title", [], ["report.css", "state.js", "episode.js", "table.js", "report.js"])
    assert re.findall(r"https?:|//\w+\.|@import|url\(|\bfetch\(|XMLHttpRequest", shown) == []
    assert set(re.findall(r'(?:href|src)="([^"]*)"', shown)) == {"#", "data:,"}


def test_no_script_makes_markup_of_texts():
    shown = page("title", [], ["state.js", "overview.js", "table.js", "episode.js", "report.js"])
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", shown) == []
    )


def test_the_same_content_gives_the_same_page():
    assert page("t", [packed({"a": 1})], []) == page("t", [packed({"a": 1})], [])
