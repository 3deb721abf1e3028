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
    from checkers.replies.single_turn import FormatReader
    from runner.episodes import single_turn
    from runner.episodes.examined import Examined
    from runner.episodes.scripted import ScriptedBehaviour
    from runner.models.conversation import Observe
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

    Args:
        dataset: Where they are from.
        trajectories: Which to run.
        profile: How the ground truth is played.
        run: Runs and judges one prepared trajectory.
        truth: Where the outcomes of the ground truth come from; by default it is played.
    """
    for trajectory in trajectories:
        try:
            verdict = run(prepare(dataset, trajectory, profile, truth))
        except Exception as error:
            yield EpisodeRecord.of(trajectory, None, fault_of(error))
        else:
            yield EpisodeRecord.of(trajectory, verdict)


def run_oracle(prepared: Prepared, profile: Profile, step_limit: int = STEP_LIMIT) -> Verdict:
    """Judge what is right, as if it were a model's answer.

    Raises:
        CannotJudge: There is no verdict on the entry.
    """
    return judge_right(prepared, profile, step_limit).verdict


def run_recorded(
    prepared: Prepared, entries: Mapping[str, Recorded], profile: Profile, step_limit: int
) -> Verdict:
    """Judge what a recorded run has of a trajectory; it raises what ``judge_recorded`` does."""
    return judge_again(prepared, entries[prepared.trajectory.id], profile, step_limit).verdict


def judge_again(
    prepared: Prepared,
    recorded: Recorded,
    profile: Profile,
    step_limit: int = STEP_LIMIT,
    *,
    traced: bool = False,
    observe: Observe | None = None,
) -> Judgement:
    """Judge an episode of a recorded run, as ``judge_recorded`` does, whatever ended it."""
    turns, mode, reader = recorded.turns, recorded.mode, recorded.reader
    kind, fault = kind_of(prepared.trajectory), recorded.record.fault
    if fault is None:
        return judge_recorded(
            prepared,
            turns,
            mode,
            profile,
            step_limit,
            reader=reader,
            traced=traced,
            observe=observe,
        )
    found = Judgement(kind.judge_unanswered(prepared, fault, profile))
    if kind.is_single_turn or not traced or not turns:
        return found
    played = trace_recorded(prepared, turns, mode, profile, step_limit, observe)
    return found._replace(trace=played)


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
    return _STATE.judge_script(
        prepared, scripted.script(prepared, seed), profile, step_limit
    ).verdict


_STATE = ComparedState()


def kind_of(trajectory: Trajectory) -> EntryKind:
    """Return how the entries of a trajectory's kind are judged."""
    # The others bring readers along that take longer to load than many an episode to judge.
    if trajectory.judged_by is JudgedBy.STATE:
        return _STATE
    kinds: Mapping[JudgedBy, EntryKind] = single_turn.KINDS
    return kinds.get(trajectory.judged_by) or extension.entry_kind(trajectory.judged_by)


def judge_recorded(
    prepared: Prepared,
    turns: Sequence[Sequence[Step]] | None,
    mode: Mode,
    profile: Profile,
    step_limit: int = STEP_LIMIT,
    *,
    reader: FormatReader | None = None,
    traced: bool = False,
    observe: Observe | None = None,
) -> Judgement:
    """Judge a recorded run of one trajectory; where calls are executed, they are once more.

    Args:
        prepared: The trajectory.
        turns: The recorded turns of steps; None where the run recorded an error.
        mode: How the model called functions.
        profile: How steps are read, executed and judged.
        step_limit: Steps that a turn may take, where the profile limits recorded runs at all.
        reader: How text is read, where it was asked for in another format than the usual one.
        traced: Whether to keep what happened.
        observe: Says what the model read of a call, for that.

    Raises:
        CannotJudge: There is no verdict, through no fault of the model.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    kind = kind_of(prepared.trajectory)
    expected = len(prepared.trajectory.turns)
    if turns is None:
        return Judgement(inference_error(expected))
    if len(turns) == expected and (turns[0] or not kind.is_single_turn):
        answers = Answers(turns, mode, reader)
        return kind.judge(prepared, answers, Terms(profile, step_limit, traced, observe))
    verdict = force_terminated(expected)
    if kind.is_single_turn:
        return Judgement(verdict)
    # What was recorded beyond the last turn answers nothing; what was done for good counts.
    answers = Answers(turns[:expected], mode, reader)
    played = kind.judge(prepared, answers, Terms(profile, step_limit, traced, observe))
    counted = played.verdict
    verdict = verdict._replace(
        irreversible=counted.irreversible,
        hallucinated=counted.hallucinated,
        selected=counted.selected,
    )
    return Judgement(verdict, trace=played.trace)


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
    found = judge_again(prepared, recorded, profile, step_limit, traced=True, observe=observe)
    return kind_of(prepared.trajectory).examine(prepared, found, profile, recorded)


def examine_truth(prepared: Prepared, profile: Profile, step_limit: int) -> Examined:
    """Judge what is right as if it were a model's, to look at it, as ``judge_right`` does."""
    found = judge_right(prepared, profile, step_limit, traced=True)
    return kind_of(prepared.trajectory).examine(prepared, found, profile, None)


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
