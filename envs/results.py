"""What a call gave, and the one place where that becomes the text a model reads."""

from __future__ import annotations

import json
from typing import Any

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


class Result:
    """The outcome of one call.

    Attributes:
        value: What the function returned; for an error, the object that says so. It may be
            shared with the state, so read it and do not change it.
        error: The error, or None for a success.
        changed: Whether compared state is different from before the call.
    """

    __slots__ = ("_text", "changed", "error", "value")

    def __init__(self, value: Any, error: ToolError | None = None, changed: bool = False) -> None:
        self.value = value
        self.error = error
        self.changed = changed
        self._text: str | None = None

    @classmethod
    def refused(cls, error: ToolError, changed: bool = False) -> Result:
        """Turn an error into the object that the model reads: its fields, then the reason."""
        return cls({**error.fields, "error": error.message}, error, changed)

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.error is None

    @property
    def text(self) -> str:
        """The wire form: text as it is, an object as JSON, anything else in Python notation."""
        if self._text is None:
            self._text = _render(self.value)
        return self._text

    def __repr__(self) -> str:
        """Return a short description for debuggers."""
        return f"Result({self.text if self.ok else 'error: ' + self.text})"


def _render(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        try:
            return encode(value)
        except (TypeError, ValueError):
            return str(value)
    return str(value)
