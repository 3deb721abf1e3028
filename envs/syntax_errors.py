"""Messages for invalid Python or JSON; the messages do not depend on the version of Python."""

from __future__ import annotations

import json
import re

_SIGNS = re.compile(r"""'''|\"""|['"]|[()\[\]{}]|#""")
_ENDS = {quote: re.compile(rf"[\\\n]|{quote}") for quote in "'\""}
_LONG_ENDS = {quote * 3: re.compile(rf"\\|{quote * 3}") for quote in "'\""}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_MAX_DEPTH = 200
_INVALID = "invalid syntax"
_DEEP = "it is nested too deep"
_ALIKE = re.compile(
    "positional argument follows keyword argument|leading zeros in decimal integer literals"
    "|invalid (?:decimal|hexadecimal|octal|binary) literal"
)
"""Error messages that are the same in all Python versions."""
# Python 3.13 reports a trailing comma, other versions the token after it.
_TRAILING = {
    "Illegal trailing comma before end of object": (
        "Expecting property name enclosed in double quotes"
    ),
    "Illegal trailing comma before end of array": "Expecting value",
}
_BLANKS = re.compile(r"[ \t\n\r]*")


def describe_python_error(text: str, error: Exception) -> str:
    """Describe the syntax error in Python code, such as an unmatched bracket or quote."""
    if isinstance(error, (MemoryError, RecursionError)):
        return _DEEP
    if "\0" in text:
        return "it holds a null character"
    if isinstance(error, UnicodeError):
        return "it has a lone surrogate"
    if isinstance(error, SyntaxError) and error.msg.startswith("Exceeds the limit"):
        return "an integer has too many digits"
    flaw = _find_unmatched(text)
    if flaw == _INVALID and isinstance(error, SyntaxError) and _ALIKE.match(error.msg):
        return error.msg
    return flaw


def describe_json_error(error: Exception) -> str:
    """Return the reason and position of a JSON error."""
    if isinstance(error, RecursionError):
        return _DEEP
    if isinstance(error, json.JSONDecodeError) and error.msg in _TRAILING:
        blanks = _BLANKS.match(error.doc, error.pos + 1)
        place = blanks.end() if blanks else error.pos
        return str(json.JSONDecodeError(_TRAILING[error.msg], error.doc, place))
    return str(error).partition("; use sys.")[0]


def _find_unmatched(text: str) -> str:
    opened: list[str] = []
    position = 0
    while found := _SIGNS.search(text, position):
        sign, position = found[0], found.end()
        if sign == "#":
            line = text.find("\n", position)
            position = len(text) if line < 0 else line
        elif sign in _CLOSING:
            opened.append(sign)
            if len(opened) > _MAX_DEPTH:
                return _DEEP
        elif sign in _CLOSING.values():
            if not opened:
                return f"unmatched '{sign}'"
            last = opened.pop()
            if _CLOSING[last] != sign:
                return f"closing '{sign}' does not match opening '{last}'"
        else:
            position = _find_literal_end(text, sign, position)
            if position < 0:
                return "unterminated string literal"
    return f"'{opened[-1]}' was never closed" if opened else _INVALID


def _find_literal_end(text: str, quote: str, position: int) -> int:
    ends = _ENDS.get(quote) or _LONG_ENDS[quote]
    while found := ends.search(text, position):
        if found[0] == quote:
            return found.end()
        if found[0] == "\n":
            return -1
        position = found.end() + 1  # skips an escaped character
    return -1
