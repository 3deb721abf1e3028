"""Generation of arguments that fit schemas; most values are taken from states and results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from sys import float_info
from typing import Any, NamedTuple

from hypothesis import strategies as st

from envs.schema import ToolSpec

_EDGES = (
    "9999-12-31", "0001-01-01", "2024-02-29", "9999-12-31T23:59", "0001-01-01T00:00", "23:59",
    "00:00", "9999-12-31T23:59:59", "0001-01-01T00:00:00", "9999-12", "0001-01", "99999999", "0",
)  # fmt: skip
"""Strings at the edges of common formats; most patterns fit only few of them."""
_LONG = 200
"""Number of characters of a long string, if its schema has no maximum."""
_HUGE = (10**18, -(10**18), 2**63)
_TEXTS = (
    "",
    "a",
    "new.txt",
    "Paris",
    "1",
    "2026-11-11",
    "2026-11-11T11:11",
    "economy",
    "\u00e9 \U0001f600",
)
_IDS = ("1", "2", "3")
_INTEGERS = (0, 1, 2, -1, 5, 10, 50, 1000, 10**12)
_NUMBERS = (*_INTEGERS, 0.5, -2.5)
_ANYTHING = (None, True, 1, 0.5, "a", [1, "a"], {"a": 1})
_LETTERS = st.characters(exclude_categories=["Cs"])
"""All characters of UTF-8; stated here because Hypothesis needs seconds to compute its default."""
_ASCII = st.characters(codec="ascii", min_codepoint=32, max_codepoint=126)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float)
}  # fmt: skip


class ShownValue(NamedTuple):
    """A string or number in a state or a result, with the names on its path."""

    words: frozenset[str]
    value: str | int | float
    nearest: frozenset[str]
    """Words of the path's last name."""

    def likeness(self, wanted: frozenset[str]) -> int:
        """Return how well the names on a value's path fit the words of a parameter."""
        return len(wanted & self.words) + 2 * len(wanted & self.nearest)


def shown_in(
    value: Any, words: frozenset[str] = frozenset(), nearest: frozenset[str] = frozenset()
) -> Iterator[ShownValue]:
    """Yield the strings and numbers in a value, including keys."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            if isinstance(key, str):
                yield ShownValue(words, key, nearest)
            yield from shown_in(member, words | _words(key), _words(key))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for member in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
            yield from shown_in(member, words, nearest)
    elif type(value) in (str, int, float):
        yield ShownValue(words, value, nearest)


def arguments(told: ToolSpec, known: Sequence[ShownValue]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for the arguments of a call, given all values shown so far."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for parameter in told.parameters:
        values = values_of(parameter.schema, parameter.name, known)
        (required if parameter.required else optional)[parameter.name] = values
    return st.fixed_dictionaries(required, optional=optional)


def values_of(
    schema: Mapping[str, Any], name: str, known: Sequence[ShownValue]
) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a schema."""
    if "anyOf" in schema:
        return st.one_of([values_of(member, name, known) for member in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    match schema.get("type"):
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "string" | "integer" | "number":
            return _likely(schema, name, known)
        case "array":
            items = values_of(schema.get("items", {}), name, known)
            low = schema.get("minItems", 0)
            return st.lists(items, min_size=low, max_size=schema.get("maxItems", low + 3))
        case "object":
            return _objects(schema, name, known)
    return st.sampled_from(_ANYTHING)


def _objects(
    schema: Mapping[str, Any], name: str, known: Sequence[ShownValue]
) -> st.SearchStrategy[Any]:
    members = {
        key: values_of(member, key, known) for key, member in schema.get("properties", {}).items()
    }
    if not members and schema.get("additionalProperties", True):
        further = schema.get("additionalProperties")
        values = values_of(further if isinstance(further, dict) else {}, name, known)
        low = schema.get("minProperties", 0)
        # Ids are numbers in most configs.
        keys = st.one_of(st.sampled_from(_IDS), st.sampled_from(_TEXTS))
        return st.dictionaries(
            keys, values, min_size=low, max_size=schema.get("maxProperties", low + 3)
        )
    required = {key: members.pop(key) for key in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional=members)


def _likely(
    schema: Mapping[str, Any], name: str, known: Sequence[ShownValue]
) -> st.SearchStrategy[Any]:
    wanted = _words(name)
    fitting: dict[str | int | float, int] = {}
    for shown in known:
        if _fits(shown.value, schema):
            likeness = shown.likeness(wanted)
            fitting[shown.value] = max(likeness, fitting.get(shown.value, 0))
    if not fitting:
        return _new(schema)
    most = max(fitting.values())
    best = st.sampled_from([value for value, likeness in fitting.items() if likeness == most])
    any_known = st.sampled_from([*fitting])
    return st.one_of(best, best, any_known, _new(schema))


def _new(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    kind = schema["type"]
    if kind == "string" and "pattern" in schema:
        return _patterned(schema)
    if kind == "string":
        low, high = schema.get("minLength", 0), schema.get("maxLength")
        made = st.text(_LETTERS, min_size=low, max_size=min(low + 8, high or low + 8))
        ready: Sequence[Any] = _TEXTS
    else:
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        made = _numbers(kind, low, high)
        ready = _INTEGERS if kind == "integer" else _NUMBERS
    fitting = [value for value in ready if _fits(value, schema)]
    made = made.filter(partial(_fits, schema=schema))
    return st.one_of(st.sampled_from(fitting), made) if fitting else made


def _patterned(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    pattern, fits = schema["pattern"], partial(_fits, schema=schema)
    found = [st.from_regex(pattern, alphabet=_LETTERS).filter(fits)]
    if pattern.isascii():
        ascii_only = st.from_regex(pattern, alphabet=_ASCII).filter(fits)
        ready = [text for text in (*_TEXTS, *_EDGES) if fits(text)]
        # Most other strings that match the pattern of a date are no date.
        found = [*([st.sampled_from(ready)] * 4 if ready else []), ascii_only, *found]
    return st.one_of(found)


def list_edges(schema: Mapping[str, Any]) -> list[Any]:
    """Return the boundary values of a schema; the contract always tries these values."""
    if "anyOf" in schema:
        return [edge for member in schema["anyOf"] for edge in list_edges(member)]
    match schema.get("type"):
        case "string" if "enum" not in schema:
            long = "x" * schema.get("maxLength", _LONG)
            short = "x" * schema.get("minLength", 0)
            return [text for text in (short, long, *_EDGES) if _fits(text, schema)]
        case "integer" | "number" as kind:
            bounds = [schema[name] for name in ("minimum", "maximum") if name in schema]
            numbers = [*bounds, 0, *_HUGE, *([1e300, -1e300, 5e-324] if kind == "number" else [])]
            return [number for number in numbers if _fits(number, schema)]
        case "array":
            items = [[edge] for edge in list_edges(schema.get("items", {}))]
            return [[], *items] if not schema.get("minItems") else items
    return []


def _numbers(kind: str, low: float | None, high: float | None) -> st.SearchStrategy[Any]:
    low = low if low is not None else (high or 0) - 10**6
    high = high if high is not None else low + 2 * 10**6
    if kind == "integer":
        return st.integers(int(low), int(high))
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if type(value) not in _TYPES[schema["type"]]:
        return False
    if isinstance(value, str):
        # To Python, $ is also before a line break at the end; to JSON Schema it is not.
        if "pattern" in schema and value.endswith("\n"):
            return False
        long_enough = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 10**9)
        return long_enough and (
            "pattern" not in schema or bool(re.search(schema["pattern"], value))
        )
    if schema["type"] == "number" and abs(value) > float_info.max:
        return False  # such as a factorial: Python reads a number as a float
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and value not in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
        and schema.get("exclusiveMinimum", value) <= value <= schema.get("exclusiveMaximum", value)
        and value % schema.get("multipleOf", value or 1) == 0
    )


def _words(name: object) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in str(name).lower().split("_"))


def inline_references(schema: Mapping[str, Any], depth: int = 4) -> dict[str, Any]:
    """Return a schema with its definitions inlined; a recursive definition ends in null."""
    definitions = schema.get("$defs", {})

    def inlined(value: Any, depth: int) -> Any:
        if isinstance(value, list):
            return [inlined(member, depth) for member in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            name = value["$ref"].rpartition("/")[2]
            return inlined(definitions[name], depth - 1) if depth else {"type": "null"}
        return {key: inlined(member, depth) for key, member in value.items() if key != "$defs"}

    found: dict[str, Any] = inlined(dict(schema), depth)
    return found
