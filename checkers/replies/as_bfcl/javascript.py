"""From the text of a JavaScript value to the value, as the reference reads it: by patterns.

A text that no pattern fits stays text, and then fails as a value of the wrong type.
"""

from __future__ import annotations

import re
from typing import Any

from checkers.calls.errors import CannotJudge
from checkers.calls.type_words import Expected
from checkers.replies.as_bfcl.literals import INTEGER, number_or_text, truth_or_text, unquoted

_INTEGER = re.compile(INTEGER + "$")
_FLOAT = re.compile(r"-?\d+(?:\.\d+)?$")
_BIG_INTEGER = re.compile(INTEGER + "n$")
# Rows of an array of arrays: the first bracket that a closing one follows is the last of them.
_ROWS = re.compile(
    r"\[\s*+(\[(?:[^]\n]|\](?!\s*\])(?:\s*,\s*\[)?)*+\])\s*\]"
    r"|new\s+Array\(\s*+(\[(?:[^]\n]|\](?!\s*\))(?:\s*,\s*\[)?)*+\])\s*\)"
)
_ROW = re.compile(r"\[(.*?)\]")
_ARRAY = re.compile(r"\[(.*?)\]|new\s+Array\((.*?)\)")
_OBJECT = re.compile(r"\{(.*?)\}")
_QUOTES = "'\""
_PAIR = re.compile(r"([^:]++):\s*+(.*?)(?:,\s*(?=[^,]+:)|$)")


def convert(text: str, expected: Expected) -> Any:
    """Return the value that a text stands for.

    Args:
        text: A JavaScript expression.
        expected: The type that the document says.

    Raises:
        CannotJudge: The reference does not know the type.
    """
    match expected.word:
        case "String":
            return unquoted(text)
        case "integer":
            return int(text) if _INTEGER.match(text) else text
        case "float":
            return float(text) if _FLOAT.match(text) else text
        case "Bigint":
            return int(text[:-1]) if _BIG_INTEGER.match(text) else text
        case "Boolean":
            return truth_or_text(text)
        case "any":
            return text
        case "array":
            return _array(text.strip(), expected.items)
        case "dict":
            return _object(text.strip())
    raise CannotJudge(f"the reference has no conversion for the type {expected.word}")


def _array(text: str, items: Expected | None) -> Any:
    if rows := _ROWS.match(text):
        return [[_guess(m) for m in _split(row)] for row in _ROW.findall(rows[1] or rows[2])]
    found = _ARRAY.match(text)
    if found is None:
        return text
    inside = (found[1] or found[2] or "").strip()
    members = _split(inside) if inside else []
    return [_guess(m) if items is None else convert(m, items) for m in members]


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
        return _array(text, None)
    return _guess(text.strip(_QUOTES).strip())


def _guess(text: str) -> Any:
    if text in ("true", "false"):
        return truth_or_text(text)
    bare = unquoted(text)
    return bare if bare != text else number_or_text(text)
