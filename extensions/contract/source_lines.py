"""Tracing of an environment's source code, to find the line that violates the contract."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

from envs.backend import Backend
from envs.tool import shorten_path

_IMPORTING = "<frozen importlib"


def line_in(source: str, frame: FrameType | None) -> str | None:
    """Return the file and line of the innermost stack frame that runs an environment's code.

    Return None while a module is imported, because an import statement causes no finding.
    """
    while frame is not None and not frame.f_code.co_filename.startswith(_IMPORTING):
        if frame.f_code.co_filename.startswith(source):
            return _place(frame)
        frame = frame.f_back
    return None


def _place(frame: FrameType) -> str:
    return f"{shorten_path(frame.f_code.co_filename)}:{frame.f_lineno}"


def changing_line(
    source: str, run: Callable[[], object], watched: Callable[[], str]
) -> tuple[str, str] | None:
    """Run a function. Return the line that changes the watched value, and the function around it.

    Return None if no line of the environment changes the value.
    """
    before, last, found = watched(), ("", ""), ("", "")

    def look(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal last, found
        if last[0] and not found[0] and watched() != before:
            found = last
        if not frame.f_code.co_filename.startswith(source):
            return None
        if event == "line":
            last = _place(frame), frame.f_code.co_qualname
        return look

    _traced(run, look)
    return found if found[0] else None


def returning_line(source: str, run: Callable[[], object]) -> str | None:
    """Run a function, and return the source line where the function returns."""
    last = ""

    def look(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal last
        if not frame.f_code.co_filename.startswith(source):
            return None
        if event == "return":
            last = _place(frame)
        return look

    _traced(run, look)
    return last or None


Step = tuple[str, str]
"""Executed line, and hash of the local variables and of the returned value, if any."""
_MAX_STEPS = 20_000
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def steps_of(source: str, run: Callable[[], object]) -> list[Step]:
    """Run a function; return the executed lines in the source of an environment."""
    found: list[Step] = []

    def look(frame: FrameType, event: str, given: Any) -> Any:
        if not frame.f_code.co_filename.startswith(source):
            return None
        if event in ("line", "return") and len(found) < _MAX_STEPS:
            known = {name: _inside(value) for name, value in frame.f_locals.items()}
            told = _ADDRESS.sub("", repr((known, given if event == "return" else None)))
            found.append(
                (_place(frame), hashlib.sha256(told.encode("utf-8", "replace")).hexdigest())
            )
        return look

    _traced(run, look)
    return found


def _inside(value: object) -> object:
    return vars(value) if isinstance(value, Backend) else value


def parting_line(once: Sequence[Sequence[Step]], again: Sequence[Sequence[Step]]) -> str | None:
    """Compare two executions of the same calls; return the last line before they diverge."""
    for steps, others in zip(once, again, strict=False):
        for index, (step, other) in enumerate(zip(steps, others, strict=False)):
            if tuple(step) != tuple(other):
                return steps[max(index - 1, 0)][0]
    return None


def _traced(run: Callable[[], object], look: Callable[[FrameType, str, Any], Any]) -> None:
    before = sys.gettrace()
    sys.settrace(look)
    try:
        # What it raises is known already; here only its lines count.
        with suppress(Exception):
            run()
    finally:
        sys.settrace(before)
