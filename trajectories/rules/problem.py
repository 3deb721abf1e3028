"""What a rule finds: a problem, with its place and its weight."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple


class Severity(StrEnum):
    """How bad a problem is, the worst first."""

    ERROR = "error"
    """The entry is wrong: nobody can pass it, or somebody passes who should not."""
    WARNING = "warning"
    """A person should look at it; it is right only for a reason that no rule can see."""
    INFO = "info"
    """Worth knowing, and often intended."""


class Problem(NamedTuple):
    """One thing that a rule finds."""

    rule: str
    """Id of the rule."""
    severity: Severity
    file: str
    """Where the entry stands."""
    id: str
    """Of the entry; of the function, where a function document is at fault."""
    turn: int | None
    """Index of the turn, or None where it concerns the entry as a whole."""
    field: str
    """The member at fault, such as ``ground_truth[1].amount``."""
    message: str

    def __str__(self) -> str:
        """Return the problem as one line."""
        turn = "" if self.turn is None else f": turn {self.turn}"
        place = f"{self.file}: {self.id}{turn}: {self.field}"
        return f"{place}: {self.severity} {self.rule}: {self.message}"

    def to_json(self) -> dict[str, Any]:
        """Return the problem as one flat JSON object."""
        return {**self._asdict(), "severity": self.severity.value}


def brief(value: object, limit: int = 80) -> str:
    """Return a value as it is shown in a message."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text[: 4 * limit].split())
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
