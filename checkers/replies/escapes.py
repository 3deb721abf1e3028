"""Escape sequences in string literals of Java and JavaScript, which share most of them."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u+([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3]?[0-7]{1,2})|(\r\n|.))",
    re.DOTALL,
)
_MEANINGS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "s": " ",
    "\n": "",
    "\r\n": "",
}


def unescape(text: str) -> str:
    """Return what the inside of a string literal stands for."""
    found = _ESCAPE.sub(_meaning, text)
    # Two escapes of half a character each are one character.
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _meaning(escape: re.Match[str]) -> str:
    point, unit, byte, octal, single = escape.groups()
    if octal is not None:
        return chr(int(octal, 8))
    if single is not None:
        return _MEANINGS.get(single, single)
    code = int(point or unit or byte, 16)
    return chr(code) if code <= 0x10FFFF else "\ufffd"
