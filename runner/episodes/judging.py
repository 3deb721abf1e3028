"""Judging of recorded episodes, one or many, within limits of time and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.multi_turn_verdict import inference_error, make_force_terminated_verdict
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.verdict import Verdict
from envs.errors import DataError, SimulatorError, describe_exception
from envs.lazy_modules import lazy_module
from envs.state import cut
from runner import extension
from runner.episodes.entry_kinds import (
    EntryKind,
    JudgingResult,
    JudgingTerms,
    MultiTurnKind,
    RecordedAnswers,
)
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.episode_record import EpisodeRecord, RecordedEpisode
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.replay_queries import PlayedTruths
from trajectories.schema import JudgingMethod, Trajectory

if TYPE_CHECKING:
    from runner.episodes import script_traces, single_turn
else:
    # Most entries have several turns, and plain judging keeps no trace.
    script_traces = lazy_module(".script_traces", __package__)
    single_turn = lazy_module(".single_turn", __package__)

resource: Any = lazy_module("resource")


Run = Callable[[PreparedTrajectory], Verdict]
"""Function that runs and judges one prepared trajectory."""

ENTRY_TIMEOUT = 600.0
"""Time limit per entry, in seconds."""

_SIZES = Path("/proc/self/statm")
_MEGABYTE = 2**20


class TimeAndMemoryLimits(NamedTuple):
    """Limits on judging an entry."""

    seconds: float = ENTRY_TIMEOUT
    """Time limit in seconds, enforced in worker processes only."""
    megabytes: int | None = None
    """Maximum growth of a process, in megabytes; None for no limit."""


ALLOWANCE = TimeAndMemoryLimits()


@contextmanager
def limited_memory(megabytes: int | None) -> Iterator[None]:
    """Limit the additional memory of this process; above the limit, Python raises MemoryError.

    Raises DataError if the system cannot limit the memory of a process.
    """
    if megabytes is None:
        yield
        return
    try:
        before = resource.getrlimit(resource.RLIMIT_AS)
        used = int(_SIZES.read_text("ascii").split()[0]) * resource.getpagesize()
        most = used + megabytes * _MEGABYTE
        within = [most, *(old for old in before if old != resource.RLIM_INFINITY)]
        resource.setrlimit(resource.RLIMIT_AS, (min(within), before[1]))
    except (ImportError, OSError, ValueError):
        message = "this system cannot limit the memory of a process; omit the option"
        raise DataError("--memory", message) from None
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def evaluate(
    dataset: Dataset, trajectories: Iterable[Trajectory], profile: Profile, run: Run
) -> Iterator[EpisodeRecord]:
    """Run trajectories in order and yield their records."""
    truths = PlayedTruths()
    for trajectory in trajectories:
        try:
            verdict = run(prepare(dataset, trajectory, profile, truths))
        except Exception as error:
            yield EpisodeRecord.of(trajectory, None, describe_error(error))
        else:
            yield EpisodeRecord.of(trajectory, verdict)


def run_recorded(
    prepared: PreparedTrajectory,
    entries: Mapping[str, RecordedEpisode],
    profile: Profile,
    step_limit: int,
) -> Verdict:
    """Judge a trajectory's episode in a recorded run.

    Raises the same exceptions as ``judge_recorded``.
    """
    terms, recorded = JudgingTerms(profile, step_limit), entries[prepared.trajectory.id]
    # Runs of other tools may have the steps of an episode that an error of the server ended.
    if recorded.record.error is not None and recorded.turns is not None:
        raise UnjudgeableEntry(recorded.record.error)
    return judge_again(prepared, recorded, terms).verdict


def judge_again(
    prepared: PreparedTrajectory, recorded: RecordedEpisode, terms: JudgingTerms
) -> JudgingResult:
    """Judge an episode of a recorded run; a server rejection may have ended the episode."""
    if recorded.record.extensions:
        template = extension.replay_session(prepared.template, recorded.record)
        prepared = prepared._replace(template=template)
    turns, mode, fault = recorded.turns, recorded.mode, recorded.record.fault
    if fault is None:
        answers = None
        if turns is not None:
            members = recorded.record.extensions
            answers = RecordedAnswers(turns, mode, recorded.reader, members)
        return _judge(prepared, answers, terms)
    kind = kind_of(prepared.trajectory)
    found = JudgingResult(kind.judge_unanswered(prepared, fault, terms.profile))
    if kind.is_single_turn or not terms.traced or not turns:
        return found
    profile, step_limit, _, observe = terms
    played = script_traces.trace_recorded(prepared, turns, mode, profile, step_limit, observe)
    return found._replace(trace=played)


def judge_recorded(
    prepared: PreparedTrajectory,
    turns: Sequence[Sequence[Step]] | None,
    mode: Mode,
    profile: Profile,
    step_limit: int = STEP_LIMIT,
    *,
    traced: bool = False,
) -> JudgingResult:
    """Judge recorded steps of one trajectory; multi-turn calls are executed again.

    Args:
        turns: Recorded steps by turn; None if the run recorded an error.
        step_limit: Maximum steps per turn, if the profile limits recorded runs.
        traced: Whether to keep a trace.

    Raises:
        UnjudgeableEntry: No verdict is possible, and the model is not to blame.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    answers = None if turns is None else RecordedAnswers(turns, mode)
    return _judge(prepared, answers, JudgingTerms(profile, step_limit, traced))


def _judge(
    prepared: PreparedTrajectory, answers: RecordedAnswers | None, terms: JudgingTerms
) -> JudgingResult:
    kind = kind_of(prepared.trajectory)
    expected = len(prepared.trajectory.turns)
    if answers is None:
        return JudgingResult(inference_error(expected))
    turns = answers.turns
    if len(turns) == expected and (turns[0] or not kind.is_single_turn):
        return kind.judge(prepared, answers, terms)
    verdict = make_force_terminated_verdict(expected)
    if kind.is_single_turn:
        return JudgingResult(verdict)
    # Surplus recorded turns are ignored, but irreversible acts still count.
    played = kind.judge(prepared, answers._replace(turns=turns[:expected]), terms)
    counted = played.verdict
    verdict = verdict._replace(
        irreversible=counted.irreversible,
        hallucinated=counted.hallucinated,
        selected=counted.selected,
    )
    return JudgingResult(verdict, trace=played.trace)


STATE = MultiTurnKind()


def kind_of(trajectory: Trajectory) -> EntryKind:
    """Return the entry kind that judges the episodes of a trajectory."""
    if trajectory.extensions:
        return extension.entry_kind(trajectory)
    # The single-turn kinds load slow parsers.
    if (method := trajectory.judged_by) is JudgingMethod.STATE:
        return STATE
    kinds: Mapping[JudgingMethod, EntryKind] = single_turn.KINDS
    return kinds.get(method) or extension.entry_kind(trajectory)


def describe_error(error: Exception) -> str:
    """Return a message for an exception that prevented a verdict; re-raise a DataError."""
    if isinstance(error, DataError):
        raise error
    if isinstance(error, (SimulatorError, UnjudgeableEntry)):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory to judge the entry"
    return f"{cut(describe_exception(error), 500)}: a bug in Turnwise or in an environment"
