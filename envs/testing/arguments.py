"""Arguments for random calls: they fit the schemas, and are mostly drawn from what was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from hypothesis import strategies as st

from envs.schema import ToolSpec

_TEXTS = ("", "a", "new.txt", "Paris", "1", "2026-11-11", "economy", "\u00e9 \U0001f600")
_INTEGERS = (0, 1, 2, -1, 5, 10, 50, 1000, 10**12)
_NUMBERS = (*_INTEGERS, 0.5, -2.5)
_ANYTHING = (None, True, 1, 0.5, "a", [1, "a"], {"a": 1})
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float)
}  # fmt: skip


class Shown(NamedTuple):
    """A text or number that a state or a result shows, with the words on the way to it."""

    words: frozenset[str]
    value: str | int | float


def shown_in(value: Any, words: frozenset[str] = frozenset()) -> Iterator[Shown]:
    """Yield the texts and numbers in a value, keys too."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            if isinstance(key, str):
                yield Shown(words, key)
            yield from shown_in(member, words | _words(key))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for member in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
            yield from shown_in(member, words)
    elif type(value) in (str, int, float):
        yield Shown(words, value)


def arguments(told: ToolSpec, known: Sequence[Shown]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for the arguments of a call.

    Args:
        told: The function.
        known: What was shown so far.
    """
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for parameter in told.parameters:
        values = _values(parameter.schema, parameter.name, known)
        (required if parameter.required else optional)[parameter.name] = values
    return st.fixed_dictionaries(required, optional=optional)


def _values(schema: Mapping[str, Any], name: str, known: Sequence[Shown]) -> st.SearchStrategy[Any]:
    if "anyOf" in schema:
        return st.one_of([_values(member, name, known) for member in schema["anyOf"]])
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
            items = _values(schema.get("items", {}), name, known)
            low = schema.get("minItems", 0)
            return st.lists(items, min_size=low, max_size=schema.get("maxItems", low + 3))
        case "object":
            return _objects(schema, name, known)
    return st.sampled_from(_ANYTHING)


def _objects(
    schema: Mapping[str, Any], name: str, known: Sequence[Shown]
) -> st.SearchStrategy[Any]:
    members = {
        key: _values(member, key, known) for key, member in schema.get("properties", {}).items()
    }
    if not members and schema.get("additionalProperties", True):
        further = schema.get("additionalProperties")
        values = _values(further if isinstance(further, dict) else {}, name, known)
        low = schema.get("minProperties", 0)
        keys = st.sampled_from(_TEXTS)
        return st.dictionaries(
            keys, values, min_size=low, max_size=schema.get("maxProperties", low + 3)
        )
    required = {key: members.pop(key) for key in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional=members)


def _likely(schema: Mapping[str, Any], name: str, known: Sequence[Shown]) -> st.SearchStrategy[Any]:
    """Return a strategy that takes what was shown under a similar name, else any, else new."""
    wanted = _words(name)
    fitting: dict[str | int | float, int] = {}
    for words, value in known:
        if _fits(value, schema):
            fitting[value] = max(len(wanted & words), fitting.get(value, 0))
    if not fitting:
        return _new(schema)
    most = max(fitting.values())
    best = st.sampled_from([value for value, likeness in fitting.items() if likeness == most])
    any_known = st.sampled_from([*fitting])
    return st.one_of(best, best, any_known, _new(schema))


def _new(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    kind = schema["type"]
    if kind == "string" and "pattern" in schema:
        return st.from_regex(schema["pattern"]).filter(partial(_fits, schema=schema))
    if kind == "string":
        low, high = schema.get("minLength", 0), schema.get("maxLength")
        made = st.text(min_size=low, max_size=min(low + 8, high or low + 8))
        ready: Sequence[Any] = _TEXTS
    else:
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        made = _numbers(kind, low, high)
        ready = _INTEGERS if kind == "integer" else _NUMBERS
    fitting = [value for value in ready if _fits(value, schema)]
    made = made.filter(partial(_fits, schema=schema))
    return st.one_of(st.sampled_from(fitting), made) if fitting else made


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
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and value not in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
        and schema.get("exclusiveMinimum", value) <= value <= schema.get("exclusiveMaximum", value)
        and value % schema.get("multipleOf", value or 1) == 0
    )


def _words(name: object) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in str(name).lower().split("_"))
