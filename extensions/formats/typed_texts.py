"""Values as text: of string parameters as they are, of others as JSON, with end marks quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from envs.errors import MalformedCall
from extensions.formats.reading import after_blanks, json_at


def value_of(text: str, schema: Mapping[str, Any] | None) -> Any:
    """Return the value of a text: of a string parameter as it is, of others as JSON, else as it is.

    One line break at each end does not belong to it.
    """
    text = text.removeprefix("\n").removesuffix("\n")
    if schema is not None and schema.get("type") == "string":
        return text
    try:
        value, end = json_at(text, 0)
    except MalformedCall:
        return text
    return value if after_blanks(text, end) == len(text) else text


def text_of(value: Any, schema: Mapping[str, Any] | None) -> str:
    """Return the text that stands for a value, as ``value_of`` reads it between line breaks."""
    if isinstance(value, str) and value == value_of(f"\n{value}\n", schema):
        return value
    return json.dumps(value, ensure_ascii=False)


def wrapped(text: str) -> str:
    """Return the text of a value between line breaks, if need be, so that it keeps its own."""
    return f"\n{text}\n" if text[:1] == "\n" or text[-1:] == "\n" else text


class Quoting:
    """How a mark is written inside of a value that ends with it: its first sign as an entity.

    Texts without the mark stay as they are, entities and all.

    The mark begins with ``<``.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._quoted = f"&lt;{mark[1:]}"
        self._entity = re.compile(rf"&(?:amp;)*+lt;{re.escape(mark[1:])}")

    def quoted(self, text: str) -> str:
        """Return a text without the mark."""
        text = self._entity.sub(lambda found: f"&amp;{found[0][1:]}", text)
        return text.replace(self._mark, self._quoted)

    def unquoted(self, text: str) -> str:
        """Return the text that was quoted."""
        if self._quoted[1:] not in text:
            return text
        return self._entity.sub(self._one, text)

    def _one(self, found: re.Match[str]) -> str:
        entity = found[0]
        return self._mark if entity == self._quoted else f"&{entity.removeprefix('&amp;')}"
