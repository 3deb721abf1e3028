"""What judging an entry may take: time, and memory where the system limits it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from envs.lazy import lazily
from trajectories.errors import DataError

resource: Any = lazily("resource")

ENTRY_TIMEOUT = 600.0
"""Seconds; all entries of our data together take less."""

_SIZES = Path("/proc/self/statm")
_MEGABYTE = 2**20


class Allowance(NamedTuple):
    """What judging an entry may take."""

    seconds: float = ENTRY_TIMEOUT
    """In a process of its own; one process alone cannot stop itself."""
    megabytes: int | None = None
    """Of memory, besides what the process begins with; None for no limit."""


ALLOWANCE = Allowance()


@contextmanager
def limited_memory(megabytes: int | None) -> Iterator[None]:
    """Let this process take so much memory besides what it has; beyond that is a MemoryError.

    Args:
        megabytes: How much; None for no limit.

    Raises:
        DataError: The system does not limit the memory of a process.
    """
    if megabytes is None:
        yield
        return
    try:
        before = resource.getrlimit(resource.RLIMIT_AS)
        most = (
            int(_SIZES.read_text("ascii").split()[0]) * resource.getpagesize()
            + megabytes * _MEGABYTE
        )
        within = [most, *(old for old in before if old != resource.RLIM_INFINITY)]
        resource.setrlimit(resource.RLIMIT_AS, (min(within), before[1]))
    except (ImportError, OSError, ValueError):
        message = "this system does not limit the memory of a process; leave it out"
        raise DataError("--memory", message) from None
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
