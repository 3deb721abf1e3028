from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.calls.call_entry import TYPES, ExpectedType
from checkers.replies.code_values import java_value

JAVA = TYPES["java"]  # type: ignore[index]


def expected(word: str, items: str | None = None) -> ExpectedType:
    """Return a type."""
    return ExpectedType(word, JAVA[word], expected(items) if items else None)


@pytest.mark.parametrize(
    ("text", "word", "value"),
    [
        ("5", "integer", 5),
        ("-5", "short", -5),
        ("+5", "byte", 5),
        ("(5)", "integer", 5),
        ("(int) 5", "integer", 5),
        ("1_000", "integer", 1000),
        ("0x1F", "integer", 31),
        ("0b101", "integer", 5),
        ("017", "integer", 15),
        ("0", "integer", 0),
        ("5L", "long", 5),
        ("5", "long", 5),
        ("2147483647", "long", 2147483647),
        ("-2147483648", "integer", -2147483648),
        ("3000000000", "long", "3000000000"),
        ("3000000000L", "long", 3000000000),
        ("3000000000", "float", "3000000000"),
        ("0xFFFFFFFF", "long", 4294967295),
        ("0x1FFFFFFFF", "long", "0x1FFFFFFFF"),
        ("maxRetries", "long", "maxRetries"),
        ("5L", "integer", "5L"),
        ("5.0", "integer", 5.0),
        ("5.5f", "float", 5.5),
        ("5.5", "float", "5.5"),
        ("5", "float", 5),
        ("5.5", "double", 5.5),
        (".5d", "double", 0.5),
        ("5.", "double", 5.0),
        ("1.5e-3", "double", 0.0015),
        ("0x1p3", "double", 8.0),
        ("5L", "double", 5),
        ("true", "boolean", True),
        ("TRUE", "boolean", "TRUE"),
        ("null", "HashMap", None),
        ("'c'", "char", "c"),
        ("c", "char", "c"),
        ('"a\\n\\u00e9\\"b"', "String", 'a\né"b'),
        ('"\\uD83D\\uDE00"', "String", "😀"),
        ('"""\n    a\n      b"""', "String", "a\n  b"),
        ("plain text, not Java", "String", "plain text, not Java"),
        ("5", "String", "5"),
        ("name", "integer", "name"),
        ("a + b", "integer", "a + b"),
        ("1; int y = 2", "integer", "1; int y = 2"),
        ("1, y = 2", "integer", "1, y = 2"),
        ("5 // five", "integer", 5),
        ("- - 5", "integer", "- - 5"),
        ("", "integer", ""),
        ("9" * 2000, "integer", "9" * 2000),
    ],
)
def test_scalars(text: str, word: str, value: Any) -> None:
    found = java_value(text, expected(word))
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "word", "items", "value"),
    [
        ("new int[]{1, 2}", "Array", "integer", [1, 2]),
        ("{1, 2}", "Array", "integer", [1, 2]),
        ("new int[][]{{1}, {2, 3}}", "Array", "Array", [[1], [2, 3]]),
        ("new int[2]", "Array", "integer", "new int[2]"),
        ('new String[]{"a, b", "c"}', "Array", "String", ["a, b", "c"]),
        ("new Object[]{a, b.c()}", "Array", "any", ["a", "b.c()"]),
        ("new int[]{/* one */ 1}", "Array", "integer", [1]),
        ("Arrays.asList(1, 2)", "ArrayList", "integer", [1, 2]),
        ("List.of()", "ArrayList", "integer", []),
        ("List.of(5L)", "ArrayList", "integer", ["5L"]),
        ("Collections.emptyList()", "ArrayList", "integer", []),
        ('new ArrayList<String>(Arrays.asList("a)", "b"))', "ArrayList", "String", ["a)", "b"]),
        ("new java.util.ArrayList<>(List.of(1))", "ArrayList", "integer", [1]),
        ("new ArrayList<>(10)", "ArrayList", "integer", []),
        ("new ArrayList<>(other)", "ArrayList", "integer", "new ArrayList<>(other)"),
        ("new ArrayList<>() {{ add(1); add(2); }}", "ArrayList", "integer", [1, 2]),
        ("new ArrayList<>() {{ add(1); add(); }}", "ArrayList", "integer", [1]),
        ("new ArrayList<>() {{ clear(); }}", "ArrayList", "any", None),
        ("new ArrayList<>() {{ size++; }}", "ArrayList", "any", None),
        ("new ArrayList<>() {{ new Object(); }}", "ArrayList", "any", None),
        ("new HashSet<>(Set.of(1))", "Set", "integer", [1]),
        ("new Stack<Integer>()", "Stack", "integer", []),
        ("unknown(1)", "ArrayList", "integer", "unknown(1)"),
        ('Map.of("a", 1, "b", List.of(2))', "HashMap", None, {"a": 1, "b": [2]}),
        ('Map.of("a")', "HashMap", None, 'Map.of("a")'),
        ('Map.ofEntries(Map.entry("a", 1), entry("b", x))', "HashMap", None, {"a": 1, "b": "x"}),
        ('Map.ofEntries("a")', "HashMap", None, 'Map.ofEntries("a")'),
        ("Map.of(List.of(), 1)", "HashMap", None, "Map.of(List.of(), 1)"),
        ("new HashMap<>()", "HashMap", None, {}),
        ('new HashMap<>(Map.of("a", 1))', "HashMap", None, {"a": 1}),
        ('new HashMap<>() {{ put("a", f(1)); put("b", 2L); }}', "HashMap", None,
         {"a": "f(1)", "b": 2}),
        ('new Hashtable<>() {{ put("a", true); }}', "Hashtable", None, {"a": True}),
    ],
)  # fmt: skip
def test_collections(text: str, word: str, items: str | None, value: Any) -> None:
    assert java_value(text, expected(word, items)) == (text if value is None else value)


def test_what_is_nested_too_deep_stays_text() -> None:
    value = java_value("List.of(" * 60 + ")" * 60, expected("ArrayList"))
    for _ in range(41):
        (value,) = value
    assert value.startswith("List.of(")


@given(text=st.text("{}()[]<>\"',;.+-5xL \n", max_size=60), word=st.sampled_from([*JAVA]))
def test_any_text_gives_a_value(text: str, word: str) -> None:
    java_value(text, expected(word, "integer"))


@pytest.mark.parametrize("text", ["(" * 5000 + "1" + ")" * 5000, "- " * 4000 + "5", "{" * 9000])
def test_hostile_text_stays_text(text: str) -> None:
    assert java_value(text, expected("integer")) == text


def test_casts_and_digits_are_read_up_to_their_limits() -> None:
    for casts, is_read in ((40, True), (41, False)):
        text = "(int) " * casts + "5"
        assert java_value(text, expected("integer")) == (5 if is_read else text)
    for beginning, end, word, value in (
        ("0x", "1", "integer", 1),
        ("0", "7", "integer", 7),
        ("", "7L", "long", 7),
    ):
        for length, is_read in ((1024, True), (1025, False)):
            text = beginning + "0" * (length - len(beginning + end)) + end
            assert java_value(text, expected(word)) == (value if is_read else text)
