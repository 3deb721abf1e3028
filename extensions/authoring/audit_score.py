"""Score of a set of episodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from checkers.verdict import Verdict


class EpisodesScore(NamedTuple):
    """Score of a set of episodes."""

    entries: int
    passed: int
    turns: int
    turns_passed: int

    @property
    def rate(self) -> float:
        """Share of episodes that passed, from 0 to 1."""
        return self.passed / self.entries if self.entries else 0.0


def score(verdicts: Iterable[Verdict]) -> EpisodesScore:
    """Count passed episodes and turns."""
    judged = list(verdicts)
    return EpisodesScore(
        len(judged),
        sum(verdict.valid for verdict in judged),
        sum(verdict.turns for verdict in judged),
        sum(verdict.turns_passed for verdict in judged),
    )
