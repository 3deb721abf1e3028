"""Places in an episode: people count turns, steps and calls from 1, fields and JSON from 0."""

from __future__ import annotations

from typing import Literal, NamedTuple


class EpisodePlace(NamedTuple):
    """Place in an episode; all numbers count from 0."""

    turn: int
    kind: Literal["start", "call", "end"] = "call"
    step: int = 0
    """Step in the turn, for a call."""
    call: int = 0
    """Position in the step, for a call."""

    def __str__(self) -> str:
        """Return the place in words, counted from 1."""
        if self.kind != "call":
            return f"{self.kind} of turn {self.turn + 1}"
        return f"turn {self.turn + 1}, step {self.step + 1}, call {self.call + 1}"
