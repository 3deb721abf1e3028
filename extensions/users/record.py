"""Data of a simulated user in an episode's record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.verdict import Verdict
from runner.records.episode_record import EpisodeRecord, StepRecord

UserError = Literal["not_understood", "silent"]
"""Mistake of the simulated user: the user stopped without understanding, or said nothing."""


class UserRecord(NamedTuple):
    """Data of the simulated user of an episode."""

    kind: str
    """``rules`` or ``model``."""
    answers: Sequence[str]
    """Answers of the user, in order."""
    stopped: bool
    """Whether the user ended the dialogue."""
    seed: int = 0
    error: UserError | None = None
    """Mistake of the simulated user that broke the episode; None without a mistake."""
    excludes_errors: bool = False
    """Whether a mistake of the simulated user turns a failed episode into an error without a
    verdict."""
    requests: int = 0
    """Number of requests to the model that plays the user."""
    tokens: int = 0
    """Input and output tokens of the requests to the user's model."""
    cost: float | None = None
    """US dollars; null without a known price."""

    @property
    def own_functions(self) -> Sequence[str]:
        """Return nothing, because the user's functions do not belong to the model."""
        return ()

    def all_steps(self, kept: Sequence[StepRecord]) -> Sequence[StepRecord]:
        """Return the steps of the record."""
        return kept

    def message_of(self, step: StepRecord) -> Mapping[str, Any] | None:
        """Return None, because all answers are in the record."""
        return None

    def verdict_members(self, verdict: Verdict | None) -> Mapping[str, Any]:
        """Return the mistake of the user that broke the episode, if any."""
        return {} if self.error is None else {"user_error": self.error}

    def check(self, verdict: Verdict) -> Verdict:
        """Return a verdict.

        Raises UnjudgeableEntry if ``--exclude-user-errors`` is set and a mistake of the user broke
        the episode.
        """
        if self.error is not None and self.excludes_errors and not verdict.valid:
            raise UnjudgeableEntry(f"the simulated user broke the episode: {self.error}")
        return verdict

    def problems(self, record: EpisodeRecord) -> Iterator[tuple[str, str]]:
        """Yield nothing: this data cannot contradict another part of the record."""
        yield from ()
