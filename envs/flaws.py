"""What keeps a text from being Python or JSON, in words that no version of Python has changed."""

from __future__ import annotations

import json
import re

_SIGNS = re.compile(r"""'''|\"""|['"]|[()\[\]{}]|#""")
_ENDS = {quote: re.compile(rf"[\\\n]|{quote}") for quote in "'\""}
_LONG_ENDS = {quote * 3: re.compile(rf"\\|{quote * 3}") for quote in "'\""}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_DEEPEST = 200
_INVALID = "invalid syntax"
_DEEP = "it is nested too deep"
_ALIKE = re.compile(
    "positional argument follows keyword argument|leading zeros in decimal integer literals"
    "|invalid (?:decimal|hexadecimal|octal|binary) literal"
)
"""What every version says in the same cases, but for a text with two faults at once."""
# Python 3.13 tells of a comma at the end where the others tell of what comes after it.
_TRAILING = {
    "Illegal trailing comma before end of object": (
        "Expecting property name enclosed in double quotes"
    ),
    "Illegal trailing comma before end of array": "Expecting value",
}
_BLANKS = re.compile(r"[ \t\n\r]*")


def flaw_of_python(text: str, error: Exception) -> str:
    """Return why a text is not Python, by its brackets and quotes where these say it."""
    if isinstance(error, (MemoryError, RecursionError)):
        return _DEEP
    if "\0" in text:
        return "it holds a null character"
    if isinstance(error, UnicodeError):
        return "it holds half of a character"
    if isinstance(error, SyntaxError) and error.msg.startswith("Exceeds the limit"):
        return "an integer in it has too many digits"
    flaw = _unbalanced(text)
    if flaw == _INVALID and isinstance(error, SyntaxError) and _ALIKE.match(error.msg):
        return error.msg
    return flaw


def flaw_of_json(error: Exception) -> str:
    """Return why a text is not JSON, and where."""
    if isinstance(error, RecursionError):
        return _DEEP
    if isinstance(error, json.JSONDecodeError) and error.msg in _TRAILING:
        blanks = _BLANKS.match(error.doc, error.pos + 1)
        place = blanks.end() if blanks else error.pos
        return str(json.JSONDecodeError(_TRAILING[error.msg], error.doc, place))
    return str(error)


def _unbalanced(text: str) -> str:
    """Return which bracket or quote has none to go with it, if that is what is wrong."""
    opened: list[str] = []
    position = 0
    while found := _SIGNS.search(text, position):
        sign, position = found[0], found.end()
        if sign == "#":
            line = text.find("\n", position)
            position = len(text) if line < 0 else line
        elif sign in _CLOSING:
            opened.append(sign)
            if len(opened) > _DEEPEST:
                return _DEEP
        elif sign in _CLOSING.values():
            if not opened:
                return f"unmatched '{sign}'"
            last = opened.pop()
            if _CLOSING[last] != sign:
                return f"closing '{sign}' does not match opening '{last}'"
        else:
            position = _end_of_literal(text, sign, position)
            if position < 0:
                return "unterminated string literal"
    return f"'{opened[-1]}' was never closed" if opened else _INVALID


def _end_of_literal(text: str, quote: str, position: int) -> int:
    """Return where a text literal that has begun ends, -1 where it does not."""
    ends = _ENDS.get(quote) or _LONG_ENDS[quote]
    while found := ends.search(text, position):
        if found[0] == quote:
            return found.end()
        if found[0] == "\n":
            return -1
        position = found.end() + 1  # what is behind a backslash
    return -1
