"""Lines for a terminal: nothing in them that it would obey, and colour only where it is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Literal, NamedTuple

Tone = Literal["plain", "strong", "faint", "good", "bad", "new"]

_CODES: Mapping[Tone, str] = {"strong": "1", "faint": "2", "good": "32", "bad": "31", "new": "33"}


class Line(NamedTuple):
    """One line of output."""

    text: str
    tone: Tone = "plain"


def wants_colour(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Tell whether a stream is a terminal, and the user has not refused colour (NO_COLOR)."""
    refused = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return stream.isatty() and not refused


def painted(line: Line, *, colour: bool) -> str:
    """Return a line as it is written to a terminal.

    Args:
        line: The line; its text may be a model's.
        colour: Whether to colour it by its tone.
    """
    text = visible(line.text)
    code = _CODES.get(line.tone) if colour and text else None
    return f"\033[{code}m{text}\033[0m" if code else text


def visible(text: str) -> str:
    """Return a text with all that is no printable character as an escape: line breaks too."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def clipped(text: str, width: int) -> str:
    """Return a text cut off where it gets longer than so many characters."""
    return text if len(text) <= width else f"{text[: width - 3]}..."
