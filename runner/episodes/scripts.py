"""Sources of calls that need no model: the ground truth, or a recorded run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkers.profile import Profile
from checkers.replies.decoding import Decoder, Step
from envs.calls import Call
from envs.errors import MalformedCall
from runner.episodes.episode import Episode, ExecutedStep
from trajectories.prepare import truth_calls
from trajectories.schema import Trajectory

Script = Sequence[Sequence[Sequence[Call | MalformedCall]]]
"""Turns of steps of calls."""


def oracle(trajectory: Trajectory) -> Script:
    """Return the ground truth, each turn in one step."""
    return [[truth_calls(turn)] if turn.ground_truth else [] for turn in trajectory.turns]


def recorded(turns: Sequence[Sequence[Step]], decoder: Decoder, profile: Profile) -> Script:
    """Return what a recorded run amounts to.

    Args:
        turns: Turns of steps as they were recorded.
        decoder: How a step becomes calls.
        profile: What becomes of a step that cannot be read.
    """
    return [
        [calls for step in steps if (calls := _decoded(step, decoder, profile))] for steps in turns
    ]


def _decoded(step: Step, decoder: Decoder, profile: Profile) -> Sequence[Call | MalformedCall]:
    try:
        return decoder(step)
    except MalformedCall as error:
        return [error] if profile.replies.answers_unreadable_steps else []


def play(script: Script, episode: Episode) -> None:
    """Drive an episode by a script, to the script's end or the episode's."""
    for _ in steps(script, episode):
        pass


def steps(script: Script, episode: Episode) -> Iterator[ExecutedStep]:
    """Drive an episode by a script and stop after every executed step.

    Yields:
        The step; the episode's session is in the state right after it.
    """
    for turn in script:
        for calls in turn:
            if not episode.finished and episode.act(calls):
                yield episode.steps[-1]
        if episode.finished:
            return
        episode.end_turn()
