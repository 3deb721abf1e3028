"""Field types of the worlds' records: they check values and define the order of fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter, ValidationError

from envs.errors import InvalidArgument

Fields = Mapping[str, Any]
"""Type of each field: ``str``, ``int``, ``float``, ``bool``, ChoiceField, NullableField or None."""

_LINK = "https://errors.pydantic.dev/2.14/v/"
_SHOWN_CHARS = 50


class ChoiceField(NamedTuple):
    """Type of an enum of strings."""

    values: tuple[str, ...]
    kind: str = "literal_error"


class NullableField(NamedTuple):
    """Type of a field that can be null; ``kind`` is the type of its other values."""

    kind: Any


def validate(
    record: str,
    fields: Fields,
    given: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
    *,
    is_closed: bool = False,
) -> dict[str, Any]:
    """Return a record with the known fields in order; each value has the declared type.

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
        except ValidationError as error:
            [details] = error.errors()
            type_ = kind.kind if isinstance(kind, ChoiceField) else details["type"]
            problems.append(_describe(name, type_, details["msg"], given[name]))
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
    """Return the validated records."""
    listed = list(given)
    if not all(isinstance(each, Mapping) for each in listed):
        return listed
    return [validate(record, fields, each) for each in listed]


def _convert(kind: Any, value: Any) -> Any:
    is_checked = isinstance(kind, (type, ChoiceField, NullableField))
    return _get_adapter(kind).validate_python(value) if is_checked else value


@cache
def _get_adapter(kind: Any) -> TypeAdapter[Any]:
    checked: Any = kind
    if isinstance(kind, ChoiceField):
        checked = Literal[kind.values]
    elif isinstance(kind, NullableField):
        checked = kind.kind | None
    return TypeAdapter(checked)


def _describe(name: str, kind: str, message: str, value: Any) -> str:
    shown = repr(value)
    if len(shown) > _SHOWN_CHARS:
        shown = f"{shown[:25]}...{shown[-24:]}"
    details = f"[type={kind}, input_value={shown}, input_type={type(value).__name__}]"
    link = f"    For further information visit {_LINK}{kind}"
    return f"{name}\n  {message} {details}\n{link}"


def arrange(fields: Fields, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored record with its fields in the declared order; missing fields become null.

    Integers in float fields become floats. The fields of nested records are also put in order.
    """
    return {name: _arranged(kind, record.get(name)) for name, kind in fields.items()}


def find_incomplete(
    config: Mapping[str, Any], records: Mapping[str, Fields]
) -> Iterator[tuple[str, str]]:
    """Yield a JSON path and a message for each record or nested record that lacks a field."""
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
