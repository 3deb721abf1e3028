"""JSON in which some texts do not occur: keys and the like must not reach a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_SHORTEST_SECRET = 8


class Secrets:
    """Writes JSON in which some texts do not occur, however they are escaped.

    Args:
        secrets: The texts.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        forms = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
        # Texts in a record may themselves be JSON with JSON in it.
        for _ in range(3):
            forms |= {
                json.dumps(form, ensure_ascii=a)[1:-1] for form in forms for a in (False, True)
            }
        self._forms = sorted(forms, key=len, reverse=True)

    def encode(self, value: object, indent: int | None = None) -> bytes:
        """Return a JSON value as one line, or as indented ones."""
        text = _encoded(value, indent)
        if self._occur_in(text):
            text = _encoded(self._masked(value), indent)
        if self._occur_in(text):
            raise ValueError("a secret that is no text of its own would be written")
        return f"{text}\n".encode()

    def _occur_in(self, text: str) -> bool:
        return any(form in text for form in self._forms)

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            for form in self._forms:
                value = value.replace(form, "***")
            return value
        if isinstance(value, Mapping):
            return {self._masked(key): self._masked(member) for key, member in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._masked(member) for member in value]
        return value


def _encoded(value: object, indent: int | None) -> str:
    separators = (",", ":") if indent is None else None
    # ASCII, since a model's text may hold half of a surrogate pair, which UTF-8 has no bytes for.
    return json.dumps(value, indent=indent, separators=separators)
