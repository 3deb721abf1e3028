"""Verdict on a multi-turn episode. The checks of each turn run in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from checkers.evidence import ResultEvidence, StateEvidence
from checkers.profile import Profile
from checkers.reasons import Reason
from checkers.unordered_comparison import arrange_snapshot, list_missing_results
from checkers.verdict import ExecutedTurn, Failure, Verdict
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from checkers import seen_facts, strict_rules
    from checkers.entry_queries import EntryQueries
else:
    # Only the strict profile checks facts, guesses and the trace.
    seen_facts = lazy_module("checkers.seen_facts")
    strict_rules = lazy_module("checkers.strict_rules")


def judge(
    truth: Sequence[ExecutedTurn],
    model: Sequence[ExecutedTurn],
    profile: Profile,
    scene: EntryQueries,
    *,
    terminated: bool = False,
) -> Verdict:
    """Compare a model's turns with the ground truth's turns, up to the first failed turn.

    ``terminated`` is true if the step limit ended the episode.
    """
    if len(model) != len(truth) or (terminated and profile.state.notices_late_termination):
        return make_force_terminated_verdict(len(truth))
    for turn in range(len(truth)):
        failure = check_turn(truth[: turn + 1], model[: turn + 1], profile, scene)
        if failure is not None:
            return _failed(failure, turn, len(truth), turn)
    return Verdict(True, None, None, len(truth), len(truth))


def make_force_terminated_verdict(turns: int) -> Verdict:
    """Return the verdict on an episode with too few or too many recorded turns."""
    return _failed(Failure(Reason.FORCE_TERMINATED), None, turns, 0)


def inference_error(turns: int) -> Verdict:
    """Return the verdict on an episode without recorded steps."""
    return _failed(Failure(Reason.INFERENCE_ERROR), None, turns, 0)


def check_turn(
    truth: Sequence[ExecutedTurn],
    model: Sequence[ExecutedTurn],
    profile: Profile,
    scene: EntryQueries,
) -> Failure | None:
    """Run the checks of the last turn in order. Return the first failure, or None."""
    expected, actual = truth[-1], model[-1]
    traces = profile.state.judges_trace and actual.acted
    if traces and (breach := strict_rules.check_prohibited(model, scene)):
        return breach
    if not expected.acted:
        return _check_idle(model, profile, scene)
    if not (actual.acted or profile.state.needs_facts):
        return Failure(Reason.EMPTY_TURN)
    if expected.snapshot != actual.snapshot:
        there = actual.snapshot
        if profile.state.order_may_mean_nothing:
            there = arrange_snapshot(expected.snapshot, there, scene.unordered)
        if expected.snapshot != there:
            if not actual.acted:
                return Failure(Reason.EMPTY_TURN)
            find = partial(expected.snapshot.differences, there)
            return Failure(Reason.STATE_MISMATCH, StateEvidence(find))
    if traces and (breach := strict_rules.check_trace(expected, model, scene)):
        return breach
    if profile.state.judges_guesses and (guess := strict_rules.check_untraced(truth, model, scene)):
        return guess
    if profile.state.needs_facts:
        lack = seen_facts.find_missing_facts(truth, model, scene)
        # A model that knows all facts need not call a function.
        reason = Reason.RESPONSE_MISMATCH if actual.acted else Reason.EMPTY_TURN
        return Failure(reason, lack) if lack else None
    missing = list_missing_results(expected.results, actual.results)
    if missing:
        missing = list_missing_results(
            expected.results, [r for each in model for r in each.results]
        )
    return Failure(Reason.RESPONSE_MISMATCH, ResultEvidence(missing)) if missing else None


def _check_idle(
    model: Sequence[ExecutedTurn], profile: Profile, scene: EntryQueries
) -> Failure | None:
    judged = profile.state.judges_guesses and model[-1].calls
    if judged and not scene.only_asks(len(model) - 1):
        failure = strict_rules.check_waiting(model, scene)
        if failure is not None:
            return failure
    forbids = profile.state.empty_turns_forbid_changes
    if forbids and any(result.changed for result in model[-1].results):
        return Failure(Reason.CHANGE_IN_EMPTY_TURN)
    return None


def _failed(failure: Failure, turn: int | None, turns: int, passed: int) -> Verdict:
    return Verdict(False, failure, turn, turns, passed)
