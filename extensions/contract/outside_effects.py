"""Observer of effects outside of the session: files, processes, connections and threads."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

from extensions.contract.source_lines import line_in

_FILE_CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink")
_EFFECTS: Mapping[str, str] = {
    **dict.fromkeys(_FILE_CHANGES, "changes files"),
    "os.chdir": "changes the working directory",
    "os.putenv": "sets an environment variable",
    "os.unsetenv": "removes an environment variable",
    **dict.fromkeys(
        ("subprocess.Popen", "os.system", "os.fork", "os.posix_spawn", "os.exec"),
        "starts a process",
    ),
    **dict.fromkeys(
        ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostname"),
        "uses the network",
    ),
    "sqlite3.connect": "opens a database",
}
"""Maps Python's audit events to descriptions of their effects."""
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class _Watch:
    def __init__(self, source: str) -> None:
        self.source = source
        self.thread = threading.get_ident()
        self.effects: list[tuple[str, str]] = []

    def note(self, event: str, args: Sequence[Any]) -> None:
        said = self._describe_open(*args) if event == "open" else _EFFECTS[event]
        if said:
            # The audit hook itself is the frame above.
            self.add(said, sys._getframe(2))

    def add(self, effect: str, frame: FrameType) -> None:
        line = line_in(self.source, frame)
        if line:
            self.effects.append((line, effect))

    def _describe_open(self, path: object, _: object, flags: object) -> str | None:
        if not isinstance(path, (str, bytes)) or not isinstance(flags, int):
            return None
        file = os.path.abspath(os.fsdecode(path))
        if flags & _WRITES:
            return f"writes the file {file}"
        is_data = file.startswith((self.source, *_find_library_folders()))
        return None if is_data else f"reads the file {file}, which is not part of the package"


_watches: list[_Watch] = []


@contextmanager
def watched_effects(source: str) -> Iterator[Sequence[tuple[str, str]]]:
    """Collect a source line and a description for each effect outside of the session."""
    _install_hook()
    watch = _Watch(source)
    start = threading.Thread.start

    def watched_start(thread: threading.Thread) -> None:
        watch.add("starts a thread", sys._getframe(1))
        start(thread)

    _watches.append(watch)
    # Not all versions of Python have an audit event for threads.
    threading.Thread.start = watched_start  # type: ignore[method-assign, assignment]
    try:
        yield watch.effects
    finally:
        threading.Thread.start = start  # type: ignore[method-assign]
        _watches.remove(watch)


@cache
def _install_hook() -> None:
    # Python cannot remove an audit hook.
    sys.addaudithook(_hear)


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if _watches and (event == "open" or event in _EFFECTS):
        for watch in _watches:
            if watch.thread == threading.get_ident():
                watch.note(event, args)


@cache
def _find_library_folders() -> tuple[str, ...]:
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return ours, sys.prefix, sys.base_prefix, "/usr/share/zoneinfo", os.devnull
