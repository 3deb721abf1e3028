"""Frozen records as JSON: read and written by what the types of their members say.

A reader is made once for each type, from plain checks, so that a large run is read about as fast as
its JSON is parsed. A place where a value does not fit is only put together when there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from envs.state import ABSENT
from trajectories.errors import DataError

Read = Callable[[Any], Any]

_Record = TypeVar("_Record")

_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "null",
}
_LONGEST = 60


class Unfit(Exception):
    """A value that is not of the type that it should be of."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def below(self, part: str) -> Unfit:
        """Return the complaint as that of a value that holds this one."""
        return Unfit(self.message, part + self.path)


def read(kind: type[_Record], value: object, where: str) -> _Record:
    """Return the record that a JSON value stands for; members that no type names are passed over.

    Args:
        kind: A NamedTuple; a member that has a default may be missing.
        value: The JSON value.
        where: File and line.

    Raises:
        DataError: A member is missing or not of its type; says which.
    """
    try:
        return cast(_Record, _members(cast(Any, kind))(value))
    except Unfit as misfit:
        raise DataError(where, f"${misfit.path}: {misfit.message}") from None


_AS_IT_IS = frozenset([str, int, float, bool, NoneType, dict])
"""Types of values that are written as they are."""


def written(value: Any) -> Any:
    """Return a record as a JSON value; a member that is ABSENT is left out."""
    if type(value) in _AS_IT_IS:
        return value
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "_fields"):
        return members_of(value)
    if isinstance(value, (list, tuple)):
        return [each if type(each) in _AS_IT_IS else written(each) for each in value]
    return value


def members_of(record: Any) -> dict[str, Any]:
    """Return the members of a record as a JSON object."""
    pairs = zip(record._fields, record, strict=True)
    return {
        name: value if type(value) in _AS_IT_IS else written(value)
        for name, value in pairs
        if value is not ABSENT
    }


@cache
def reader_of(hint: Any) -> Read:
    """Return what reads a value of a type: of JSON's own, a union, a list, or a record of such."""
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
    """Return what reads a value of one of JSON's types; a whole number is a number too."""
    kinds = (int, float) if kind is float else (kind,)

    def read_value(value: Any) -> Any:
        # By its very type, since true and false are whole numbers to Python.
        if type(value) not in kinds:
            raise Unfit(_must_be(_WORDS[kind], value))
        if kind is float and not abs(value) < inf:
            raise Unfit(f"must be a finite number, is {value}")
        return value

    return read_value


def _words(known: tuple[Any, ...]) -> Read:
    def read_value(value: Any) -> Any:
        if value not in known:
            raise Unfit(_must_be(" or ".join(map(str, known)), value))
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
            except Unfit as misfit:
                # Its traceback would hold this frame, and the frame what was read, until a
                # collection of cycles.
                complaints.append(misfit.with_traceback(None))
        # What came furthest into the value knows best what is wrong with it.
        raise max(complaints, key=lambda misfit: len(misfit.path))

    return read_value


def _sequence(member: Read) -> Read:
    def read_value(value: Any) -> Any:
        if not isinstance(value, list):
            raise Unfit(_must_be("a list", value))
        found: list[Any] = []
        try:
            for each in value:
                found.append(member(each))
        except Unfit as misfit:
            raise misfit.below(f"[{len(found)}]") from None
        return found

    return read_value


def _object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise Unfit(_must_be("an object", value))
    return value


def _mapping(member: Read) -> Read:
    def read_value(value: Any) -> Any:
        found = {}
        for name, each in _object(value).items():
            try:
                found[name] = member(each)
            except Unfit as misfit:
                raise misfit.below(f"[{name!r:.{_LONGEST}}]") from None
        return found

    return read_value


def _own(kind: Any) -> Read:
    def read_value(value: Any) -> Any:
        try:
            return kind.from_json(_object(value))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Unfit(f"is no {kind.__name__.lower()}: {error!r:.{_LONGEST}}") from None

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
                except Unfit as misfit:
                    raise misfit.below(f".{name}") from None
            elif name in defaults:
                found.append(defaults[name])
            else:
                raise Unfit("is missing", f".{name}")
        return kind(*found)

    return read_value


def _must_be(what: str, value: object) -> str:
    return f"must be {what}, is {value!r:.{_LONGEST}}"
