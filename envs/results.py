"""Result of a call, and its conversion to the text that a model reads."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from operator import is_
from typing import Any, SupportsFloat

from envs.bounds import BOUNDS
from envs.calls import Call
from envs.errors import ToolError
from envs.state import make_encoder

encode = make_encoder()
"""Function that returns a value as JSON text in Python's default form.

It raises a TypeError if JSON cannot express the value, and a ValueError if an integer has too many
digits.
"""
_MAX_CHARS = BOUNDS.result
_BULK = 200
"""If a tuple has more items than this number, its text is cached."""


class _IdentityKey:
    """Cache key that compares values by identity."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _IdentityKey) and self.value is other.value


@lru_cache(maxsize=64)
def _encode_cached(bulk: _IdentityKey) -> str:
    return encode(bulk.value)


def _encode_bulky(value: dict[str, Any]) -> str:
    members = [
        f"{encode(str(name))}: {_encode_cached(_IdentityKey(v)) if type(v) is tuple else encode(v)}"
        for name, v in value.items()
    ]
    return f"{{{', '.join(members)}}}"


class DeclinedResult(dict[str, Any]):
    """Result of a function that declines a call without an error; ``kind`` is the reason."""

    def __init__(self, why: str, /, **members: Any) -> None:
        super().__init__(members)
        self.kind = why


class Result:
    """Result of one call.

    Args:
        value: Return value of the function; None for an error.
        text: Text of the value, if known.
    """

    __slots__ = ("_text", "_value", "call", "changed", "error", "shown")

    def __init__(
        self,
        value: Any,
        error: ToolError | None = None,
        changed: bool = False,
        text: str | None = None,
    ) -> None:
        self._value = value
        self.error = error
        """Error, or None for a success."""
        self.changed = changed
        """Whether the call changed the compared state."""
        self.call: Call | None = None
        """For a nested call ``f(g(1))``: the call of ``f`` with the result of ``g``."""
        self.shown: str | None = None
        """Text for the model, if it differs from ``text``."""
        self._text = text

    @classmethod
    def refused(cls, error: ToolError, changed: bool = False) -> Result:
        """Create the result of a refused call."""
        # Frames would keep the state alive, in a reference cycle.
        error.__traceback__ = error.__context__ = error.__cause__ = None
        return cls(None, error, changed)

    @property
    def value(self) -> Any:
        """Copy of the return value or error object."""
        return deepcopy(self.held)

    @property
    def held(self) -> Any:
        """The value itself, not a copy; do not change it, because other results may share it."""
        if self.error is not None and self._value is None:
            self._value = {**self.error.fields, "error": self.error.message}
        return self._value

    @property
    def members(self) -> tuple[str, ...] | None:
        """Field names, or None if the value is not an object."""
        if self.error is not None:
            return (*self.error.fields, "error")
        return tuple(map(str, self._value)) if isinstance(self._value, dict) else None

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.error is None

    @property
    def text(self) -> str:
        """Text of the value: JSON for an object, the string itself, or a Python literal."""
        if self._text is None:
            text = render(self._value if self.error is None else self.held)
            self._text = text = text if len(text) <= _MAX_CHARS else _too_long(text)
            return text
        return self._text

    @property
    def observation(self) -> str:
        """Text for the model."""
        return self.text if self.shown is None else self.shown

    def __repr__(self) -> str:
        """Return a short description for debuggers."""
        return f"Result({self.text if self.ok else 'error: ' + self.text})"


def get_inner_value(held: Any) -> Any:
    """Convert the result of an inner call to an argument of the outer call.

    For an object, return the value of its only field, or of its field ``result``. Numbers of other
    types than int and float, such as ``Decimal``, become floats. Other values are unchanged.
    """
    if type(held) is not dict:
        return held
    value = held.get("result", held) if len(held) != 1 else next(iter(held.values()))
    if isinstance(value, SupportsFloat) and not isinstance(value, (int, float)):
        with suppress(TypeError):  # a complex number
            return float(value)
    return value


def _too_long(text: str) -> str:
    reason = f"The result has {len(text)} characters; at most {BOUNDS.result} are shown."
    return encode({"error": f"{reason} Ask for less at once."})


def render(value: Any) -> str:
    """Return the text of a value, without a length limit."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else _write(value)
    try:
        for member in value.values():
            if type(member) is tuple and len(member) > _BULK:
                return _encode_bulky(value)
        return encode(value)
    except (TypeError, ValueError):
        return _write(value)


def _write(value: Any) -> str:
    try:
        return str(value)
    except ValueError:
        return encode({"error": "The result holds a number with too many digits to write."})


_PLAIN = frozenset([str, int, bool, type(None)])
_SCALAR = _PLAIN | {float}


def is_surely_alike(one: Any, other: Any) -> bool:
    """Tell whether two values certainly have the same text, without creating the text.

    If the function cannot decide, it returns False; the texts may still be equal.
    """
    return one is other or (type(one) is type(other) and one == other and _equals_alike(one, other))


def _equals_alike(one: Any, other: Any) -> bool:
    kind = type(one)
    if kind is dict:
        for (name, value), (other_name, theirs) in zip(one.items(), other.items(), strict=True):
            if type(name) is not str or name != other_name:
                return False
            if value is theirs:
                continue
            kind = type(value)
            if kind is not type(theirs) or not (kind is str or _equals_alike(value, theirs)):
                return False
        return True
    if kind is list:
        if all(map(is_, one, other)):
            return True
        kinds = [*map(type, one)]
        if kinds != [*map(type, other)]:
            return False
        if _SCALAR.issuperset(kinds):
            return float not in kinds or 0 not in one  # 0.0 equals -0.0, but the texts differ
        return all(map(_equals_alike, one, other))
    return kind in _PLAIN or (kind is float and one != 0)
