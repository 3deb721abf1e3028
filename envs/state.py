"""Snapshots of state, their comparison and their hash, and conversion of values to JSON.

State values are plain JSON-like data that no backend changes in place; a write assigns a new value.
A snapshot therefore contains only references. Two snapshots share unchanged values, and a
comparison skips shared values.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Collection, Iterator, Mapping
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from envs.errors import DataError, require_type
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from envs import notebook_html
else:
    notebook_html = lazy_module("envs.notebook_html")

_make: Any = getattr(json.encoder, "c_make_encoder", None)


class Difference(NamedTuple):
    """One difference between two states."""

    path: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        """Return the difference in one line."""
        return f"{self.path}: expected {cut_repr(self.expected)}, got {cut_repr(self.actual)}"

    def _repr_html_(self) -> str:
        values = cut_repr(self.expected, 300), cut_repr(self.actual, 300)
        return notebook_html.table(
            ("place in the state", "expected", "actual"), [(self.path, *values)]
        )

    def to_json(self, first: str = "expected", second: str = "actual") -> dict[str, Any]:
        """Return a JSON object; ``first`` and ``second`` are the field names of the two values."""
        values = {first: self.expected, second: self.actual}
        present = {name: to_json(value) for name, value in values.items() if value is not ABSENT}
        return {"path": self.path, **present}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read a JSON object that ``to_json`` returned with the default names."""
        values = document.get("expected", ABSENT), document.get("actual", ABSENT)
        return cls(document["path"], *values)


class _Absent:
    def __repr__(self) -> str:
        return "nothing"

    def __reduce__(self) -> str:
        # Unpickles to the same object in every process.
        return "ABSENT"


ABSENT = _Absent()
"""Placeholder for a value that is missing in one of two states."""


class Snapshot:
    """State of all backends of a session at one moment.

    Fields are compared with Python's ``==`` as in BFCL, so 1, 1.0 and True are equal. Lists are
    equal only in the same order; objects are equal in any order. Fields are not compared if
    their name starts with an underscore.

    Args:
        states: Values by backend and field; not copied.
    """

    __slots__ = ("states",)

    def __init__(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        self.states = states

    def __repr__(self) -> str:
        """Return the names of the backends and the first digits of the hash."""
        return f"Snapshot({', '.join(self.states)}: {self.digest()[:12]})"

    def compared(self) -> dict[str, dict[str, Any]]:
        """Return the compared fields of every backend."""
        return {
            name: {field: value for field, value in state.items() if field[0] != "_"}
            for name, state in self.states.items()
        }

    def first_difference(self, other: Snapshot) -> str | None:
        """Return the name of the first backend whose compared state differs."""
        require_type("other", other, Snapshot, described="a Snapshot")
        for name, state in self.states.items():
            theirs = other.states.get(name, {})
            if state is not theirs and state != theirs and _has_differences(state, theirs):
                return name
        return None

    def __eq__(self, other: object) -> bool:
        """Tell whether the compared fields of all backends are equal."""
        if not isinstance(other, Snapshot):
            return NotImplemented
        return self.states.keys() == other.states.keys() and self.first_difference(other) is None

    def __hash__(self) -> int:
        """Return a hash that is equal for equal snapshots."""
        return hash(self.digest())

    def digest(self) -> str:
        """Return the SHA-256 of the compared state, in hex; all platforms give the same hash."""
        return sha256(write_canonical(self.compared()).encode()).hexdigest()

    def differences(self, actual: Snapshot) -> list[Difference]:
        """Return the differences between this snapshot (expected) and an actual snapshot."""
        require_type("actual", actual, Snapshot, described="a Snapshot")
        return list(list_differences(self.compared(), actual.compared()))

    def checked(self, backends: Collection[str]) -> Self:
        """Return this snapshot. Raises DataError if a backend has no state."""
        require_type("backends", backends, Collection, described="the names of backends")
        if missing := {*map(str, backends)} - self.states.keys():
            raise DataError("snapshot", f"has no state of {', '.join(sorted(missing))}")
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the compared state as JSON, with keys as strings and sets as sorted lists."""
        return dict(to_json(self.compared()))


def _has_differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    for field, value in ours.items():
        # Recorded snapshots have only compared fields; a bug may set an unknown attribute.
        if field[0] != "_" and value is not (other := theirs.get(field)) and value != other:
            return True
    return False


def has_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Tell whether two states of a backend differ in a compared field."""
    # A loop, since this runs after every call and a generator takes twice as long.
    for field, value in before.items():
        now = after[field]
        if value is not now and field[0] != "_" and value != now:
            return True
    return False


def to_json(value: Any) -> Any:
    """Return a copy of a value as JSON, with keys as strings and sets as sorted lists."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (dict, Mapping)):  # faster for a dict
        return {str(key): to_json(member) for key, member in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(to_json(member) for member in value)
    if isinstance(value, (list, tuple)):
        return [to_json(member) for member in value]
    return repr(value)


def list_differences(expected: Any, actual: Any, path: str = "") -> Iterator[Difference]:
    """Yield the differences between two values; their paths begin with ``path``."""
    if expected is actual or expected == actual:
        return
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        yield from _diff_objects(expected, actual, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        for index in range(max(len(expected), len(actual))):
            left = expected[index] if index < len(expected) else ABSENT
            right = actual[index] if index < len(actual) else ABSENT
            if left is not right:
                yield from list_differences(left, right, f"{path}[{index}]")
    else:
        yield Difference(path, expected, actual)


def _diff_objects(
    expected: Mapping[Any, Any], actual: Mapping[Any, Any], path: str
) -> Iterator[Difference]:
    for key, value in expected.items():
        if value is not (other := actual.get(key, ABSENT)):
            yield from list_differences(value, other, _join(path, key))
    for key, value in actual.items():
        if key not in expected:
            yield Difference(_join(path, key), ABSENT, value)


def _join(path: str, key: object) -> str:
    if isinstance(key, str) and key.isidentifier():
        return f"{path}.{key}" if path else key
    return f"{path}[{key!r}]"


_KEYS: dict[object, str] = {}
"""Cache of the canonical texts of keys, with a colon."""
_NUMBERS: dict[float, str] = {}
"""Cache of the canonical texts of numbers; equal numbers of different types have one item."""
_CACHE_SIZE = 4096
_CACHED_LENGTH = 64


def write_canonical(value: Any) -> str:
    """Return a canonical text of a value. Two values with equal texts are equal."""
    # Most members are strings and numbers. The caches save a third of the time.
    if type(value) is dict:
        members = []
        for key, member in value.items():
            name = _KEYS.get(key) or _remember(_KEYS, key, f"{_write_canonical(key)}:")
            kind = type(member)
            if kind is str:
                members.append(name + encode_basestring_ascii(member))
            elif kind is float or kind is int:
                text = _NUMBERS.get(member) or _remember(_NUMBERS, member, _write_canonical(member))
                members.append(name + text)
            else:
                members.append(name + write_canonical(member))
        members.sort()
        return f"{{{','.join(members)}}}"
    return _write_canonical(value)


def _remember(cache: dict[Any, str], value: Any, text: str) -> str:
    if len(cache) < _CACHE_SIZE and len(text) < _CACHED_LENGTH:
        cache[value] = text
    return text


def _write_canonical(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, list):
        return f"[{','.join(map(write_canonical, value))}]"
    if isinstance(value, int):
        return hex(value)
    if isinstance(value, float):
        return hex(int(value)) if value.is_integer() else value.hex()
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return f"({','.join(map(write_canonical, value))})"
    if isinstance(value, (set, frozenset)):
        return f"<{','.join(sorted(map(write_canonical, value)))}>"
    if isinstance(value, (dict, Mapping)):
        return write_canonical(dict(value))
    return f"?{encode_basestring_ascii(repr(value))}"


def cut_repr(value: Any, limit: int = 120) -> str:
    """Return the ``repr`` of a value, cut to a maximum length."""
    try:
        text = repr(to_json(value) if isinstance(value, (set, frozenset)) else value)
    except Exception:  # the value may be an author's object
        return "a value that is too deep or too long to show"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """Cut a string to a maximum length, with dots at the end."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


ATOMS = frozenset({str, int, float, bool, type(None)})


def copy_json(value: Any) -> Any:
    """Return a deep copy of plain data. Raises ValueError if a value is not plain."""
    if type(value) is dict:
        copy = value.copy()
        for key, member in value.items():
            if type(member) not in ATOMS:
                copy[key] = copy_json(member)
        return copy
    if type(value) is list:
        return [each if type(each) in ATOMS else copy_json(each) for each in value]
    return marshal.loads(marshal.dumps(value))


def copy_lists(value: Any) -> Any:
    """Return a copy of plain data; nested lists and objects are also copied."""
    if isinstance(value, list):
        flat = ATOMS.issuperset(map(type, value))
        return value.copy() if flat else [copy_lists(member) for member in value]
    if isinstance(value, dict):
        return {name: copy_lists(member) for name, member in value.items()}
    return tuple(map(copy_lists, value)) if type(value) is tuple else value


def make_encoder(
    separators: tuple[str, str] = (", ", ": "), *, allow_nan: bool = True
) -> Callable[[Any], str]:
    """Return a function that converts values to ASCII JSON; values must not contain cycles.

    ``JSONEncoder.encode`` is slower, because it creates an encoder for every value.
    """
    usual = json.JSONEncoder(separators=separators, allow_nan=allow_nan)
    if _make is None:
        return usual.encode
    item, key = separators
    escape = json.encoder.encode_basestring_ascii
    write = _make(None, usual.default, escape, None, key, item, False, False, allow_nan)
    return lambda value: "".join(write(value, 0))
