"""The data file that the traces are about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.extensions.traces.conversations import ENTRY


@pytest.fixture
def desk(write_lines: Callable[..., Path]) -> Path:
    """A data file with one entry."""
    return write_lines("desk.jsonl", ENTRY)
