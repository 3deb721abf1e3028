"""JSON codec for frozen records, driven by the types of their fields.

For speed, each type gets one function with direct type checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from json.encoder import encode_basestring_ascii
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from envs.errors import DataError
from envs.state import ABSENT, make_encoder

Read = Callable[[Any], Any]
Write = Callable[[Any], str]

_Record = TypeVar("_Record")

_WORDS = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "null",
}
_MAX_SHOWN_CHARS = 60
_HUGE = 1e100
"""Sums of measured times and costs stay finite below this number."""


class TypeMismatch(Exception):
    """A value that does not have the declared type."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def below(self, part: str) -> TypeMismatch:
        """Return a copy whose path begins with ``part``."""
        return TypeMismatch(self.message, part + self.path)


def read(kind: type[_Record], value: object, where: str) -> _Record:
    """Read a NamedTuple from a JSON value; unknown fields are ignored.

    Raises DataError if a field without a default is missing, or a field has another type.
    """
    try:
        return cast(_Record, _members(cast(Any, kind))(value))
    except TypeMismatch as misfit:
        raise DataError(where, f"${misfit.path}: {misfit.message}") from None


_AS_IT_IS = frozenset([str, int, float, bool, NoneType, dict])


def to_json_value(value: Any) -> Any:
    """Convert a record to a JSON value; leave out ABSENT fields."""
    if type(value) in _AS_IT_IS:
        return value
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "_fields"):
        return members_of(value)
    if isinstance(value, (list, tuple)):
        return [each if type(each) in _AS_IT_IS else to_json_value(each) for each in value]
    return value


def members_of(record: Any) -> dict[str, Any]:
    """Convert a record to a JSON object."""
    pairs = zip(record._fields, record, strict=True)
    return {
        name: value if type(value) in _AS_IT_IS else to_json_value(value)
        for name, value in pairs
        if value is not ABSENT
    }


class EncodedJson(str):
    """JSON text of a value that is already encoded."""

    __slots__ = ()


def encode(value: object) -> str:
    """Encode a value, which may contain records, as one line of ASCII JSON.

    Non-finite numbers, which JSON does not have, become strings.
    """
    return _WRITERS[type(value)](value)


def encode_members(members: Mapping[str, Any]) -> str:
    """Encode an object as ``encode`` does."""
    pairs = [f"{encode_basestring_ascii(name)}:{encode(each)}" for name, each in members.items()]
    return f"{{{','.join(pairs)}}}"


class _Encoders(dict[type, Write]):
    def __missing__(self, kind: type) -> Write:
        writer = self[kind] = _writer_of(kind)
        return writer


def _writer_of(kind: Any) -> Write:
    if hasattr(kind, "to_json"):
        return lambda value: encode(value.to_json())
    if hasattr(kind, "_fields"):
        return _record_writer(kind)
    return _list_text if issubclass(kind, (list, tuple)) else _encoded


def _record_writer(kind: Any) -> Write:
    names = [f'"{name}":' for name in kind._fields]

    def write(record: Any) -> str:
        pairs = [
            name + _WRITERS[type(value)](value)
            for name, value in zip(names, record, strict=True)
            if value is not ABSENT
        ]
        return f"{{{','.join(pairs)}}}"

    return write


def _list_text(values: Sequence[Any]) -> str:
    if values and type(values[0]) is dict and all(type(value) is dict for value in values):
        return _encoded(values)
    return f"[{','.join([_WRITERS[type(value)](value) for value in values])}]"


def _number_text(value: float) -> str:
    return float.__repr__(value) if isfinite(value) else _encoded(value)


# ASCII, because a model's text may hold a lone surrogate, which UTF-8 cannot encode.
_encode_finite = make_encoder((",", ":"), allow_nan=False)


def _encoded(value: object) -> str:
    try:
        return _encode_finite(value)
    except ValueError:  # a non-finite number
        return _encode_finite(_as_words(value))


def _as_words(value: object) -> object:
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _as_words(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_words(member) for member in value]
    return value


_WRITERS = _Encoders(
    {
        str: encode_basestring_ascii,
        int: int.__repr__,
        float: _number_text,
        bool: lambda value: "true" if value else "false",
        NoneType: lambda _: "null",
        dict: _encoded,
        EncodedJson: str,
    }
)


@cache
def reader_of(hint: Any) -> Read:
    """Return the reader for a type: a JSON type, a union, a list, an object or a record."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (Any, object):
        return lambda value: value
    if origin is Literal:
        return _words(arguments)
    if origin in (Union, UnionType):
        readers = [reader_of(each) for each in arguments]
        return _union(readers, nullable=NoneType in arguments)
    if origin in (list, tuple, Sequence):
        return _sequence(reader_of(arguments[0]))
    if origin in (dict, Mapping):
        return _object if arguments[1] in (Any, object) else _mapping(reader_of(arguments[1]))
    if hasattr(hint, "from_json"):
        return _own(hint)
    if hasattr(hint, "_fields"):
        return _members(hint)
    return _plain(hint)


def _plain(kind: type) -> Read:
    kinds = (int, float) if kind is float else (kind,)

    def read_value(value: Any) -> Any:
        # Exact types, because bool is a subclass of int.
        if type(value) not in kinds:
            raise TypeMismatch(_must_be(_WORDS[kind], value))
        if kind is float and not abs(value) < _HUGE:
            raise TypeMismatch(_must_be("a finite number below 1e100", value))
        return value

    return read_value


def _words(known: tuple[Any, ...]) -> Read:
    def read_value(value: Any) -> Any:
        if value not in known:
            raise TypeMismatch(_must_be(" or ".join(map(str, known)), value))
        return value

    return read_value


def _union(readers: Sequence[Read], *, nullable: bool) -> Read:
    def read_value(value: Any) -> Any:
        if value is None and nullable:
            return None
        complaints = []
        for reader in readers:
            try:
                return reader(value)
            except TypeMismatch as misfit:
                # Its traceback would keep this frame, and so the value, in memory.
                complaints.append(misfit.with_traceback(None))
        # The mismatch deepest in the value is the most telling.
        raise max(complaints, key=lambda misfit: len(misfit.path))

    return read_value


def _sequence(member: Read) -> Read:
    def read_value(value: Any) -> Any:
        if not isinstance(value, list):
            raise TypeMismatch(_must_be("a list", value))
        found: list[Any] = []
        try:
            for each in value:
                found.append(member(each))
        except TypeMismatch as misfit:
            raise misfit.below(f"[{len(found)}]") from None
        return found

    return read_value


def _object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise TypeMismatch(_must_be("an object", value))
    return value


def _mapping(member: Read) -> Read:
    def read_value(value: Any) -> Any:
        found = {}
        for name, each in _object(value).items():
            try:
                found[name] = member(each)
            except TypeMismatch as misfit:
                raise misfit.below(f"[{name!r:.{_MAX_SHOWN_CHARS}}]") from None
        return found

    return read_value


def _own(kind: Any) -> Read:
    def read_value(value: Any) -> Any:
        try:
            return kind.from_json(_object(value))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise TypeMismatch(
                f"is not a {kind.__name__.lower()}: {error!r:.{_MAX_SHOWN_CHARS}}"
            ) from None

    return read_value


@cache
def _members(kind: Any) -> Read:
    hints = get_type_hints(kind)
    members = [(name, reader_of(hints[name])) for name in kind._fields]
    defaults = kind._field_defaults

    def read_value(value: Any) -> Any:
        value = _object(value)
        found = []
        for name, member in members:
            if name in value:
                try:
                    found.append(member(value[name]))
                except TypeMismatch as misfit:
                    raise misfit.below(f".{name}") from None
            elif name in defaults:
                found.append(defaults[name])
            else:
                raise TypeMismatch("is missing", f".{name}")
        return kind(*found)

    return read_value


def _must_be(what: str, value: object) -> str:
    return f"must be {what}, but is {value!r:.{_MAX_SHOWN_CHARS}}"
