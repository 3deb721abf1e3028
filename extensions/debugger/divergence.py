"""Place of the first divergence from the ground truth."""

from __future__ import annotations

from checkers.causes.divergence import filter_touching, find_off_path
from checkers.causes.episode_place import EpisodePlace
from checkers.causes.trace import Trace, TracedTurn
from checkers.unordered_comparison import list_missing_results
from envs.results import Result


def find_divergence(truth: Trace, model: Trace) -> EpisodePlace | None:
    """Return the first divergence from the ground truth, or None.

    The calls within a turn may differ if the state and the results agree at the end of the turn.
    """
    seen: list[Result] = []
    for turn, (expected, actual) in enumerate(zip(truth.turns, model.turns, strict=False)):
        outcome = actual.outcome
        seen += outcome.results
        if expected.after != actual.after:
            return _find_departure(turn, expected, actual)
        needed = expected.outcome
        if needed.acted and (not outcome.acted or list_missing_results(needed.results, seen)):
            return EpisodePlace(turn, "end")
    return None


def _find_departure(turn: int, expected: TracedTurn, actual: TracedTurn) -> EpisodePlace:
    lasting = find_off_path(expected, actual.after)
    if lasting:
        state = None
        for step, calls in enumerate(actual.steps):
            for index, call in enumerate(calls):
                if call.after is state:
                    continue
                state = call.after
                if filter_touching(find_off_path(expected, state), lasting):
                    return EpisodePlace(turn, "call", step, index)
    return EpisodePlace(turn, "end")
