"""Trajectories as environments and tasks of other libraries, each in a module of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trajectories.errors import DataError


@contextmanager
def extra() -> Iterator[None]:
    """Import the other library.

    Raises:
        DataError: It is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        message = "is not installed: pip install 'turnwise[adapters]'"
        raise DataError(error.name or "an adapter", message) from None
