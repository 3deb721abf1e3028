"""Java and JavaScript values as BFCL converts them, oddities and all."""

from __future__ import annotations

from typing import Any

import pytest

from checkers.calls.call_entry import TYPES, ExpectedType, Language, UnjudgeableEntry
from checkers.replies.as_bfcl.single_turn import java_value, javascript_value


def converted(language: Language, text: str, word: str, items: str | None = None) -> Any:
    """Return what a text stands for."""
    types = TYPES[language]
    inner = ExpectedType(items, types[items]) if items else None
    convert = {Language.JAVA: java_value, Language.JAVASCRIPT: javascript_value}[language]
    return convert(text, ExpectedType(word, types[word], inner))


@pytest.mark.parametrize(
    ("text", "word", "items", "value"),
    [
        ("-5", "byte", None, -5),
        ("+5", "integer", None, "+5"),
        ("5L", "long", None, 5),
        ("-1205L", "long", None, -1205),
        ("5", "long", None, "5"),
        ("1.5E-3F", "float", None, 0.0015),
        ("5.0", "float", None, "5.0"),
        ("5", "double", None, 5.0),
        (".5", "double", None, ".5"),
        ("true", "boolean", None, True),
        ("True", "boolean", None, "True"),
        ('"a"', "String", None, '"a"'),
        ('new ArrayList<String>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
        ('new ArrayList<String>(Arrays.asList("a,b"))', "ArrayList", "String", ["", ""]),
        ("new ArrayList<>(Arrays.asList(1, x))", "ArrayList", "integer", [1, "x"]),
        ("new ArrayList<>() {{ add(1); add(2); }}", "ArrayList", "integer", [1, 2]),
        ("new ArrayList<>()", "ArrayList", "integer", []),
        ("List.of(1)", "ArrayList", "integer", "List.of(1)"),
        ("x new int[]{1, 2} y", "Array", "integer", [1, 2]),
        ('new String[]{"a"}', "Array", "String", ['"a"']),
        ("{1, 2}", "Array", "integer", "{1, 2}"),
        ('new HashMap<>() {{ put("a", true); put("b", 1205L); put("c", f(x)); }}', "HashMap",
         None, {"a": True, "b": 1205, "c": "f(x"}),
        ('new HashMap<>() { put("a", "5"); put("b", 1.5); put("c", 2f); }', "HashMap", None,
         {"a": "5", "b": 1.5, "c": 2.0}),
        ('new HashMap<>() {{ put("a", "5" + x); put("b", x + "5"); }}', "HashMap", None,
         {"a": '"5" + x', "b": 'x + "5"'}),
        ("new HashMap<>()", "HashMap", None, {}),
        ("new HashMap()", "HashMap", None, "new HashMap()"),
    ],
)  # fmt: skip
def test_java(text: str, word: str, items: str | None, value: Any) -> None:
    found = converted(Language.JAVA, text, word, items)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("word", ["Set", "Hashtable", "Queue", "Stack"])
def test_java_types_that_the_reference_lacks_are_no_verdict(word: str) -> None:
    with pytest.raises(UnjudgeableEntry, match=f"no conversion for the type {word}"):
        converted(Language.JAVA, "x", word)


@pytest.mark.parametrize(
    ("text", "word", "items", "value"),
    [
        ("'a'", "String", None, "a"),
        ("'a\"", "String", None, "'a\""),
        ("-5", "integer", None, -5),
        ("5.0", "integer", None, "5.0"),
        ("5", "float", None, 5.0),
        ("1e5", "float", None, "1e5"),
        ("5n", "Bigint", None, 5),
        ("true", "Boolean", None, True),
        ("'a'", "any", None, "'a'"),
        ("[1, 2] x", "array", "integer", [1, 2]),
        ("['a,b']", "array", "String", ["'a", "b'"]),
        ("new Array(1, 2)", "array", "integer", [1, 2]),
        ("[]", "array", "integer", []),
        ("[[1, 'a'], [true]]", "array", "integer", [[1, "a"], [True]]),
        ("[[1], 2]", "array", "integer", ["[1"]),
        ("x", "array", "integer", "x"),
        ("{a: 1, 'b': \"5\", c: x}", "dict", None, {"a": 1, "b": 5, "c": "x"}),
        ("{a: 'x, y', b: [1, 2]}", "dict", None, {"a": "x, y", "b": [1, 2]}),
        ("{a: {b: 1}}", "dict", None, {"a": "{b: 1"}),
        ("{}", "dict", None, {}),
        ("x", "dict", None, "x"),
    ],
)
def test_javascript(text: str, word: str, items: str | None, value: Any) -> None:
    found = converted(Language.JAVASCRIPT, text, word, items)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "text", ["9" * 5000, "[" * 9000, "[[" + "] , [" * 2000, "{" + "a:, " * 2000]
)
@pytest.mark.parametrize("word", ["integer", "array", "dict"])
def test_hostile_javascript_ends_soon(text: str, word: str) -> None:
    converted(Language.JAVASCRIPT, text, word, "integer" if word == "array" else None)


@pytest.mark.parametrize("text", ["9" * 5000, "new HashMap<>(){" * 500, 'put("a", ' * 900])
@pytest.mark.parametrize("word", ["integer", "ArrayList", "HashMap"])
def test_hostile_java_ends_soon(text: str, word: str) -> None:
    converted(Language.JAVA, text, word)
