"""What needs no model: the ground truth, silence, scripts, and recorded episodes looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkers.calls.documents import CannotJudge
from checkers.profile import Profile
from checkers.replies.decoding import Step
from checkers.verdict import Verdict
from runner.episodes.episode import STEP_LIMIT
from runner.episodes.evaluate import STATE, judge_again, judge_recorded, kind_of
from runner.episodes.kinds import Judgement, Terms
from runner.records.record import Recorded
from trajectories.prepare import Prepared

if TYPE_CHECKING:
    from runner.episodes.examined import Examined
    from runner.episodes.scripted import ScriptedBehaviour
    from runner.models.conversation import Observe


def run_oracle(prepared: Prepared, profile: Profile, step_limit: int = STEP_LIMIT) -> Verdict:
    """Judge what is right, as if it were a model's answer.

    Raises:
        CannotJudge: There is no verdict on the entry.
    """
    return judge_right(prepared, profile, step_limit).verdict


def run_null(prepared: Prepared, profile: Profile, step_limit: int = STEP_LIMIT) -> Verdict:
    """Judge a model that never calls anything.

    Raises:
        CannotJudge: There is no verdict on the entry.
    """
    silence: list[list[Step]] = [[None] for _ in prepared.trajectory.turns]
    return judge_recorded(prepared, silence, "fc", profile, step_limit).verdict


def run_scripted(
    prepared: Prepared,
    scripted: ScriptedBehaviour,
    profile: Profile,
    step_limit: int = STEP_LIMIT,
    *,
    seed: int = 0,
) -> Verdict:
    """Judge a scripted model, which errs elsewhere with another seed.

    Raises:
        CannotJudge: The entry has no turns of calls.
    """
    if kind_of(prepared.trajectory).is_single_turn:
        raise CannotJudge("scripted models do entries of several turns; --category multi_turn")
    script = scripted.script(prepared, seed)
    return STATE.judge_script(prepared, script, profile, step_limit).verdict


def judge_right(
    prepared: Prepared,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
    *,
    traced: bool = False,
) -> Judgement:
    """Judge what is right as if a model had answered it; it raises what ``judge_recorded`` does.

    Args:
        prepared: The trajectory.
        profile: How it is executed and judged.
        step_limit: Steps that a turn may take, or None for no limit.
        traced: Whether to keep what happened.
    """
    return kind_of(prepared.trajectory).judge(prepared, None, Terms(profile, step_limit, traced))


def examine_recorded(
    prepared: Prepared,
    recorded: Recorded,
    profile: Profile,
    step_limit: int,
    observe: Observe | None = None,
) -> Examined:
    """Judge a recorded episode once more, to look at it; it raises what ``judge_recorded`` does."""
    found = judge_again(prepared, recorded, Terms(profile, step_limit, True, observe))
    return kind_of(prepared.trajectory).examine(prepared, found, profile, recorded)


def examine_truth(prepared: Prepared, profile: Profile, step_limit: int) -> Examined:
    """Judge what is right as if it were a model's, to look at it, as ``judge_right`` does."""
    found = judge_right(prepared, profile, step_limit, traced=True)
    return kind_of(prepared.trajectory).examine(prepared, found, profile, None)
