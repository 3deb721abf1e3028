"""A data file of the hand-made trajectories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from trajectories.schema import Trajectory


@pytest.fixture
def data(write_lines: Callable[..., Path], folders: Trajectory, help_desk: Trajectory) -> Path:
    """Write a data file of two trajectories."""
    return write_lines("data.jsonl", folders, help_desk)
