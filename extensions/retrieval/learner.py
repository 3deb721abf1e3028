"""Interface of a training, with epochs and a learner."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol


class Epoch(NamedTuple):
    """Finished epoch."""

    number: int
    """Number of the epoch, starting at 1."""
    steps: int
    """Optimiser steps since the start."""
    loss: float
    """Mean loss of the epoch, in nats."""


class Learner(Protocol):
    """Model in training."""

    def learn(self, last: Epoch | None, after: Callable[[Epoch], None]) -> None:
        """Train the remaining epochs; call ``after`` at the end of each epoch."""
        ...

    def save(self, folder: Path) -> None:
        """Write the current model into a folder."""
        ...
