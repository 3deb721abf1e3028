from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.calls.call_entry import TYPES, ExpectedType
from checkers.replies.code_values import javascript_value

JAVASCRIPT = TYPES["javascript"]  # type: ignore[index]


def expected(word: str, items: str | None = None) -> ExpectedType:
    """Return a type."""
    return ExpectedType(word, JAVASCRIPT[word], expected(items) if items else None)


@pytest.mark.parametrize(
    ("text", "word", "value"),
    [
        ("5", "integer", 5),
        ("5.0", "integer", 5.0),
        ("5.5", "integer", 5.5),
        ("1e3", "integer", 1000.0),
        ("-5", "integer", -5),
        ("0xff", "integer", 255),
        ("1_000", "integer", 1000),
        ("5", "float", 5),
        (".5", "float", 0.5),
        ("5n", "Bigint", 5),
        ("5", "Bigint", "5"),
        ("5n", "integer", "5n"),
        ("true", "Boolean", True),
        ("null", "dict", None),
        ("undefined", "dict", None),
        ("'a'", "String", "a"),
        ('"it\'s"', "String", "it's"),
        ("`plain`", "String", "plain"),
        ("`a${1}`", "String", "`a${1}`"),
        ("'\\x41\\u{1F600}\\\n'", "String", "A😀"),
        ("plain text", "String", "plain text"),
        ("5", "String", "5"),
        ("x => x + 1", "any", "x => x + 1"),
        ("name", "integer", "name"),
        ("1) + (2", "integer", "1) + (2"),
        ("- - 5", "integer", "- - 5"),
        ("--5", "integer", "--5"),
        ("", "integer", ""),
        ("9" * 2000, "integer", "9" * 2000),
    ],
)
def test_scalars(text: str, word: str, value: Any) -> None:
    found = javascript_value(text, expected(word))
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "word", "items", "value"),
    [
        ("[1, 2]", "array", "integer", [1, 2]),
        ("[1, // one\n 2]", "array", "integer", [1, 2]),
        ("[[1], ['a']]", "array", None, [[1], ["a"]]),
        ("['a, b', x]", "array", "String", ["a, b", "x"]),
        ("new Array(1, 2)", "array", "integer", [1, 2]),
        ("Array.of(1)", "array", "integer", [1]),
        ("new Set([1, 2])", "array", "integer", [1, 2]),
        ("new Set()", "array", "integer", []),
        ("{}", "dict", None, {}),
        ("{a: 1, 'b c': {d: [true]}, 5: null}", "dict", None,
         {"a": 1, "b c": {"d": [True]}, "5": None}),
        ("{a, b: f(1, 2)}", "dict", None, {"a": "a", "b": "f(1, 2)"}),
        ("{...a}", "dict", None, "{...a}"),
        ("{[a]: 1}", "dict", None, "{[a]: 1}"),
        ("{a: 'x, y: z'}", "dict", None, {"a": "x, y: z"}),
        ("new Map([['a', 1], [2, b]])", "dict", None, {"a": 1, 2: "b"}),
        ("new Map()", "dict", None, {}),
        ("new Map([[[1], 1]])", "dict", None, "new Map([[[1], 1]])"),
        ("new Map(entries)", "dict", None, "new Map(entries)"),
        ("new Date()", "dict", None, "new Date()"),
    ],
)  # fmt: skip
def test_collections(text: str, word: str, items: str | None, value: Any) -> None:
    assert javascript_value(text, expected(word, items)) == value


@given(text=st.text("{}()[]:\"',;.+-5xn`$ \n", max_size=60), word=st.sampled_from([*JAVASCRIPT]))
def test_any_text_gives_a_value(text: str, word: str) -> None:
    javascript_value(text, expected(word, "integer"))


@pytest.mark.parametrize("text", ["(" * 5000 + "1" + ")" * 5000, "- " * 4000 + "5", "[" * 9000])
def test_hostile_text_stays_text(text: str) -> None:
    assert javascript_value(text, expected("integer")) == text
