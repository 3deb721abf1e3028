"""One episode with all that there is to know of it: what happened, what should have, and why.

Where the state is compared, that is ``Examined``; of a single turn it is an ``ExaminedAnswer``,
whose checkers are imported where there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from checkers.profile import Profile
from checkers.turn import judge
from checkers.verdict import Verdict
from checkers.why.diagnosis import Diagnosis, diagnose
from checkers.why.divergence import Divergence, first_divergence
from checkers.why.trace import Trace
from runner.analysis.source import Recorded, judged_trace
from runner.analysis.tracing import trace, trace_truth
from runner.episodes.scripts import oracle
from trajectories.prepare import Prepared

if TYPE_CHECKING:
    from runner.analysis.single_turn import ExaminedAnswer


class Examined(NamedTuple):
    """An episode that was executed once more, beside its ground truth."""

    prepared: Prepared
    profile: Profile
    truth: Trace
    model: Trace | None
    """None where no steps were recorded."""
    verdict: Verdict
    recorded: Recorded | None = None
    """Where the model's calls are from; None for the ground truth itself."""

    @property
    def divergence(self) -> Divergence | None:
        """Where the episode left the ground truth first."""
        return first_divergence(self.truth, self.model) if self.model else None

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Why the model failed; None where it passed, or an error was not the model's."""
        record = self.recorded and self.recorded.record
        if record and record["outcome"] == "error":
            return None
        return diagnose(self.truth, self.model, self.verdict)


def examine_recorded(
    prepared: Prepared, recorded: Recorded, profile: Profile, step_limit: int
) -> Examined | ExaminedAnswer:
    """Execute a recorded episode once more, or, of a single turn, judge its one answer.

    Args:
        prepared: Its trajectory.
        recorded: The episode.
        profile: How it is executed and judged.
        step_limit: Steps that a turn may take, where the profile limits recorded runs.

    Raises:
        BackendFault: A backend broke on well-formed arguments.
        CannotJudge: There is no verdict on a single turn, through no fault of the model.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    if prepared.trajectory.expects is not None:
        from runner.analysis.single_turn import examine_answer

        return examine_answer(prepared, recorded, profile, step_limit)
    truth = trace_truth(prepared, profile)
    model, verdict = judged_trace(prepared, recorded, profile, step_limit)
    return Examined(prepared, profile, truth, model, verdict, recorded)


def examine_truth(
    prepared: Prepared, profile: Profile, step_limit: int
) -> Examined | ExaminedAnswer:
    """Play the ground truth as if it were a model; it raises what ``examine_recorded`` does.

    Args:
        prepared: The trajectory.
        profile: How it is executed and judged.
        step_limit: Steps that a turn may take.
    """
    if prepared.trajectory.expects is not None:
        from runner.analysis.single_turn import examine_right_answer

        return examine_right_answer(prepared, profile, step_limit)
    played = trace(prepared, oracle(prepared.trajectory), profile, step_limit)
    outcomes = [turn.outcome for turn in played.turns]
    verdict = judge(prepared.truth, outcomes, profile, terminated=played.terminated)
    return Examined(prepared, profile, trace_truth(prepared, profile), played, verdict)
