"""Judging: which checks a turn gets, in which order, and what that makes of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from checkers.profile import Profile
from checkers.verdict import (
    Failure,
    Reason,
    ResultEvidence,
    StateEvidence,
    TurnOutcome,
    Verdict,
)
from envs.results import Result


def judge(
    truth: Sequence[TurnOutcome],
    model: Sequence[TurnOutcome],
    profile: Profile,
    *,
    terminated: bool = False,
) -> Verdict:
    """Compare what a model did with what the ground truth leads to, turn by turn.

    Args:
        truth: Outcome of the ground truth in every turn.
        model: Outcome of the model's calls in every turn that it reached.
        profile: What counts as right.
        terminated: Whether the step limit ended the episode.
    """
    if len(model) != len(truth) or (terminated and profile.state.notices_late_termination):
        return force_terminated(len(truth))
    seen: list[Result] = []
    for turn, (expected, actual) in enumerate(zip(truth, model, strict=True)):
        seen += actual.results
        failure = check_turn(expected, actual, seen, profile)
        if failure is not None:
            return _failed(failure, turn, len(truth), turn)
    return Verdict(True, None, None, len(truth), len(truth))


def force_terminated(turns: int) -> Verdict:
    """Return the verdict on an episode whose record has not the trajectory's number of turns."""
    return _failed(Failure(Reason.FORCE_TERMINATED), None, turns, 0)


def inference_error(turns: int) -> Verdict:
    """Return the verdict on an episode that has no record of steps at all."""
    return _failed(Failure(Reason.INFERENCE_ERROR), None, turns, 0)


def check_turn(
    truth: TurnOutcome, model: TurnOutcome, seen: Sequence[Result], profile: Profile
) -> Failure | None:
    """Check one turn; the first check that fails decides.

    Args:
        truth: Outcome of the ground truth.
        model: Outcome of the model's calls.
        seen: What the model's calls have given so far, this turn included.
        profile: What counts as right.
    """
    if not truth.acted:
        return _check_idle(model, profile)
    if not model.acted:
        return Failure(Reason.EMPTY_TURN)
    if truth.snapshot != model.snapshot:
        find = partial(truth.snapshot.differences, model.snapshot)
        return Failure(Reason.STATE_MISMATCH, StateEvidence(find))
    missing = missing_results(truth.results, seen)
    return Failure(Reason.RESPONSE_MISMATCH, ResultEvidence(missing)) if missing else None


def missing_results(truth: Sequence[Result], seen: Sequence[Result]) -> tuple[str, ...]:
    """Return the result texts that the truth needed and the model has not had often enough."""
    # A plain dict, because making a Counter takes longer than all the rest.
    needed: dict[str, int] = {}
    for result in truth:
        needed[result.text] = needed.get(result.text, 0) + 1
    missing = len(truth)
    # Objects of equal text have the same members, which is faster to see than the text.
    members = {result.members for result in truth}
    # Writing results out takes longest, and what is needed is most often among the latest.
    for result in reversed(seen):
        if not missing:
            return ()
        found = result.members
        if found is not None and found not in members and None not in members:
            continue
        if needed.get(result.text, 0) > 0:
            needed[result.text] -= 1
            missing -= 1
    return tuple([text for text, count in needed.items() for _ in range(count)])


def _check_idle(model: TurnOutcome, profile: Profile) -> Failure | None:
    """Check a turn in which nothing should be done."""
    changed = any(result.changed for result in model.results)
    if profile.state.empty_turns_forbid_changes and changed:
        return Failure(Reason.CHANGE_IN_EMPTY_TURN)
    return None


def _failed(failure: Failure, turn: int | None, turns: int, passed: int) -> Verdict:
    return Verdict(False, failure, turn, turns, passed)
