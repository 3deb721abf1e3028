"""Notices: messages about changes in a world that come from events and not from calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from envs.state import Snapshot


class Notice(NamedTuple):
    """Message that an event has changed a world."""

    event: str
    text: str
    to: Literal["agent", "user"] | None = None
    """Participant who reads the text; None if nobody reads it."""
    at: str = ""
    """Time in the world, if the world has a clock."""

    def __str__(self) -> str:
        """Return the notice as text, with the time if there is one."""
        return f"[Notice {self.at}] {self.text}" if self.at else f"[Notice] {self.text}"


def list_notices(snapshot: Snapshot) -> Sequence[Notice]:
    """Return the notices of all worlds in a snapshot."""
    return [each for state in snapshot.states.values() for each in state.get("_notices", ())]
