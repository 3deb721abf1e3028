"""Which line of an environment's source did something: changed a value, returned, or runs on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from envs.tool import near

_IMPORTING = "<frozen importlib"


def line_in(source: str, frame: FrameType | None) -> str | None:
    """Return file and line of the innermost frame in the source of an environment.

    What a module asks while it is imported is not asked by who imports it.
    """
    while frame is not None and not frame.f_code.co_filename.startswith(_IMPORTING):
        if frame.f_code.co_filename.startswith(source):
            return _place(frame)
        frame = frame.f_back
    return None


def _place(frame: FrameType) -> str:
    return f"{near(frame.f_code.co_filename)}:{frame.f_lineno}"


def changing_line(source: str, run: Callable[[], object], watched: Callable[[], str]) -> str | None:
    """Run something; return the line after which what is watched is another, if there is one."""
    before, last, found = watched(), "", ""

    def look(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal last, found
        if last and not found and watched() != before:
            found = last
        if not frame.f_code.co_filename.startswith(source):
            return None
        if event == "line":
            last = _place(frame)
        return look

    _traced(run, look)
    return found or None


def returning_line(source: str, run: Callable[[], object]) -> str | None:
    """Run something; return the line from which it came back."""
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


def _traced(run: Callable[[], object], look: Callable[[FrameType, str, Any], Any]) -> None:
    before = sys.gettrace()
    sys.settrace(look)
    try:
        # What it raises is known already; here only its lines count.
        with suppress(Exception):
            run()
    finally:
        sys.settrace(before)
