"""Scripts: calls of the ground truth or a recorded run, and their execution in an episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkers.profile import Profile
from checkers.replies.decoding import Decoder, Step
from envs.calls import Call
from envs.errors import MalformedCall
from envs.lazy_modules import lazy_module
from runner.episodes.turn_loop import TurnLoop
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.replay_queries import read_retried_calls
from trajectories.schema import Trajectory

if TYPE_CHECKING:  # plain judging loads no model code
    from runner.models.conversation import Observe
    from trajectories import offered_functions as offerings
    from trajectories.offered_functions import OfferedFunctions
else:
    # Only retrieval restricts the offered functions.
    offerings = lazy_module("trajectories.offered_functions")

Script = Sequence[Sequence[Sequence[Call | MalformedCall]]]


def make_truth_script(trajectory: Trajectory, offering: OfferedFunctions | None = None) -> Script:
    """Return the ground truth as a script, with a search at the start of each turn if possible."""
    script = [[read_retried_calls(turn)] if turn.ground_truth else [] for turn in trajectory.turns]
    if offering is None or offering.find is None:
        return script
    looking = [
        Call(offerings.FIND, (), {"query": turn.words[: offerings.MAX_QUERY_CHARS]})
        for turn in trajectory.turns
    ]
    return [[[look], *steps] for look, steps in zip(looking, script, strict=True)]


def make_recorded_script(
    turns: Sequence[Sequence[Step]], decoder: Decoder, profile: Profile
) -> Script:
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
