"""Terminal output of lines, tables and progress, with escaped control characters."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, TextIO, TypeVar

from envs.lazy_modules import lazy_module
from envs.state import cut

if TYPE_CHECKING:
    import shutil
else:
    # This import is slow, and only terminals need it.
    shutil = lazy_module("shutil")

Item = TypeVar("Item")

Tone = Literal["plain", "strong", "faint", "good", "bad", "new"]

WIDTH = 80

_BAR = 30
_MAX_ERROR_CHARS = 2_000
_IS_WHOLE: ContextVar[bool] = ContextVar("is_whole", default=False)
_CODES: Mapping[Tone, str] = {"strong": "1", "faint": "2", "good": "32", "bad": "31", "new": "33"}


class OutputLine(NamedTuple):
    """One line of output."""

    text: str
    tone: Tone = "plain"


def wants_colour(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Tell whether a stream is a terminal and the user allows colour (NO_COLOR)."""
    refused = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return stream.isatty() and not refused


def paint(line: OutputLine, *, colour: bool) -> str:
    """Return a line as a string; with ``colour``, terminal codes set the colour."""
    text = escape_unprintable(line.text)
    code = _CODES.get(line.tone) if colour and text else None
    return f"\033[{code}m{text}\033[0m" if code else text


def escape_unprintable(text: str) -> str:
    """Escape the unprintable characters and line breaks of a string."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def error_text(message: object) -> str:
    """Return an error message with escaped control characters; the middle of a long one is cut."""
    text, half = escape_unprintable(str(message)), _MAX_ERROR_CHARS // 2
    return text if len(text) <= _MAX_ERROR_CHARS else f"{text[:half]} ... {text[-half:]}"


def say(text: object = "", *, end: str = "\n", flush: bool = False) -> None:
    """Print a result with escaped control characters."""
    print("\n".join(map(escape_unprintable, str(text).split("\n"))), end=end, flush=flush)


def say_json(value: object, *, indent: int | None = 2, flush: bool = False) -> None:
    """Print a JSON result in ASCII, without control or lookalike characters."""
    print(json.dumps(value, indent=indent, allow_nan=False), flush=flush)


@contextmanager
def whole_texts() -> Iterator[None]:
    """Within a ``with`` block, the function ``fitted`` does not shorten strings."""
    token = _IS_WHOLE.set(True)
    try:
        yield
    finally:
        _IS_WHOLE.reset(token)


def cut_to_terminal(text: str, limit: int | None = None) -> str:
    """Return a string; on a terminal, cut the string to ``limit`` or to the terminal's width."""
    if _IS_WHOLE.get() or not sys.stdout.isatty():
        return text
    return cut(text, limit or max(WIDTH, terminal_width()))


def terminal_width() -> int:
    """Return the width of the terminal in characters; 80 without a terminal."""
    sized = "COLUMNS" in os.environ or (sys.__stdout__ and sys.__stdout__.isatty())
    return shutil.get_terminal_size((WIDTH, 24)).columns if sized else WIDTH


def tell(text: str, stream: TextIO) -> None:
    """Write progress or notes; ignore a closed stream."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):
        discard_output(stream)


def discard_output(stream: TextIO) -> None:
    """Discard all further output, including the buffer."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def table(rows: Sequence[Sequence[str]], *, split: bool = True) -> str:
    """Format rows as a text table; the first column is left-aligned, all others right-aligned.

    The first row is the heading. With ``split``, a table wider than the terminal (default: 80
    characters) is divided into blocks. Each block repeats the first column.
    """
    shown = [[*map(escape_unprintable, row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    room = terminal_width()
    blocks: list[list[int]] = [[0]]
    for column in range(1, len(widths)):
        taken = sum(widths[each] + 2 for each in blocks[-1]) + widths[column]
        if split and taken > room and len(blocks[-1]) > 1:
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


def format_count(number: int, noun: str) -> str:
    """Return a number and a noun in the singular or plural, such as "1 entry" or "2 entries"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def draw_bar(share: float) -> str:
    """Return a share between 0 and 1 as a bar."""
    return f"[{'#' * int(_BAR * share):.<{_BAR}}]"


def progress(items: Iterable[Item], total: int, label: str, stream: TextIO) -> Iterator[Item]:
    """Yield items and show the progress: a bar on a terminal, else a line after every 10%."""
    moving = stream.isatty()
    shown = 0
    for done, item in enumerate(items, start=1):
        yield item
        step = done * (100 if moving else 10) // total
        if step > shown or done == total:
            shown = step
            begin = f"\r{label} {draw_bar(done / total)}" if moving else label
            end = "" if moving and done < total else "\n"
            tell(f"{begin} {done}/{total}{end}", stream)
