"""Judging: which checks a turn gets, in which order, and what that makes of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from checkers.evidence import ResultEvidence, StateEvidence
from checkers.order import arranged_snapshot, missing_results
from checkers.profile import Profile
from checkers.reasons import Reason
from checkers.scene import Scene
from checkers.verdict import Failure, TurnOutcome, Verdict
from envs.lazy import lazily

if TYPE_CHECKING:
    from checkers import facts, guesses
else:
    # Only the profile strict looks at facts and guesses.
    facts = lazily("checkers.facts")
    guesses = lazily("checkers.guesses")


def judge(
    truth: Sequence[TurnOutcome],
    model: Sequence[TurnOutcome],
    profile: Profile,
    scene: Scene,
    *,
    terminated: bool = False,
) -> Verdict:
    """Compare a model's turns with those of the ground truth, up to the first that fails.

    ``terminated`` tells whether the step limit ended the episode.
    """
    if len(model) != len(truth) or (terminated and profile.state.notices_late_termination):
        return force_terminated(len(truth))
    for turn in range(len(truth)):
        failure = check_turn(truth[: turn + 1], model[: turn + 1], profile, scene)
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
    truth: Sequence[TurnOutcome], model: Sequence[TurnOutcome], profile: Profile, scene: Scene
) -> Failure | None:
    """Check the last of some turns, for ``judge``; the first check that fails decides."""
    expected, actual = truth[-1], model[-1]
    if not expected.acted:
        return _check_idle(model, profile, scene)
    if not (actual.acted or profile.state.needs_facts):
        return Failure(Reason.EMPTY_TURN)
    if expected.snapshot != actual.snapshot:
        there = actual.snapshot
        if profile.state.order_may_mean_nothing:
            there = arranged_snapshot(expected.snapshot, there, scene.unordered)
        if expected.snapshot != there:
            if not actual.acted:
                return Failure(Reason.EMPTY_TURN)
            find = partial(expected.snapshot.differences, there)
            return Failure(Reason.STATE_MISMATCH, StateEvidence(find))
    if profile.state.judges_guesses and (guess := guesses.check_untraced(truth, model, scene)):
        return guess
    if profile.state.needs_facts:
        lack = facts.missing_facts(truth, model, scene)
        # A model that knows it all already need not call anything.
        reason = Reason.RESPONSE_MISMATCH if actual.acted else Reason.EMPTY_TURN
        return Failure(reason, lack) if lack else None
    missing = missing_results(expected.results, actual.results)
    if missing:
        missing = missing_results(expected.results, [r for each in model for r in each.results])
    return Failure(Reason.RESPONSE_MISMATCH, ResultEvidence(missing)) if missing else None


def _check_idle(model: Sequence[TurnOutcome], profile: Profile, scene: Scene) -> Failure | None:
    """Check a turn in which nothing should be done."""
    judged = profile.state.judges_guesses and model[-1].calls
    if judged and not scene.only_asks(len(model) - 1):
        failure = guesses.check_waiting(model, scene)
        if failure is not None:
            return failure
    forbids = profile.state.empty_turns_forbid_changes
    if forbids and any(result.changed for result in model[-1].results):
        return Failure(Reason.CHANGE_IN_EMPTY_TURN)
    return None


def _failed(failure: Failure, turn: int | None, turns: int, passed: int) -> Verdict:
    return Verdict(False, failure, turn, turns, passed)
