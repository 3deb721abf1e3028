"""Scripts: calls from the ground truth or a recorded run, which can be played and traced.

A trace keeps the state after each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkers.profile import Mode, Profile, allow_all_functions
from checkers.replies.decoding import Decoder, Step
from envs.calls import Call
from envs.errors import MalformedCall
from envs.lazy_modules import lazy_module
from runner.episodes.turn_loop import STEP_LIMIT, TurnLoop
from trajectories.prepare import PreparedTrajectory
from trajectories.replay_queries import read_retried_calls
from trajectories.schema import Trajectory

if TYPE_CHECKING:  # plain judging loads no model code
    from checkers.causes import trace as traces
    from checkers.causes.trace import Trace, TracedTurn
    from runner.models.conversation import Observe
    from trajectories import offering as offerings
    from trajectories.offering import OfferedFunctions
else:
    # Only retrieval restricts the offered functions, and plain judging keeps no trace.
    traces = lazy_module("checkers.causes.trace")
    offerings = lazy_module("trajectories.offering")

Script = Sequence[Sequence[Sequence[Call | MalformedCall]]]


def oracle(trajectory: Trajectory, offering: OfferedFunctions | None = None) -> Script:
    """Return the ground truth as a script with one step per turn, and a search step if needed."""
    script = [[read_retried_calls(turn)] if turn.ground_truth else [] for turn in trajectory.turns]
    if offering is None or offering.find is None:
        return script
    looking = [
        Call(offerings.FIND, (), {"query": turn.words[: offerings.MAX_QUERY_CHARS]})
        for turn in trajectory.turns
    ]
    return [[[look], *steps] for look, steps in zip(looking, script, strict=True)]


def recorded(turns: Sequence[Sequence[Step]], decoder: Decoder, profile: Profile) -> Script:
    """Return the calls of a recorded run as a script."""
    return [
        [calls for step in steps if (calls := _decoded(step, decoder, profile))] for steps in turns
    ]


def _decoded(step: Step, decoder: Decoder, profile: Profile) -> Sequence[Call | MalformedCall]:
    try:
        return decoder(step)
    except MalformedCall as error:
        return [error] if profile.replies.answers_unreadable_steps else []


def start_episode(
    prepared: PreparedTrajectory,
    profile: Profile,
    step_limit: int | None,
    observe: Observe | None = None,
) -> TurnLoop:
    """Return a new episode in its own session."""
    session, offering = prepared.template.fork(), prepared.offering
    return TurnLoop(prepared.trajectory, session, profile, step_limit, observe, offering)


def play(script: Script, episode: TurnLoop) -> None:
    """Run a script in an episode until the script or the episode ends."""
    for turn in script:
        for calls in turn:
            if not episode.finished:
                episode.act(calls)
        if episode.finished:
            return
        episode.end_turn()


def trace(
    prepared: PreparedTrajectory,
    script: Script,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
    observe: Observe | None = None,
) -> Trace:
    """Play a script and return the trace; ``observe`` renders the results."""
    episode = start_episode(prepared, profile, step_limit, observe)
    turns = []
    for turn in script:
        if episode.finished:
            break
        turns.append(_traced_turn(episode, turn))
        if not episode.finished:
            episode.end_turn()
    return traces.Trace(tuple(turns), episode.terminated)


def trace_recorded(
    prepared: PreparedTrajectory,
    turns: Sequence[Sequence[Step]],
    mode: Mode,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
    observe: Observe | None = None,
) -> Trace:
    """Play recorded turns and return their trace, with the ending of each turn.

    ``step_limit`` applies only if the profile limits recorded runs.
    """
    limit = step_limit if profile.execution.limits_recorded_runs else None
    script = recorded(turns, profile.replies.decoders[mode], profile)
    played = trace(prepared, script, profile, limit, observe)
    ended = []
    for turn, steps in zip(played.turns, turns, strict=False):
        answer, unreadable = _ending(steps, mode, profile)
        ended.append(turn._replace(answer=answer, unreadable=unreadable))
    return played._replace(turns=tuple(ended))


def trace_truth(prepared: PreparedTrajectory, profile: Profile) -> Trace:
    """Play the ground truth without a step limit and with all functions offered."""
    script = oracle(prepared.trajectory)
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
        steps.append(tuple([traces.TracedCall(call, result, snapshot()) for result, call in made]))
    turn_of = traces.TracedTurn(offered, before, tuple(filter(None, steps)))
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
        calls = profile.replies.decoders[mode](last)
    except MalformedCall as error:
        return answer, error
    return (None if calls else answer), None
