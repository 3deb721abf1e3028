"""Replies in JSON and XML: what is read, what is not, and what a hostile one costs."""

from __future__ import annotations

import json
from contextlib import suppress
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.calls.call_entry import UnreadableOutput
from checkers.replies.formats import get_reply_text, read_json, read_xml
from envs.calls import MAX_DEPTH, MAX_TEXT, Call

ONE = Call("f", (), {"a": 1})
JSON = '[{"name": "f", "arguments": {"a": 1}}]'
XML = '<calls><call name="f"><argument name="a">1</argument></call></calls>'

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
arguments = st.dictionaries(st.text(min_size=1), values, max_size=4)


# JSON


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        JSON[1:-1],
        f"```json\n{JSON}\n```",
        f"```\n{JSON}\n```",
        f"Here you are: {JSON}",
        f"Sure.\n\n```json\n{JSON}\n```\nAnything else?",
        f"  {JSON}\n",
    ],
)
def test_json_is_read_wherever_calls_may_stand(text):
    assert read_json(text) == [ONE]


@given(arguments)
def test_any_json_is_read_as_it_was_meant(kwargs):
    assert read_json(json.dumps([{"name": "f", "arguments": kwargs}])) == [Call("f", (), kwargs)]


@pytest.mark.parametrize("text", ["[]", "No.", "[1, 2]", "3", "null", "{", "[", "```json\n```"])
def test_what_is_no_call_in_json_is_none(text):
    assert read_json(text) == []


@pytest.mark.parametrize(
    "text",
    [
        JSON[:-2],
        '[{"name": "f"}]',
        '[{"name": "f", "arguments": []}]',
        '[{"name": 1, "arguments": {}}]',
        '[{"name": "f", "arguments": {}, "id": 1}]',
        '[{"name": "f", "arguments": {"a": 1}}, 2]',
        '{"tool": "f", "args": {}}',
        '[{"name": "f", "arguments": {"a": NaN}}]',
        '[{"name": "f", "arguments": {"a": 1e999}}]',
        f'[{{"name": "f", "arguments": {{"a": {"[" * (MAX_DEPTH + 1)}{"]" * (MAX_DEPTH + 1)}}}}}]',
        f'[{{"name": "f", "arguments": {{"a": {"9" * 4000}}}}}]',
    ],
)
def test_a_broken_call_in_json_is_an_attempt(text):
    with pytest.raises(UnreadableOutput) as caught:
        read_json(text)
    assert caught.value.attempted


# XML


@pytest.mark.parametrize(
    "text",
    [
        XML,
        XML.removeprefix("<calls>").removesuffix("</calls>"),
        f"Here: {XML} Done.",
        f"```xml\n{XML}\n```",
        "<calls>\n <call name='f' >\n <argument  name = 'a'>\n 1 \n</argument>\n</call >\n</calls>",
        f'<?xml version="1.0"?><!-- a comment -->{XML}',
    ],
)
def test_xml_is_read_wherever_calls_may_stand(text):
    assert read_xml(text) == [ONE]


@given(st.text(min_size=1), arguments)
def test_any_xml_is_read_as_it_was_meant(name, kwargs):
    def quoted(text):
        return '"' + escape(text, {'"': "&quot;"}) + '"'

    inside = "".join(
        f"<argument name={quoted(key)}>{escape(json.dumps(value))}</argument>"
        for key, value in kwargs.items()
    )
    assert read_xml(f"<call name={quoted(name)}>{inside}</call>") == [Call(name, (), kwargs)]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("Berlin", "Berlin"),
        ('"5"', "5"),
        ("5", 5),
        ("[1, 2", "[1, 2"),
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        ("", ""),
        ("a &lt; b &amp;amp; c", "a < b &amp; c"),
        ("a < b", "a < b"),
        ("&unknown; &#65;", "&unknown; &#65;"),
        ("[" * 2000, "[" * 2000),
    ],
)
def test_a_value_that_is_no_json_is_a_text(written, value):
    text = f'<call name="f"><argument name="a">{written}</argument></call>'
    assert read_xml(text) == [Call("f", (), {"a": value})]


def test_entities_are_not_expanded():
    text = '<!DOCTYPE x [<!ENTITY e "boom"><!ENTITY f SYSTEM "file:///etc/passwd">]>' + (
        '<call name="f"><argument name="a">&e;&f;</argument></call>'
    )
    assert read_xml(text) == [Call("f", (), {"a": "&e;&f;"})]


@pytest.mark.parametrize("text", ["", "No.", "<calls></calls>", "<calls/>", "<b>b</b>", "<", "1<2"])
def test_what_is_no_call_in_xml_is_none(text):
    assert read_xml(text) == []


@pytest.mark.parametrize(
    "text",
    [
        '<call name="f">',
        '<call name="f"><argument name="a">1</argument>',
        '<call name="f"><argument name="a">1</call>',
        '<call name="f"><call name="g"></call></call>',
        '<argument name="a">1</argument>',
        "</call>",
        "<call></call>",
        '<call name="f" id="1"></call>',
        "<call name=f></call>",
        '<call name="f"><argument name="a">1</argument><argument name="a">2</argument></call>',
        '<call name="f"><argument>1</argument></call>',
    ],
)
def test_a_broken_call_in_xml_is_an_attempt(text):
    with pytest.raises(UnreadableOutput) as caught:
        read_xml(text)
    assert caught.value.attempted


# Hostile text


def test_a_reply_that_is_too_long_is_not_read():
    with pytest.raises(UnreadableOutput, match=f"the maximum is {MAX_TEXT}"):
        get_reply_text("x" * (MAX_TEXT + 1))


PIECES = (
    *("<call", '<call name="f">', "<argument", "</call>", "<", '"'),
    *("[", "{", '[{"name":', "```", "```json\n", " "),
)


@pytest.mark.parametrize("piece", PIECES)
def test_the_longest_reply_of_anything_is_read(piece):
    text = (piece * (MAX_TEXT // len(piece)))[:MAX_TEXT]
    for read in (read_json, read_xml):  # A reader that takes quadratic time would never end.
        with suppress(UnreadableOutput):
            assert read(text) == []


@given(st.text(alphabet='<>/"=calrgumentsf{}[]:, \\n1'))
def test_no_text_breaks_a_reader(text):
    for read in (read_json, read_xml):
        try:
            found = read(text)
        except UnreadableOutput:
            continue
        assert all(isinstance(call, Call) for call in found)


def test_quoteattr_of_the_library_is_read_too():
    name = 'it\'s "both" & <more>'
    assert read_xml(f"<call name={quoteattr(name)}></call>") == [Call(name)]
