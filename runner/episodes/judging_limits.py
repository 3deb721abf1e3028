"""Time and memory limits on judging an entry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from envs.lazy_modules import lazy_module
from trajectories.errors import DataError

resource: Any = lazy_module("resource")

ENTRY_TIMEOUT = 600.0
"""Time limit per entry, in seconds; judging the whole built-in data set takes less time."""

_SIZES = Path("/proc/self/statm")
_MEGABYTE = 2**20


class TimeAndMemoryLimits(NamedTuple):
    """Limits on judging an entry."""

    seconds: float = ENTRY_TIMEOUT
    """Time limit in seconds, enforced in worker processes only."""
    megabytes: int | None = None
    """Megabytes that a process may use in addition to its initial memory; None for no limit."""


ALLOWANCE = TimeAndMemoryLimits()


@contextmanager
def limited_memory(megabytes: int | None) -> Iterator[None]:
    """Limit the additional memory of this process; above the limit, Python raises MemoryError.

    Raises DataError if the system cannot limit the memory of a process.
    """
    if megabytes is None:
        yield
        return
    try:
        before = resource.getrlimit(resource.RLIMIT_AS)
        used = int(_SIZES.read_text("ascii").split()[0]) * resource.getpagesize()
        most = used + megabytes * _MEGABYTE
        within = [most, *(old for old in before if old != resource.RLIM_INFINITY)]
        resource.setrlimit(resource.RLIMIT_AS, (min(within), before[1]))
    except (ImportError, OSError, ValueError):
        message = "this system cannot limit the memory of a process; omit the option"
        raise DataError("--memory", message) from None
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
