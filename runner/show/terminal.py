"""What a terminal is shown: lines, tables, progress.

There is nothing in a line that a terminal would obey, and colour only where it is wanted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, TextIO, TypeVar

from envs.lazy import lazily

if TYPE_CHECKING:
    import shutil
else:
    # It brings archives along; few tables are wider than every terminal.
    shutil = lazily("shutil")

Item = TypeVar("Item")

Tone = Literal["plain", "strong", "faint", "good", "bad", "new"]

WIDTH = 80
"""Columns of the narrowest terminal for which lines are meant."""

_BAR = 30
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
    """Return a line as it is written to a terminal."""
    text = visible(line.text)
    code = _CODES.get(line.tone) if colour and text else None
    return f"\033[{code}m{text}\033[0m" if code else text


def visible(text: str) -> str:
    """Return a text with all that is no printable character as an escape: line breaks too."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def say(text: object = "", *, end: str = "\n", flush: bool = False) -> None:
    """Print lines that are a result, with nothing in them that a terminal would obey."""
    print("\n".join(map(visible, str(text).split("\n"))), end=end, flush=flush)


def say_json(value: object, *, indent: int | None = 2, flush: bool = False) -> None:
    """Print a JSON value that is a result, in ASCII: so nothing in it is obeyed or looks alike."""
    print(json.dumps(value, indent=indent, allow_nan=False), flush=flush)


def tell(text: str, stream: TextIO) -> None:
    """Write what is no result, such as progress: that nobody can read it must not end the work."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):
        divert(stream)


def divert(stream: TextIO) -> None:
    """Let what is written from now on, and what is left in the buffer, go nowhere."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned columns: the first flush left, the others flush right.

    Columns for which there is no room in the terminal, which has 80 where there is none, stand
    below, beside the first one again.

    Args:
        rows: The heading first; all of the same length.
    """
    shown = [[*map(visible, row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    room = WIDTH
    if sum(widths) + 2 * len(widths) > room:
        room = max(room, shutil.get_terminal_size().columns)
    blocks: list[list[int]] = [[0]]
    for column in range(1, len(widths)):
        taken = sum(widths[each] + 2 for each in blocks[-1]) + widths[column]
        if taken > room and len(blocks[-1]) > 1:
            blocks.append([0])
        blocks[-1].append(column)
    return "\n\n".join(_block(shown, widths, block) for block in blocks)


def _block(rows: Sequence[Sequence[str]], widths: Sequence[int], columns: Sequence[int]) -> str:
    lines = []
    for row in rows:
        cells = [row[each].rjust(widths[each]) for each in columns[1:]]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    lines.insert(1, "  ".join("-" * widths[each] for each in columns))
    return "\n".join(lines)


def progress(items: Iterable[Item], total: int, label: str, stream: TextIO) -> Iterator[Item]:
    """Yield items and show on a stream how many of them have come.

    Args:
        items: What to pass on.
        total: How many there will be.
        label: What is being done.
        stream: Where to show it: a bar that moves on a terminal, else a line per tenth.
    """
    moving = stream.isatty()
    shown = 0
    for done, item in enumerate(items, start=1):
        yield item
        step = done * (100 if moving else 10) // total
        if step > shown or done == total:
            shown = step
            _show(done, total, label, stream, moving)


def _show(done: int, total: int, label: str, stream: TextIO, moving: bool) -> None:
    if moving:
        filled = _BAR * done // total
        end = "\n" if done == total else ""
        tell(f"\r{label} [{'#' * filled}{'.' * (_BAR - filled)}] {done}/{total}{end}", stream)
    else:
        tell(f"{label} {done}/{total}\n", stream)
