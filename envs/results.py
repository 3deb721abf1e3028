"""What a call gave, and the one place where that becomes the text a model reads."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from typing import Any, SupportsFloat

from envs.bounds import BOUNDS
from envs.calls import Call
from envs.errors import ToolError

_encoder = json.JSONEncoder()
_make: Any = getattr(json.encoder, "c_make_encoder", None)
# JSONEncoder.encode makes this function anew for every object, which takes longer than using it.
# State values hold no cycles, so none are looked for.
_chunks = _make and _make(
    None,
    _encoder.default,
    json.encoder.encode_basestring_ascii,
    None,
    _encoder.key_separator,
    _encoder.item_separator,
    False,
    False,
    True,
)


def encode(value: Any) -> str:
    """Return a value as JSON text in Python's default form, non-ASCII escaped.

    Raises:
        TypeError: JSON cannot express the value.
        ValueError: An integer in it is too long to write.
    """
    return "".join(_chunks(value, 0)) if _chunks else _encoder.encode(value)


_LONGEST = BOUNDS.result
_BULK = 200
"""From this length on a tuple's text is kept: long-context material is shown again and again."""


class _Same:
    """Stands for one object, equal to nothing but itself: 1 and 1.0 are not written alike."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


@lru_cache(maxsize=64)
def _text_of(bulk: _Same) -> str:
    return encode(bulk.value)


def _encode_bulky(value: dict[str, Any]) -> str:
    """Return the JSON text of an object, with those of its long tuples from memory."""
    members = [
        f"{encode(str(name))}: {_text_of(_Same(v)) if type(v) is tuple else encode(v)}"
        for name, v in value.items()
    ]
    return f"{{{', '.join(members)}}}"


class Declined(dict[str, Any]):
    """What a function returns that says no in a member of its own, without being an error.

    Attributes:
        kind: A word for why.
    """

    def __init__(self, why: str, /, **members: Any) -> None:
        super().__init__(members)
        self.kind = why


class Result:
    """The outcome of one call.

    Args:
        value: What the function returned; None for an error.
        text: The wire form where it is known, or None.

    Attributes:
        error: The error, or None for a success.
        changed: Whether compared state is different from before the call.
        call: The call with values in the place of the calls inside it, where there were any.
        shown: What the model reads where that is not our text.
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
        self.changed = changed
        self.call: Call | None = None
        self.shown: str | None = None
        self._text = text

    @classmethod
    def refused(cls, error: ToolError, changed: bool = False) -> Result:
        """Turn an error into the object that the model reads: its fields, then the reason."""
        # Frames would keep all that was done alive, and in a circle.
        error.__traceback__ = error.__context__ = error.__cause__ = None
        return cls(None, error, changed)

    @property
    def value(self) -> Any:
        """What the function returned, as a copy; for an error, the object that says so."""
        return deepcopy(self.held)

    @property
    def held(self) -> Any:
        """The value itself, of which state and other results may hold parts: only to be read."""
        if self.error is not None and self._value is None:
            self._value = {**self.error.fields, "error": self.error.message}
        return self._value

    @property
    def members(self) -> tuple[str, ...] | None:
        """The names of an object's members, None for any other value."""
        if self.error is not None:
            return (*self.error.fields, "error")
        return tuple(map(str, self._value)) if isinstance(self._value, dict) else None

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.error is None

    @property
    def text(self) -> str:
        """The wire form: text as it is, an object as JSON, anything else in Python notation."""
        if self._text is None:
            text = render(self._value if self.error is None else self.held)
            self._text = text = text if len(text) <= _LONGEST else _too_long(text)
            return text
        return self._text

    @property
    def observation(self) -> str:
        """What the model reads: the text, unless another wording was asked for."""
        return self.text if self.shown is None else self.shown

    def __repr__(self) -> str:
        """Return a short description for debuggers."""
        return f"Result({self.text if self.ok else 'error: ' + self.text})"


def value_inside(held: Any) -> Any:
    """Return what a call inside another one stands for.

    Of an object that is its member ``result``, else its only member, as a float where it is a
    number of another library; all of anything else.
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
    """Return the wire form of a value, however long."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else _written(value)
    try:
        for member in value.values():
            if type(member) is tuple and len(member) > _BULK:
                return _encode_bulky(value)
        return "".join(_chunks(value, 0)) if _chunks else _encoder.encode(value)
    except (TypeError, ValueError):
        return _written(value)


def _written(value: Any) -> str:
    try:
        return str(value)
    except ValueError:
        return encode({"error": "The result holds a number with too many digits to write."})


_PLAIN = frozenset([str, int, bool, type(None)])
_SCALAR = _PLAIN | {float}
_TEXT = frozenset([str])


def surely_alike(one: Any, other: Any) -> bool:
    """Tell whether two values can be seen to have the same wire form without writing it.

    Where it is not seen, they may be written alike all the same.
    """
    return type(one) is type(other) and one == other and _equals_alike(one, other)


def _equals_alike(one: Any, other: Any) -> bool:
    """Tell the same of two values of one type that are equal."""
    kind = type(one)
    if kind is dict:
        if not _TEXT.issuperset(map(type, one)) or [*one] != [*other]:
            return False
        members, others = one.values(), other.values()
    elif kind is list:
        members, others = one, other
    else:
        return kind in _PLAIN or (kind is float and one != 0)
    kinds = [*map(type, members)]
    if kinds != [*map(type, others)]:
        return False
    if _SCALAR.issuperset(kinds):
        return float not in kinds or 0 not in members  # zeros have a sign
    for kind, value, theirs in zip(kinds, members, others, strict=True):
        if kind not in _PLAIN and not _equals_alike(value, theirs):
            return False
    return True
