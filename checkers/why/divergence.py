"""Where an episode left the ground truth: the first call that led astray, or what is missing.

A turn's ground truth passes through several states, and its calls may come in another order. A
value is therefore *off the path* only where it is in none of these states.
"""

from __future__ import annotations

from typing import NamedTuple

from checkers.turn import missing_results
from checkers.why.alignment import touching
from checkers.why.trace import Trace, TracedTurn
from envs.results import Result
from envs.state import Difference, Snapshot


class Divergence(NamedTuple):
    """The place where an episode left the ground truth."""

    turn: int
    step: int
    """Index among the turn's steps with calls; their number, where ``call`` is None."""
    call: int | None
    """Index in the step; None at the end of the turn, when what is wrong is missing."""
    differences: tuple[Difference, ...]
    """Where the state is wrong: what the ground truth has at the end of the turn, and what is
    there. Empty where only results are missing."""


def first_divergence(truth: Trace, model: Trace) -> Divergence | None:
    """Return where an episode left the ground truth first, or None where it never did.

    A detour that is over by the end of its turn is none: it is the state at the end of a turn that
    counts, and whether its results were seen by then.

    Args:
        truth: What the ground truth leads to.
        model: What the model did.
    """
    seen: list[Result] = []
    for turn, (expected, actual) in enumerate(zip(truth.turns, model.turns, strict=False)):
        outcome = actual.outcome
        seen += outcome.results
        if expected.after != actual.after:
            return _departure(turn, expected, actual)
        needed = expected.outcome
        if needed.acted and (not outcome.acted or missing_results(needed.results, seen)):
            return Divergence(turn, len(actual.steps), None, ())
    return None


def off_path(truth_turn: TracedTurn, state: Snapshot) -> list[Difference]:
    """Return where a state has what the ground truth has at no moment of a turn.

    Args:
        truth_turn: The ground truth of the turn.
        state: A state of the model's in that turn.

    Returns:
        The differences from the state that the ground truth ends the turn in.
    """
    off = truth_turn.after.differences(state)
    for moment in (truth_turn.before, *[call.after for call in truth_turn.calls[:-1]]):
        if off:
            off = touching(off, moment.differences(state))
    return off


def _departure(turn: int, expected: TracedTurn, actual: TracedTurn) -> Divergence:
    """Return the first call that put something off the path which stayed so, or the turn's end."""
    lasting = off_path(expected, actual.after)
    if lasting:
        for step, calls in enumerate(actual.steps):
            for index, call in enumerate(calls):
                off = touching(off_path(expected, call.after), lasting)
                if off:
                    return Divergence(turn, step, index, tuple(off))
    missing = expected.after.differences(actual.after)
    return Divergence(turn, len(actual.steps), None, tuple(missing))
