"""Offline judging: ``oracle`` and ``null``, scripted models, and recorded episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.profile import Profile
from checkers.replies.decoding import Step
from checkers.verdict import Verdict
from runner.episodes.entry_kinds import ExecutedKind, JudgingResult, JudgingTerms
from runner.episodes.judging import judge_again, judge_recorded, kind_of
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.episode_record import RecordedEpisode
from trajectories.prepared_trajectory import PreparedTrajectory

if TYPE_CHECKING:
    from runner.episodes.rejudged_episode import RejudgedEpisode
    from runner.episodes.scripted_models import ScriptedBehaviour
    from runner.models.conversation import Observe


def run_oracle(
    prepared: PreparedTrajectory, profile: Profile, step_limit: int = STEP_LIMIT
) -> Verdict:
    """Judge the ground truth as if it were a model's answer.

    Raises UnjudgeableEntry if no verdict is possible on the entry.
    """
    return judge_truth(prepared, profile, step_limit).verdict


def run_null(
    prepared: PreparedTrajectory, profile: Profile, step_limit: int = STEP_LIMIT
) -> Verdict:
    """Judge a model that makes no calls.

    Raises UnjudgeableEntry if no verdict is possible on the entry.
    """
    silence: list[list[Step]] = [[None] for _ in prepared.trajectory.turns]
    return judge_recorded(prepared, silence, "fc", profile, step_limit).verdict


def run_scripted(
    prepared: PreparedTrajectory,
    scripted: ScriptedBehaviour,
    profile: Profile,
    step_limit: int = STEP_LIMIT,
    *,
    seed: int = 0,
) -> Verdict:
    """Judge a scripted model; the seed determines its errors.

    Raises UnjudgeableEntry if the entry has a single turn.
    """
    kind = kind_of(prepared.trajectory)
    if not isinstance(kind, ExecutedKind) or kind.is_single_turn:
        message = "scripted models support multi-turn entries only; use --category multi_turn"
        raise UnjudgeableEntry(message)
    script = scripted.script(prepared, seed)
    return kind.judge_script(prepared, script, profile, step_limit).verdict


def judge_truth(
    prepared: PreparedTrajectory,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
    *,
    traced: bool = False,
) -> JudgingResult:
    """Judge the ground-truth calls like calls of a model; ``traced`` adds a trace.

    Raises the exceptions of ``judge_recorded``.
    """
    terms = JudgingTerms(profile, step_limit, traced)
    return kind_of(prepared.trajectory).judge(prepared, None, terms)


def examine_recorded(
    prepared: PreparedTrajectory,
    recorded: RecordedEpisode,
    profile: Profile,
    step_limit: int,
    observe: Observe | None = None,
) -> RejudgedEpisode:
    """Judge a recorded episode again and return the details.

    Raises the exceptions of ``judge_recorded``.
    """
    found = judge_again(prepared, recorded, JudgingTerms(profile, step_limit, True, observe))
    return kind_of(prepared.trajectory).examine(prepared, found, profile, recorded)


def examine_truth(
    prepared: PreparedTrajectory, profile: Profile, step_limit: int
) -> RejudgedEpisode:
    """Judge the ground truth and return the details.

    Raises the exceptions of ``judge_recorded``.
    """
    found = judge_truth(prepared, profile, step_limit, traced=True)
    return kind_of(prepared.trajectory).examine(prepared, found, profile, None)
