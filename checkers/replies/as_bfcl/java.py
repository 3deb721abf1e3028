"""From the text of a Java value to the value, as the reference reads it: by patterns.

A text that no pattern fits stays text, and then fails as a value of the wrong type.
"""

from __future__ import annotations

import re
from typing import Any

from checkers.calls.errors import CannotJudge
from checkers.calls.type_words import Expected
from checkers.replies.as_bfcl.literals import INTEGER, number_or_text, truth_or_text

_INTEGER = re.compile(INTEGER + "$")
_LONG = re.compile(INTEGER + "[Ll]$")
_FLOAT = re.compile(r"-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?[Ff]$")
_DOUBLE = re.compile(r"-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?$")
_LISTED = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_ADDED = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{(.+?)\}\}", re.DOTALL)
_ADD = re.compile(r"add\((.+?)\)")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_EMPTY_MAP = re.compile(r"new\s+HashMap<[^(\n]*>\s*+\(\)")
_PUTS = re.compile(r"new\s+HashMap<[^(]*>\s*+\(\)\s*+\{\s*+\{?(.*?)\}?\s*+\}", re.DOTALL)
_PUT = re.compile(r"put\(\"(?>(.*?)\",)\s*(.*?)\)")
_QUOTED = ("String", "char")


def convert(text: str, expected: Expected) -> Any:
    """Return the value that a text stands for.

    Args:
        text: A Java expression.
        expected: The type that the document says.

    Raises:
        CannotJudge: The reference does not implement the type.
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
            return _array(text, expected.items)
        case "HashMap":
            return _hash_map(text)
    raise CannotJudge(f"the reference has no conversion for the type {expected.word}")


def _array_list(text: str, items: Expected | None) -> Any:
    if listed := _LISTED.search(text):
        return [_element(member.strip(), items) for member in listed[1].split(",")]
    if added := _ADDED.search(text):
        return [_element(member.strip(), items) for member in _ADD.findall(added[1])]
    return [] if _EMPTY_LIST.search(text) else text


def _array(text: str, items: Expected | None) -> Any:
    found = _ARRAY.search(text)
    if found is None:
        return text
    members = [member.strip() for member in found[1].split(",")]
    return [_guess(m) if items is None else convert(m, items) for m in members if m]


def _element(text: str, items: Expected | None) -> Any:
    if items is not None and items.word in _QUOTED:
        return text[1:-1]
    return _guess(text) if items is None else convert(text, items)


def _hash_map(text: str) -> Any:
    if puts := _PUTS.search(text):
        return {key: _guess(value.strip()) for key, value in _PUT.findall(puts[1])}
    return {} if _EMPTY_MAP.search(text) else text


def _guess(text: str) -> Any:
    if text in ("true", "false"):
        return truth_or_text(text)
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    if _FLOAT.match(text):
        return float(text[:-1])
    return number_or_text(text)
