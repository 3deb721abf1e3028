"""Calls that a person tries in the viewer, executed on a copy of an episode's state."""

from __future__ import annotations

from envs.errors import DataError
from extensions.debugger.stepper import Stepper
from runner.analysis.episode_output import Json, describe_change
from runner.analysis.replayed_runs import ReplayedEpisode
from runner.episodes.rejudged_episode import RejudgedMultiTurn

_MAX_CALL_CHARS = 10_000


def try_call(episode: ReplayedEpisode, turn: int, text: str) -> Json:
    """Execute a call on the state after a turn; return the result and the state changes.

    Raises DataError if the episode has no states, the turn was not reached, or the call cannot be
    parsed.
    """
    examined = episode.examined
    if not (isinstance(examined, RejudgedMultiTurn) and examined.model and examined.model.turns):
        raise DataError("call", "only multi-turn episodes with executed calls have states")
    stepper = Stepper(examined)
    places = [moment.place for moment in stepper.timeline.moments]
    found = [n for n, at in enumerate(places) if at.turn == turn - 1 and at.kind != "end"]
    if not found:
        reached = places[-1].turn + 1
        raise DataError("turn", f"{turn} must be a number from 1 to {reached}")
    if not text.strip() or len(text) > _MAX_CALL_CHARS:
        raise DataError("call", f"must have 1 to {_MAX_CALL_CHARS} characters")
    stepper.cursor = found[-1]
    problem = stepper.slip(text) or stepper.call(text)
    traced = stepper.moment.traced
    if problem or traced is None:
        raise DataError("call", problem or "was not executed")
    changes = [describe_change(change) for change in stepper.moment.changes]
    return {"call": str(traced.call), "result": traced.result.observation, "changes": changes}
