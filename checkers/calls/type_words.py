"""Type words and the exact types that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from checkers.calls.documents import Language
from checkers.calls.errors import CannotJudge

TYPES: Mapping[Language, Mapping[str, type]] = {
    Language.PYTHON: {
        "string": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
        "any": str,
    },
    Language.JAVA: {
        "byte": int,
        "short": int,
        "integer": int,
        "float": float,
        "double": float,
        "long": int,
        "boolean": bool,
        "char": str,
        "Array": list,
        "ArrayList": list,
        "Set": list,
        "HashMap": dict,
        "Hashtable": dict,
        "Queue": list,
        "Stack": list,
        "String": str,
        "any": str,
    },
    Language.JAVASCRIPT: {
        "String": str,
        "integer": int,
        "float": float,
        "Bigint": int,
        "Boolean": bool,
        "dict": dict,
        "array": list,
        "any": str,
    },
}
"""Type word to type. Values have it exactly: True is no integer, 5.0 neither."""

_WITH_ITEMS = ("array", "tuple", "Array", "ArrayList", "Set", "Queue", "Stack")
"""Type words whose elements have a type of their own."""


class Expected(NamedTuple):
    """The type of a parameter or of its elements."""

    word: str
    type: type
    items: Expected | None = None
    """Type of the elements, where the document says it."""


def expected(schema: Mapping[str, Any], language: Language) -> Expected:
    """Read a type from a schema.

    Raises:
        CannotJudge: A type word is missing or unknown.
    """
    word = schema.get("type")
    found = TYPES[language].get(word) if isinstance(word, str) else None
    if word is None or found is None:
        raise CannotJudge(f"{word!r} is no type of {language}")
    items = schema.get("items")
    if word not in _WITH_ITEMS or not isinstance(items, Mapping):
        return Expected(word, found)
    return Expected(word, found, expected(items, language))
