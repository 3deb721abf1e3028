"""A progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

Item = TypeVar("Item")

_WIDTH = 30


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
        filled = _WIDTH * done // total
        end = "\n" if done == total else ""
        stream.write(f"\r{label} [{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{total}{end}")
    else:
        stream.write(f"{label} {done}/{total}\n")
    stream.flush()
