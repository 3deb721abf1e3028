"""Entries whose calls are executed: from the results of a model's one turn to a verdict."""

from __future__ import annotations

from checkers.results import Comparison, check_results
from checkers.verdict import TurnOutcome, Verdict
from trajectories.schema import ExpectedResults


def judge_results(expects: ExpectedResults, truth: TurnOutcome, model: TurnOutcome) -> Verdict:
    """Judge the one turn of an entry whose results are compared.

    Args:
        expects: How they are compared.
        truth: What the ground truth led to.
        model: What the model's calls led to.

    Raises:
        CannotJudge: A call of the ground truth is refused.
    """
    found = check_results(truth.results, model.results, comparisons_of(expects))
    return Verdict.of_single_turn(found)


def comparisons_of(expects: ExpectedResults) -> list[Comparison]:
    """Return how the results of an entry are compared, one for each ground-truth call."""
    return [Comparison(check.by, check.tolerance) for check in expects.checks]
