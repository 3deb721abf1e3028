"""One episode with all that there is to know of it: what happened, what should have, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from checkers.profile import Profile
from checkers.verdict import Verdict
from checkers.why.diagnosis import Diagnosis, diagnose
from checkers.why.divergence import Divergence, first_divergence
from checkers.why.trace import Trace
from envs.lazy import lazily
from runner.episodes.evaluate import judge_recorded, judge_right, kind_of
from runner.episodes.kinds import Answers
from runner.episodes.tracing import trace_truth
from runner.records.record import Recorded
from trajectories.prepare import Prepared
from trajectories.schema import Trajectory

# They take longer to load than all else that a look at an episode needs.
if TYPE_CHECKING:
    from checkers.why.calls import PairedAnswer
    from runner.episodes import single_turn
    from runner.models import tools
else:
    single_turn = lazily("..episodes.single_turn", __package__)
    tools = lazily("..models.tools", __package__)


class Examined(NamedTuple):
    """An episode that was judged once more, beside its ground truth."""

    prepared: Prepared
    profile: Profile
    truth: Trace
    """What should have happened; of no turns where nothing is executed."""
    model: Trace | None
    """What happened; None where no steps were recorded, or nothing is executed."""
    verdict: Verdict
    recorded: Recorded | None = None
    """Where the model's calls are from; None for what is right."""
    answer: PairedAnswer | None = None
    """The one answer of a single turn; None of several turns."""

    @property
    def trajectory(self) -> Trajectory:
        """What was asked."""
        return self.prepared.trajectory

    @property
    def divergence(self) -> Divergence | None:
        """Where the episode left the ground truth first; None of a single turn."""
        if self.model is None or self.answer is not None:
            return None
        return first_divergence(self.truth, self.model)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Why the model failed; None where it passed, or an error was not the model's."""
        if self.recorded and self.recorded.record.outcome == "error":
            return None
        evidence = self.verdict.failure and self.verdict.failure.calls
        if self.answer is not None and evidence is not None:
            return self.answer.diagnosis(evidence)
        return diagnose(self.truth, None if self.answer else self.model, self.verdict)

    @property
    def functions(self) -> Sequence[Any]:
        """The documents of the functions that the model of a single turn was given."""
        return tools.documents_for(self.trajectory)


def examine_recorded(
    prepared: Prepared, recorded: Recorded, profile: Profile, step_limit: int
) -> Examined:
    """Judge a recorded episode once more; where calls are executed, they are once more.

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
    kind, turns, mode = kind_of(prepared.trajectory), recorded.turns, recorded.mode
    verdict, _, model = judge_recorded(
        prepared, turns, mode, profile, step_limit, reader=recorded.reader, traced=True
    )
    found = Examined(prepared, profile, _truth(prepared, profile), model, verdict, recorded)
    if not kind.is_single_turn:
        return found
    if not turns or len(turns) != 1 or not turns[0]:
        return found._replace(answer=single_turn.unanswered(request_failed=turns is None))
    answers = Answers([turns[0][:1]], mode, recorded.reader)
    return found._replace(answer=kind.examine(prepared, answers, profile, model))


def examine_truth(prepared: Prepared, profile: Profile, step_limit: int) -> Examined:
    """Judge what is right as if it were a model's; it raises what ``examine_recorded`` does.

    Args:
        prepared: The trajectory.
        profile: How it is executed and judged.
        step_limit: Steps that a turn may take.
    """
    verdict, _, model = judge_right(prepared, profile, step_limit, traced=True)
    answer = kind_of(prepared.trajectory).examine(prepared, None, profile, model)
    truth = _truth(prepared, profile)
    return Examined(prepared, profile, truth, model, verdict, answer=answer)


def _truth(prepared: Prepared, profile: Profile) -> Trace:
    executes = prepared.trajectory.is_executed
    return trace_truth(prepared, profile) if executes else Trace(())
