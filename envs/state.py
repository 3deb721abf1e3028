"""State as a value: snapshots, their comparison, differences and hash.

State values are plain JSON-like data that no backend changes in place: a write puts a new value
where the old one was. A snapshot is therefore a handful of references, two snapshots share what
did not change, and comparing them looks only at what did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from envs.lazy import lazily

if TYPE_CHECKING:
    from envs import notebook
else:
    notebook = lazily("envs.notebook")


class Difference(NamedTuple):
    """One place where two states disagree."""

    path: str
    """Where, such as ``TradingBot.orders[12446].status``."""
    expected: Any
    """The value in the first state; ABSENT where it has none."""
    actual: Any
    """The value in the second state; ABSENT where it has none."""

    def __str__(self) -> str:
        """Return the difference as one line."""
        return f"{self.path}: expected {brief(self.expected)}, got {brief(self.actual)}"

    def _repr_html_(self) -> str:
        values = brief(self.expected, 300), brief(self.actual, 300)
        return notebook.table(("place in the state", "expected", "actual"), [(self.path, *values)])

    def to_json(self, first: str = "expected", second: str = "actual") -> dict[str, Any]:
        """Return a JSON object, with names for the two values; one that is absent has no member."""
        values = {first: self.expected, second: self.actual}
        present = {name: to_json(value) for name, value in values.items() if value is not ABSENT}
        return {"path": self.path, **present}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` writes under the usual names."""
        values = document.get("expected", ABSENT), document.get("actual", ABSENT)
        return cls(document["path"], *values)


class _Absent:
    def __repr__(self) -> str:
        return "nothing"

    def __reduce__(self) -> str:
        # So that there is one of it, whatever process it comes from.
        return "ABSENT"


ABSENT = _Absent()
"""Stands for a value that one of two states does not have."""


class Snapshot:
    """The state of all backends of a session at one moment.

    Equality is that of BFCL: field by field with Python's ``==``, so ``1 == 1.0 == True``,
    the order of object members does not count, the order of lists does. Fields whose name starts
    with an underscore are state, but are not compared.

    Args:
        states: Backend name to field name to value; taken over, not copied.
    """

    __slots__ = ("states",)

    def __init__(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        self.states = states

    def __repr__(self) -> str:
        """Return which backends' state it is, and the beginning of its hash."""
        return f"Snapshot({', '.join(self.states)}: {self.digest()[:12]})"

    def compared(self) -> dict[str, dict[str, Any]]:
        """Return the compared fields of every backend."""
        return {
            name: {field: value for field, value in state.items() if field[0] != "_"}
            for name, state in self.states.items()
        }

    def first_difference(self, other: Snapshot) -> str | None:
        """Return the first backend, in the session's order, whose compared state differs."""
        for name, state in self.states.items():
            theirs = other.states[name]
            if state is not theirs and state != theirs and _differ(state, theirs):
                return name
        return None

    def __eq__(self, other: object) -> bool:
        """Tell whether all compared fields of all backends are equal."""
        if not isinstance(other, Snapshot):
            return NotImplemented
        return self.states.keys() == other.states.keys() and self.first_difference(other) is None

    def __hash__(self) -> int:
        """Return a hash that agrees with equality."""
        return hash(self.digest())

    def digest(self) -> str:
        """Return the SHA-256 of the compared state, in hex; equal for equal states everywhere."""
        return sha256(canonical(self.compared()).encode()).hexdigest()

    def differences(self, actual: Snapshot) -> list[Difference]:
        """Return where another snapshot departs from this one, which is what is expected."""
        return list(diff(self.compared(), actual.compared()))

    def to_json(self) -> dict[str, Any]:
        """Return the compared state as fresh JSON data: keys as text, sets as sorted lists."""
        shown: dict[str, Any] = to_json(self.compared())
        return shown


def _differ(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    for field, value in ours.items():
        # A snapshot that was kept has compared fields only.
        if field[0] != "_" and value is not theirs[field] and value != theirs[field]:
            return True
    return False


def changed_in(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Tell whether a compared field of one backend's state is another than before."""
    # A loop, because it runs after every call and a generator takes twice as long.
    for field, value in before.items():
        now = after[field]
        if value is not now and field[0] != "_" and value != now:
            return True
    return False


def to_json(value: Any) -> Any:
    """Return a copy of a value in JSON's types: keys as text, sets as sorted lists."""
    if isinstance(value, Mapping):
        return {str(key): to_json(member) for key, member in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(to_json(member) for member in value)
    if isinstance(value, (list, tuple)):
        return [to_json(member) for member in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return repr(value)


def diff(expected: Any, actual: Any, path: str = "") -> Iterator[Difference]:
    """Yield the places where two values disagree, each below a path, in the order of the first."""
    if expected is actual or expected == actual:
        return
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        yield from _diff_objects(expected, actual, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        for index in range(max(len(expected), len(actual))):
            left = expected[index] if index < len(expected) else ABSENT
            right = actual[index] if index < len(actual) else ABSENT
            yield from diff(left, right, f"{path}[{index}]")
    else:
        yield Difference(path, expected, actual)


def _diff_objects(
    expected: Mapping[Any, Any], actual: Mapping[Any, Any], path: str
) -> Iterator[Difference]:
    for key, value in expected.items():
        yield from diff(value, actual.get(key, ABSENT), _join(path, key))
    for key, value in actual.items():
        if key not in expected:
            yield Difference(_join(path, key), ABSENT, value)


def _join(path: str, key: object) -> str:
    if isinstance(key, str) and key.isidentifier():
        return f"{path}.{key}" if path else key
    return f"{path}[{key!r}]"


def canonical(value: Any) -> str:
    """Return a text that equal values, and only they, have in common."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return hex(int(value))
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (dict, Mapping)):
        members = [f"{canonical(key)}:{canonical(member)}" for key, member in value.items()]
        return f"{{{','.join(sorted(members))}}}"
    if isinstance(value, (set, frozenset)):
        return f"<{','.join(sorted(map(canonical, value)))}>"
    if isinstance(value, (list, tuple)):
        inside = ",".join(map(canonical, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return "null" if value is None else f"?{encode_basestring_ascii(repr(value))}"


def brief(value: Any, limit: int = 120) -> str:
    """Return a value as Python writes it, cut off where it gets long."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        return "something too deep or too long to show"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """Return a text of at most so many characters, with dots where the rest is missing."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
