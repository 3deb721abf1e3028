"""Data of a simulated user in an episode's record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.verdict import Verdict
from runner.records.episode_record import ExtensionData

UserError = Literal["not_understood", "silent"]
"""Mistake of the simulated user: it did not understand and stopped, or it said nothing."""


class UserFields(NamedTuple):
    """Data of the simulated user of an episode."""

    kind: str
    """``rules`` or ``model``."""
    answers: Sequence[str]
    """Answers of the user, in order."""
    stopped: bool
    """Whether the user ended the dialogue."""
    seed: int = 0
    error: UserError | None = None
    """Mistake of the simulated user; None without a mistake."""
    excludes_errors: bool = False
    """Whether a failed episode with a user mistake counts as an error and gets no verdict."""
    requests: int = 0
    """Number of requests to the model that plays the user."""
    tokens: int = 0
    """Input and output tokens of the requests to the user's model."""
    cost: float | None = None
    """US dollars; null without a known price."""


class UserRecord(UserFields, ExtensionData):
    """Data of the simulated user as part of an episode record."""

    def verdict_members(self, verdict: Verdict | None) -> Mapping[str, Any]:
        """Return the user's mistake as an object, or an empty object without a mistake."""
        return {} if self.error is None else {"user_error": self.error}

    def check(self, verdict: Verdict) -> Verdict:
        """Return the verdict unchanged.

        With ``--exclude-user-errors``, raises UnjudgeableEntry if the episode failed and the user
        made a mistake.
        """
        if self.error is not None and self.excludes_errors and not verdict.valid:
            raise UnjudgeableEntry(f"the simulated user broke the episode: {self.error}")
        return verdict
