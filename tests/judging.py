"""Verdicts on scripts and on recorded runs, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.verdict import Verdict
from runner.episodes.entry_kinds import ExecutedKind
from runner.episodes.judging import judge_recorded, kind_of
from runner.episodes.script_playback import Script
from runner.episodes.turn_loop import STEP_LIMIT
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.schema import Trajectory


def null(trajectory: Trajectory) -> Script:
    """Return the script of a model that never calls anything."""
    return [[] for _ in trajectory.turns]


def run_script(
    prepared: PreparedTrajectory,
    script: Script,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
) -> Verdict:
    """Drive one trajectory by a script and judge it."""
    kind = kind_of(prepared.trajectory)
    assert isinstance(kind, ExecutedKind)
    return kind.judge_script(prepared, script, profile, step_limit).verdict


def run_recorded(
    prepared: PreparedTrajectory,
    turns: Sequence[Sequence[Step]] | None,
    mode: Mode,
    profile: Profile,
    step_limit: int = STEP_LIMIT,
) -> Verdict:
    """Judge a recorded run of one trajectory."""
    return judge_recorded(prepared, turns, mode, profile, step_limit).verdict
