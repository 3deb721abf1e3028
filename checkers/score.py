"""From verdicts to scores, with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

from checkers.verdict import Verdict

Z_95 = 1.959963984540054
"""Two-sided 95% quantile of the normal distribution."""


class Score(NamedTuple):
    """The score of a set of episodes."""

    entries: int
    passed: int
    turns: int
    turns_passed: int

    @property
    def rate(self) -> float:
        """Share of episodes that passed, from 0 to 1."""
        return self.passed / self.entries if self.entries else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95% Wilson score interval of the rate."""
        return wilson(self.passed, self.entries)


def score(verdicts: Iterable[Verdict]) -> Score:
    """Count what passed, in episodes and in turns."""
    judged = list(verdicts)
    return Score(
        len(judged),
        sum(verdict.valid for verdict in judged),
        sum(verdict.turns for verdict in judged),
        sum(verdict.turns_passed for verdict in judged),
    )


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """Return the 95% score interval of a binomial proportion (Wilson, 1927)."""
    if not trials:
        return 0.0, 1.0
    rate, square = successes / trials, Z_95 * Z_95
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    spread = Z_95 * sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials))
    spread /= 1 + square / trials
    return max(0.0, centre - spread), min(1.0, centre + spread)
