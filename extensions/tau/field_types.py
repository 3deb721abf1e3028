"""Field types of the worlds' records: they check values and define the order of fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from envs.errors import InvalidArgument

Fields = Mapping[str, Any]
"""Type of each field: ``str``, ``int``, ``float``, ``bool``, ChoiceField, NullableField or None."""

_LINK = "https://errors.pydantic.dev/2.14/v/"
_SHOWN_CHARS = 50
_INTEGER = re.compile(r"\s*[+-]?\d+(_\d+)*(\.0*)?\s*", re.ASCII)


class ChoiceField(NamedTuple):
    """Type of an enum of strings."""

    values: tuple[str, ...]
    kind: str = "literal_error"


class NullableField(NamedTuple):
    """Type that allows null and the values of another type."""

    kind: Any


class _Invalid(Exception):
    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind)
        self.kind, self.message = kind, message


def validate(
    record: str,
    fields: Fields,
    given: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
    *,
    is_closed: bool = False,
) -> dict[str, Any]:
    """Return a record without unknown fields; the fields are in order and have the right types.

    Raises InvalidArgument; the message has one paragraph per invalid field. If
    ``is_closed`` is true, unknown fields are invalid.
    """
    found: dict[str, Any] = {}
    problems: list[str] = []
    for name, kind in fields.items():
        if name not in given:
            if defaults is not None and name in defaults:
                found[name] = defaults[name]
            else:
                problems.append(_describe(name, "missing", "Field required", given))
            continue
        try:
            found[name] = _convert(kind, given[name])
        except _Invalid as error:
            problems.append(_describe(name, error.kind, error.message, given[name]))
    for name in given if is_closed else ():
        if name not in fields:
            message = "Extra inputs are not permitted"
            problems.append(_describe(name, "extra_forbidden", message, given[name]))
    if problems:
        plural = "s" if len(problems) > 1 else ""
        head = f"{len(problems)} validation error{plural} for {record}"
        raise InvalidArgument("\n".join([head, *problems]))
    return found


def validate_all(record: str, fields: Fields, given: Iterable[Any]) -> list[Any]:
    """Return validated records; if an item is not an object, return the list unchanged."""
    listed = list(given)
    if not all(isinstance(each, Mapping) for each in listed):
        return listed
    return [validate(record, fields, each) for each in listed]


def _describe(name: str, kind: str, message: str, value: Any) -> str:
    shown = repr(value)
    if len(shown) > _SHOWN_CHARS:
        shown = f"{shown[:25]}...{shown[-24:]}"
    details = f"[type={kind}, input_value={shown}, input_type={type(value).__name__}]"
    link = f"    For further information visit {_LINK}{kind}"
    return f"{name}\n  {message} {details}\n{link}"


def _convert(kind: Any, value: Any) -> Any:
    if isinstance(kind, NullableField):
        return None if value is None else _convert(kind.kind, value)
    if isinstance(kind, ChoiceField):
        if isinstance(value, str) and value in kind.values:
            return value
        listed = [repr(each) for each in kind.values]
        said = f"{', '.join(listed[:-1])} or {listed[-1]}"
        raise _Invalid(kind.kind, f"Input should be {said}")
    if kind is str and not isinstance(value, str):
        raise _Invalid("string_type", "Input should be a valid string")
    if kind is int:
        return _convert_integer(value)
    if kind is float:
        return _convert_float(value)
    if kind is bool:
        return _convert_bool(value)
    return value


def _convert_integer(value: Any) -> int:
    text = "Input should be a valid integer"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise _Invalid("finite_number", "Input should be a finite number")
        if value != int(value):
            raise _Invalid("int_from_float", f"{text}, got a number with a fractional part")
        return int(value)
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value):
            raise _Invalid("int_parsing", f"{text}, unable to parse string as an integer")
        return int(value.strip().replace("_", "").partition(".")[0])
    if isinstance(value, int):
        return int(value)
    raise _Invalid("int_type", text)


def _convert_float(value: Any) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    text = "Input should be a valid number"
    if not isinstance(value, str):
        raise _Invalid("float_type", text)
    try:
        return float(value)
    except ValueError:
        said = f"{text}, unable to parse string as a number"
        raise _Invalid("float_parsing", said) from None


_TRUE = ("true", "t", "yes", "y", "on", "1")
_FALSE = ("false", "f", "no", "n", "off", "0")


def _convert_bool(value: Any) -> bool:
    if isinstance(value, bool) or value in (0, 1):
        return bool(value)
    text = "Input should be a valid boolean"
    if not isinstance(value, str):
        raise _Invalid("bool_type", text)
    if value.lower() not in (*_TRUE, *_FALSE):
        raise _Invalid("bool_parsing", f"{text}, unable to interpret input")
    return value.lower() in _TRUE


def arrange(fields: Fields, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored record with its fields in the declared order; missing fields become null.

    Integers in float fields become floats. The fields of nested records are also put in order.
    """
    return {name: _arranged(kind, record.get(name)) for name, kind in fields.items()}


def find_incomplete(
    config: Mapping[str, Any], records: Mapping[str, Fields]
) -> Iterator[tuple[str, str]]:
    """Yield a JSON path and a message for each record, nested ones too, that lacks a field."""
    for name, fields in records.items():
        table = config.get(name, {})
        for key, record in table.items() if isinstance(table, Mapping) else enumerate(table):
            yield from _find_missing(fields, record, f".{name}[{key!r}]")


def _find_missing(kind: Any, value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(kind, NullableField):
        kind = kind.kind
    if isinstance(kind, VariantRecord) and isinstance(value, Mapping):
        if kind.member not in value:
            yield path, f"has no {kind.member}"
        kind = kind.kinds.get(str(value.get(kind.member)), {})
    if isinstance(kind, Mapping) and isinstance(value, Mapping):
        for field, inner in kind.items():
            if field in value:
                yield from _find_missing(inner, value[field], f"{path}.{field}")
            elif inner and not isinstance(inner, NullableField):
                yield path, f"has no {field}"
    elif isinstance(kind, MappingField) and isinstance(value, Mapping):
        for key, each in value.items():
            yield from _find_missing(kind.kind, each, f"{path}[{key!r}]")
    elif isinstance(kind, list) and isinstance(value, list):
        for number, each in enumerate(value):
            yield from _find_missing(kind[0], each, f"{path}[{number}]")


def _arranged(kind: Any, value: Any) -> Any:
    if isinstance(kind, NullableField):
        kind = kind.kind
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(kind, Mapping) and isinstance(value, Mapping):
        return arrange(kind, value)
    if isinstance(kind, list) and isinstance(value, Sequence) and not isinstance(value, str):
        return [_arranged(kind[0], each) for each in value]
    if isinstance(kind, MappingField) and isinstance(value, Mapping):
        return {key: _arranged(kind.kind, each) for key, each in value.items()}
    if isinstance(kind, VariantRecord) and isinstance(value, Mapping):
        return arrange(kind.kinds.get(str(value.get(kind.member)), {}), value) or dict(value)
    return value


class MappingField(NamedTuple):
    """Type of a mapping from keys to values of one type."""

    kind: Any


class VariantRecord(NamedTuple):
    """Type of records; the value of the field ``member`` determines the other fields."""

    member: str
    kinds: Mapping[str, Fields]
