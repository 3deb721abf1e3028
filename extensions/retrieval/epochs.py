"""What a training says of itself after an epoch, whatever it trains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol


class Epoch(NamedTuple):
    """An epoch that is over."""

    number: int
    """From 1."""
    steps: int
    """Steps of the optimiser since the beginning."""
    loss: float
    """Mean of the epoch, in nats."""


class Learner(Protocol):
    """Something on its way to being trained."""

    def learn(self, last: Epoch | None, after: Callable[[Epoch], None]) -> None:
        """Go through the epochs after the last one; call ``after`` when each is over.

        Before that, what is needed to go on is on the disk.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write what was learned so far into a folder."""
        ...
