"""From a recorded run to a verdict, the one way; and many of them, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from checkers.calls.documents import CannotJudge
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.turn import force_terminated, inference_error
from checkers.verdict import Verdict
from envs.errors import SimulatorError
from envs.lazy import lazily
from envs.state import cut
from runner import extension
from runner.episodes.episode import STEP_LIMIT
from runner.episodes.kinds import Answers, ComparedState, EntryKind, Judgement, Terms
from runner.episodes.scripts import trace_recorded
from runner.records.record import EpisodeRecord, Recorded
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import Prepared, TruthSource, prepare
from trajectories.schema import JudgedBy, Trajectory

if TYPE_CHECKING:
    from runner.episodes import single_turn
else:
    single_turn = lazily(".single_turn", __package__)


def evaluate(
    dataset: Dataset,
    trajectories: Iterable[Trajectory],
    profile: Profile,
    run: Callable[[Prepared], Verdict],
    truth: TruthSource | None = None,
) -> Iterator[EpisodeRecord]:
    """Run trajectories in order and yield what became of each.

    ``truth`` gives the outcomes of the ground truth, which is played by default.
    """
    for trajectory in trajectories:
        try:
            verdict = run(prepare(dataset, trajectory, profile, truth))
        except Exception as error:
            yield EpisodeRecord.of(trajectory, None, fault_of(error))
        else:
            yield EpisodeRecord.of(trajectory, verdict)


def run_recorded(
    prepared: Prepared, entries: Mapping[str, Recorded], profile: Profile, step_limit: int
) -> Verdict:
    """Judge what a recorded run has of a trajectory; it raises what ``judge_recorded`` does."""
    terms = Terms(profile, step_limit)
    return judge_again(prepared, entries[prepared.trajectory.id], terms).verdict


def judge_again(prepared: Prepared, recorded: Recorded, terms: Terms) -> Judgement:
    """Judge an episode of a recorded run, as ``judge_recorded`` does, whatever ended it."""
    turns, mode = recorded.turns, recorded.mode
    kind, fault = kind_of(prepared.trajectory), recorded.record.fault
    if fault is None:
        answers = None if turns is None else Answers(turns, mode, recorded.reader)
        return _judge(prepared, answers, terms)
    found = Judgement(kind.judge_unanswered(prepared, fault, terms.profile))
    if kind.is_single_turn or not terms.traced or not turns:
        return found
    profile, step_limit, _, observe = terms
    played = trace_recorded(prepared, turns, mode, profile, step_limit, observe)
    return found._replace(trace=played)


def judge_recorded(
    prepared: Prepared,
    turns: Sequence[Sequence[Step]] | None,
    mode: Mode,
    profile: Profile,
    step_limit: int = STEP_LIMIT,
    *,
    traced: bool = False,
) -> Judgement:
    """Judge a recorded run of one trajectory; where calls are executed, they are once more.

    Args:
        prepared: The trajectory.
        turns: The recorded turns of steps; None where the run recorded an error.
        mode: How the model called functions.
        profile: How steps are read, executed and judged.
        step_limit: Steps that a turn may take, where the profile limits recorded runs at all.
        traced: Whether to keep what happened.

    Raises:
        CannotJudge: There is no verdict, through no fault of the model.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    answers = None if turns is None else Answers(turns, mode)
    return _judge(prepared, answers, Terms(profile, step_limit, traced))


def _judge(prepared: Prepared, answers: Answers | None, terms: Terms) -> Judgement:
    """Judge recorded answers; None stands for an error in their place."""
    kind = kind_of(prepared.trajectory)
    expected = len(prepared.trajectory.turns)
    if answers is None:
        return Judgement(inference_error(expected))
    turns = answers.turns
    if len(turns) == expected and (turns[0] or not kind.is_single_turn):
        return kind.judge(prepared, answers, terms)
    verdict = force_terminated(expected)
    if kind.is_single_turn:
        return Judgement(verdict)
    # What was recorded beyond the last turn answers nothing; what was done for good counts.
    played = kind.judge(prepared, answers._replace(turns=turns[:expected]), terms)
    counted = played.verdict
    verdict = verdict._replace(
        irreversible=counted.irreversible,
        hallucinated=counted.hallucinated,
        selected=counted.selected,
    )
    return Judgement(verdict, trace=played.trace)


STATE = ComparedState()


def kind_of(trajectory: Trajectory) -> EntryKind:
    """Return how the entries of a trajectory's kind are judged."""
    # The others bring readers along that take longer to load than many an episode to judge.
    if trajectory.judged_by is JudgedBy.STATE:
        return STATE
    kinds: Mapping[JudgedBy, EntryKind] = single_turn.KINDS
    return kinds.get(trajectory.judged_by) or extension.entry_kind(trajectory.judged_by)


def fault_of(error: Exception) -> str:
    """Return what to say of an exception that kept an entry from its verdict.

    Raises:
        DataError: That is what it is: the user's input is wrong, and the run ends.
    """
    if isinstance(error, DataError):
        raise error
    if isinstance(error, (SimulatorError, CannotJudge)):
        return str(error)
    if isinstance(error, MemoryError):
        return "there was not enough memory to judge it"
    try:
        said = cut(str(error), 500)
    except ValueError:  # it names a number that cannot be written
        said = "it cannot be shown"
    return f"{type(error).__name__}: {said}: a fault of Turnwise or of an environment"
