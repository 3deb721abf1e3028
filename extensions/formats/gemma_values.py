"""Values as Gemma writes them: JSON with bare names, and texts between marks of their own."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from envs.calls import MAX_DEPTH
from envs.errors import MalformedCall
from extensions.formats.reading import after_blanks, json_at
from extensions.formats.typed_texts import Quoting

QUOTE, ESCAPE = '<|"|>', "<escape>"
"""What texts stand between: of Gemma 4, and of FunctionGemma."""
_QUOTING = Quoting(QUOTE)
_NAMED_MEMBER = re.compile(r"([^\s:{}\[\],<\"]++)\s*+:")
_NEXT = re.compile(r"\s*+([,}\]:]?)")
_PLAIN_KEY = re.compile(r"[A-Za-z_]\w*+")


def written(value: Any) -> str:
    """Write a value, its texts between quote marks."""
    if isinstance(value, str):
        return f"{QUOTE}{_QUOTING.quoted(value)}{QUOTE}"
    if isinstance(value, dict):
        members = (f"{_key(key)}:{written(member)}" for key, member in value.items())
        return f"{{{','.join(members)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(written, value))}]"
    return json.dumps(value)


def _key(key: Any) -> str:
    return key if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) else written(str(key))


class Reader(NamedTuple):
    """Reads values of a text, whose strings are between some mark."""

    text: str
    quote: str

    def value(self, position: int, depth: int = 0) -> tuple[Any, int]:
        """Return the value at a place, and where it ends.

        Raises:
            MalformedCall: There is none.
        """
        if depth > MAX_DEPTH:
            raise MalformedCall(f"Arguments are nested more than {MAX_DEPTH} levels deep.")
        text = self.text
        if text.startswith(self.quote, position):
            return self._string(position)
        if text.startswith("[", position):
            return self._members(position + 1, "]", depth)
        if text.startswith("{", position):
            members, end = self._members(position + 1, "}", depth)
            return dict(members), end
        return json_at(text, position, "A value")

    def _string(self, position: int) -> tuple[str, int]:
        begin = position + len(self.quote)
        end = self.text.find(self.quote, begin)
        if end < 0:
            raise MalformedCall(f"A text is not closed by {self.quote}.")
        shown = self.text[begin:end]
        return (_QUOTING.unquoted(shown) if self.quote == QUOTE else shown), end + len(self.quote)

    def _members(self, position: int, closing: str, depth: int) -> tuple[list[Any], int]:
        """Return the members up to a bracket, those of an object as pairs."""
        members: list[Any] = []
        sign = _sign(self.text, position)
        if sign[0] == closing:
            return members, sign[1]
        while True:
            key = None
            if closing == "}":
                key, position = self._name(position)
            value, position = self.value(after_blanks(self.text, position), depth + 1)
            members.append(value if key is None else (key, value))
            mark, position = _sign(self.text, position)
            if mark == closing:
                return members, position
            if mark != ",":
                raise MalformedCall(f"An argument must be followed by a comma or {closing}.")

    def _name(self, position: int) -> tuple[str, int]:
        position = after_blanks(self.text, position)
        if self.text.startswith(self.quote, position):
            name, position = self._string(position)
            mark, position = _sign(self.text, position)
            if mark == ":":
                return name, position
        elif named := _NAMED_MEMBER.match(self.text, position):
            return named[1], named.end()
        raise MalformedCall("An argument must be NAME:VALUE.")


def _sign(text: str, position: int) -> tuple[str, int]:
    """Return the comma, colon or closing bracket that is next, if one is, and where it ends."""
    found = _NEXT.match(text, position)
    return (found[1], found.end()) if found else ("", position)
