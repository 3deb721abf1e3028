"""Places in an episode. The first turn is turn 1 in messages, but turn 0 in fields and in JSON."""

from __future__ import annotations

from typing import Literal, NamedTuple


class EpisodePlace(NamedTuple):
    """A place in an episode; all indices start at 0."""

    turn: int
    kind: Literal["start", "call", "end"] = "call"
    step: int = 0
    call: int = 0

    def __str__(self) -> str:
        """Return the place in words, with numbers that start at 1."""
        if self.kind != "call":
            return f"{self.kind} of turn {self.turn + 1}"
        return f"turn {self.turn + 1}, step {self.step + 1}, call {self.call + 1}"
