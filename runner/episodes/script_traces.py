"""Traces of scripts: executed calls, with the state after each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkers.causes.trace import Trace, TracedCall, TracedTurn
from checkers.profile import Mode, Profile, allow_all_functions
from checkers.replies.decoding import Step
from envs.calls import Call
from envs.errors import MalformedCall
from runner.episodes.script_playback import (
    Script,
    make_recorded_script,
    make_truth_script,
    start_episode,
)
from runner.episodes.turn_loop import STEP_LIMIT, TurnLoop
from trajectories.prepared_trajectory import PreparedTrajectory

if TYPE_CHECKING:
    from runner.models.conversation import Observe


def trace(
    prepared: PreparedTrajectory,
    script: Script,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
    observe: Observe | None = None,
) -> Trace:
    """Play a script and return the trace; ``observe`` converts results to text."""
    episode = start_episode(prepared, profile, step_limit, observe)
    turns = []
    for turn in script:
        if episode.finished:
            break
        turns.append(_traced_turn(episode, turn))
        if not episode.finished:
            episode.end_turn()
    return Trace(tuple(turns), episode.terminated)


def trace_recorded(
    prepared: PreparedTrajectory,
    turns: Sequence[Sequence[Step]],
    mode: Mode,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
    observe: Observe | None = None,
) -> Trace:
    """Play recorded turns. Each turn of the trace has its last answer or last parse error.

    ``step_limit`` applies only if the profile sets ``limits_recorded_runs``.
    """
    limit = step_limit if profile.execution.limits_recorded_runs else None
    script = make_recorded_script(turns, profile.replies.decoder(mode), profile)
    played = trace(prepared, script, profile, limit, observe)
    ended = []
    for turn, steps in zip(played.turns, turns, strict=False):
        answer, unreadable = _ending(steps, mode, profile)
        ended.append(turn._replace(answer=answer, unreadable=unreadable))
    return played._replace(turns=tuple(ended))


def trace_truth(prepared: PreparedTrajectory, profile: Profile) -> Trace:
    """Play the ground truth; all functions are offered, and no step limit applies."""
    script = make_truth_script(prepared.trajectory)
    return trace(prepared._replace(offering=None), script, allow_all_functions(profile), None)


def _traced_turn(episode: TurnLoop, turn: Sequence[Sequence[Call | MalformedCall]]) -> TracedTurn:
    before, offered = episode.session.snapshot(), episode.offered
    steps = []
    for calls in turn:
        if episode.finished:
            break
        # zip takes results first, so the generator completes the step.
        made = zip(episode.step_through(calls), calls, strict=False)
        snapshot = episode.session.snapshot
        steps.append(tuple([TracedCall(call, result, snapshot()) for result, call in made]))
    turn_of = TracedTurn(offered, before, tuple(filter(None, steps)))
    if episode.offering is None:
        return turn_of
    seeks = episode.offering.seeks
    looks = frozenset(i for i, traced in enumerate(turn_of.calls) if seeks(traced.call))
    return turn_of._replace(looks=looks)


def _ending(
    steps: Sequence[Step], mode: Mode, profile: Profile
) -> tuple[str | None, MalformedCall | None]:
    last = steps[-1] if steps else None
    answer = last if isinstance(last, str) else None
    if last is None or (answer is not None and mode == "fc"):
        return answer, None
    try:
        calls = profile.replies.decoder(mode)(last)
    except MalformedCall as error:
        return answer, error
    return (None if calls else answer), None
