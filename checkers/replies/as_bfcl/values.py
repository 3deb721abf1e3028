"""From the text of a Java or JavaScript value to the value, as BFCL reads it: by patterns.

A text that no pattern fits stays text, and then fails as a value of the wrong type.
"""

from __future__ import annotations

import re
from typing import Any

from checkers.calls.documents import CannotJudge, Expected

INTEGER = r"-?\d{1,1000}"
"""A longer one is no number but an attack."""


def number_or_text(text: str) -> int | float | str:
    """Return the number that Python reads in a text, or else the text."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def unquoted(text: str) -> str:
    """Return a text without the quotes around it, if they are of the same kind."""
    quoted = text[:1] in ("'", '"') and text[:1] == text[-1:]
    return text[1:-1] if quoted else text


def truth_or_text(text: str) -> bool | str:
    """Return the truth value that Java and JavaScript read in a text, or else the text."""
    return text == "true" if text in ("true", "false") else text


_INTEGER = re.compile(INTEGER + "$")
_LONG = re.compile(INTEGER + "[Ll]$")
_FLOAT = re.compile(r"-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?[Ff]$")
_DOUBLE = re.compile(r"-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?$")
_LISTED = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_ADDED = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{(.+?)\}\}", re.DOTALL)
_ADD = re.compile(r"add\((.+?)\)")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_JAVA_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_EMPTY_MAP = re.compile(r"new\s+HashMap<[^(\n]*>\s*+\(\)")
_PUTS = re.compile(r"new\s+HashMap<[^(]*>\s*+\(\)\s*+\{\s*+\{?(.*?)\}?\s*+\}", re.DOTALL)
_PUT = re.compile(r"put\(\"(?>(.*?)\",)\s*(.*?)\)")
_QUOTED = ("String", "char")


def java_value(text: str, expected: Expected) -> Any:
    """Return the value that the text of a Java expression stands for.

    Raises:
        CannotJudge: BFCL does not implement the type.
    """
    match expected.word:
        case "byte" | "short" | "integer":
            return int(text) if _INTEGER.match(text) else text
        case "long":
            return int(text[:-1]) if _LONG.match(text) else text
        case "float":
            return float(text[:-1]) if _FLOAT.match(text) else text
        case "double":
            return float(text) if _DOUBLE.match(text) else text
        case "boolean":
            return truth_or_text(text)
        case "char" | "String" | "any":
            return text
        case "ArrayList":
            return _array_list(text, expected.items)
        case "Array":
            return _java_array(text, expected.items)
        case "HashMap":
            return _hash_map(text)
    raise CannotJudge(f"BFCL has no conversion for the type {expected.word}")


def _array_list(text: str, items: Expected | None) -> Any:
    if listed := _LISTED.search(text):
        return [_element(member.strip(), items) for member in listed[1].split(",")]
    if added := _ADDED.search(text):
        return [_element(member.strip(), items) for member in _ADD.findall(added[1])]
    return [] if _EMPTY_LIST.search(text) else text


def _java_array(text: str, items: Expected | None) -> Any:
    found = _JAVA_ARRAY.search(text)
    if found is None:
        return text
    members = [member.strip() for member in found[1].split(",")]
    return [_guess_java(m) if items is None else java_value(m, items) for m in members if m]


def _element(text: str, items: Expected | None) -> Any:
    if items is not None and items.word in _QUOTED:
        return text[1:-1]
    return _guess_java(text) if items is None else java_value(text, items)


def _hash_map(text: str) -> Any:
    if puts := _PUTS.search(text):
        return {key: _guess_java(value.strip()) for key, value in _PUT.findall(puts[1])}
    return {} if _EMPTY_MAP.search(text) else text


def _guess_java(text: str) -> Any:
    if text in ("true", "false"):
        return truth_or_text(text)
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    if _FLOAT.match(text):
        return float(text[:-1])
    return number_or_text(text)


_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?$")
_BIG_INTEGER = re.compile(INTEGER + "n$")
# Rows of an array of arrays: the first bracket that a closing one follows is the last of them.
_ROWS = re.compile(
    r"\[\s*+(\[(?:[^]\n]|\](?!\s*\])(?:\s*,\s*\[)?)*+\])\s*\]"
    r"|new\s+Array\(\s*+(\[(?:[^]\n]|\](?!\s*\))(?:\s*,\s*\[)?)*+\])\s*\)"
)
_ROW = re.compile(r"\[(.*?)\]")
_JAVASCRIPT_ARRAY = re.compile(r"\[(.*?)\]|new\s+Array\((.*?)\)")
_OBJECT = re.compile(r"\{(.*?)\}")
_QUOTES = "'\""
_PAIR = re.compile(r"([^:]++):\s*+(.*?)(?:,\s*(?=[^,]+:)|$)")


def javascript_value(text: str, expected: Expected) -> Any:
    """Return the value that the text of a JavaScript expression stands for.

    Raises:
        CannotJudge: BFCL does not know the type.
    """
    match expected.word:
        case "String":
            return unquoted(text)
        case "integer":
            return int(text) if _INTEGER.match(text) else text
        case "float":
            return float(text) if _DECIMAL.match(text) else text
        case "Bigint":
            return int(text[:-1]) if _BIG_INTEGER.match(text) else text
        case "Boolean":
            return truth_or_text(text)
        case "any":
            return text
        case "array":
            return _javascript_array(text.strip(), expected.items)
        case "dict":
            return _object(text.strip())
    raise CannotJudge(f"BFCL has no conversion for the type {expected.word}")


def _javascript_array(text: str, items: Expected | None) -> Any:
    if rows := _ROWS.match(text):
        return [
            [_guess_javascript(m) for m in _split(row)] for row in _ROW.findall(rows[1] or rows[2])
        ]
    found = _JAVASCRIPT_ARRAY.match(text)
    if found is None:
        return text
    inside = (found[1] or found[2] or "").strip()
    members = _split(inside) if inside else []
    return [_guess_javascript(m) if items is None else javascript_value(m, items) for m in members]


def _split(text: str) -> list[str]:
    return [member.strip() for member in text.split(",")]


def _object(text: str) -> Any:
    found = _OBJECT.match(text)
    if found is None:
        return text
    pairs = _PAIR.findall(found[1])
    return {key.strip().strip(_QUOTES): _member(value.strip()) for key, value in pairs}


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _javascript_array(text, None)
    return _guess_javascript(text.strip(_QUOTES).strip())


def _guess_javascript(text: str) -> Any:
    if text in ("true", "false"):
        return truth_or_text(text)
    bare = unquoted(text)
    return bare if bare != text else number_or_text(text)
