"""Kinds of single-turn entries: the first compares calls, the second compares results of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from checkers.call_mistakes import count_extra_calls, count_selection
from checkers.calls.call_comparison import EntryRules, get_shown_name
from checkers.calls.call_entry import ComparisonKind, UnreadableOutput
from checkers.calls.single_turn_verdict import Check, inference_error, judge
from checkers.profile import Profile
from checkers.replies.decoding import Step
from checkers.replies.single_turn import read_calls
from checkers.verdict import NOTHING_MADE_UP, Verdict
from envs.lazy_modules import lazy_module
from runner.episodes.entry_kinds import (
    EntryKind,
    ExecutedKind,
    JudgingResult,
    JudgingTerms,
    Outcomes,
    RecordedAnswers,
)
from runner.episodes.turn_loop import TurnLoop
from runner.records.bfcl_result_file import NO_ANSWER
from runner.records.episode_record import RecordedEpisode, ServerRejection
from trajectories.call_checker_tasks import make_call_entry
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.schema import ExpectedResults, JudgingMethod, Trajectory

if TYPE_CHECKING:
    from checkers import results
    from checkers.calls import call_pairs
    from checkers.causes import single_turn_diagnosis as diagnosis
    from checkers.causes.single_turn_diagnosis import PairedAnswer
    from checkers.causes.trace import Trace
    from checkers.results import ResultComparisonRule
    from runner.episodes import rejudged_episode, script_traces
    from runner.episodes.rejudged_episode import RejudgedSingleTurn
    from trajectories import example_steps
else:
    # Plain judging of calls needs no results, no right answer and no diagnosis.
    results = lazy_module("checkers.results")
    call_pairs = lazy_module("checkers.calls.call_pairs")
    diagnosis = lazy_module("checkers.causes.single_turn_diagnosis")
    rejudged_episode = lazy_module(".rejudged_episode", __package__)
    script_traces = lazy_module(".script_traces", __package__)
    example_steps = lazy_module("trajectories.example_steps")

_AIMS = {
    ComparisonKind.IRRELEVANCE: "No function fits, so making no call is right.",
    ComparisonKind.RELEVANCE: "One of the functions fits, so making any call is right.",
}


class ComparedCallsKind(EntryKind):
    """Kind of the single-turn entries whose calls are compared without execution."""

    is_single_turn = True

    def judge(
        self, prepared: PreparedTrajectory, answers: RecordedAnswers | None, terms: JudgingTerms
    ) -> JudgingResult:
        """Read the answer and compare its calls."""
        profile = terms.profile
        turns, mode, reader, _ = answers or self.right(prepared, profile)
        step = turns[0][0]
        task, check = make_call_entry(prepared.trajectory), self.check(prepared, profile)
        if is_error(step):
            return JudgingResult(inference_error(task, profile))
        return JudgingResult(judge(task, step, mode, profile, reader, check))

    def right(self, prepared: PreparedTrajectory, profile: Profile) -> RecordedAnswers:
        """Return the right answer."""
        return _right(prepared, profile)

    def check(self, prepared: PreparedTrajectory, profile: Profile) -> Check | None:
        """Return a check that replaces the category's check, or None."""
        return None

    def judge_unanswered(
        self, prepared: PreparedTrajectory, fault: ServerRejection, profile: Profile
    ) -> Verdict:
        """Judge a failed request by the rules of the profile."""
        if profile.calls.judges_inference_errors:
            found = inference_error(make_call_entry(prepared.trajectory), profile)
            if found.valid:
                return found
        return super().judge_unanswered(prepared, fault, profile)

    def judge_played(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> Verdict:
        """Judge the single answer."""
        return self.judge(prepared, answers, JudgingTerms(episode.profile)).verdict

    def examine(
        self,
        prepared: PreparedTrajectory,
        found: JudgingResult,
        profile: Profile,
        recorded: RecordedEpisode | None,
    ) -> RejudgedSingleTurn:
        """Return the details of a judged episode, such as pairs of made and expected calls."""
        pair = partial(_paired_calls, prepared, profile, recorded)
        return _examined(prepared, found, profile, recorded, pair)


class ComparedResultsKind(ExecutedKind):
    """Kind of the single-turn entries whose results are compared."""

    is_single_turn = True

    def judge_outcomes(
        self, prepared: PreparedTrajectory, outcomes: Outcomes, profile: Profile, terminated: bool
    ) -> JudgingResult:
        """Compare the results with the ground truth's results."""
        comparisons = comparisons_of(prepared.trajectory, profile)
        found = results.check_results(prepared.truth[0].results, outcomes[0].results, comparisons)
        chosen = count_selection(prepared.truth, outcomes, prepared.scene)
        verdict = Verdict.of_single_turn(found, NOTHING_MADE_UP, chosen)
        return JudgingResult(count_extra_calls(verdict, prepared.truth, outcomes, prepared.scene))

    def examine(
        self,
        prepared: PreparedTrajectory,
        found: JudgingResult,
        profile: Profile,
        recorded: RecordedEpisode | None,
    ) -> RejudgedSingleTurn:
        """Return the details of a judged episode, such as pairs of actual and right calls."""
        pair = partial(_paired_results, prepared, profile, found.trace)
        return _examined(prepared, found, profile, recorded, pair)


KINDS: Mapping[JudgingMethod, EntryKind] = {
    JudgingMethod.CALLS: ComparedCallsKind(),
    JudgingMethod.RESULTS: ComparedResultsKind(),
}


def is_error(step: Step) -> bool:
    """Tell whether a step records a failed request."""
    return isinstance(step, str) and step.startswith(NO_ANSWER)


def oracle_step(trajectory: Trajectory, profile: Profile) -> Step:
    """Return the expected calls of a single-turn entry.

    Raises:
        UnjudgeableEntry: No verdict is possible on the entry.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    return example_steps.make_expected_step(make_call_entry(trajectory), profile)


def comparisons_of(trajectory: Trajectory, profile: Profile) -> list[ResultComparisonRule]:
    """Return the comparison of results for each ground-truth call."""
    deeply = profile.results.compares_structure_deeply
    return [
        results.ResultComparisonRule(each.by, each.tolerance, deeply)
        for each in _expected(trajectory).checks
    ]


def _expected(trajectory: Trajectory) -> ExpectedResults:
    assert isinstance(trajectory.expects, ExpectedResults)
    return trajectory.expects


def _right(prepared: PreparedTrajectory, profile: Profile) -> RecordedAnswers:
    return RecordedAnswers([[oracle_step(prepared.trajectory, profile)]], "fc")


def _examined(
    prepared: PreparedTrajectory,
    found: JudgingResult,
    profile: Profile,
    recorded: RecordedEpisode | None,
    pair: Callable[[], PairedAnswer],
) -> RejudgedSingleTurn:
    turns = recorded and recorded.turns
    if recorded and not (turns and len(turns) == 1 and turns[0]):
        failed = turns is None or recorded.record.fault is not None
        pair = partial(diagnosis.PairedAnswer, said=diagnosis.ReplyStatus(request_failed=failed))
    return rejudged_episode.RejudgedSingleTurn(
        prepared=prepared,
        profile=profile,
        verdict=found.verdict,
        model=found.trace,
        recorded=recorded,
        pair=pair,
    )


def _paired_calls(
    prepared: PreparedTrajectory, profile: Profile, recorded: RecordedEpisode | None
) -> PairedAnswer:
    """Pair the recorded calls with the expected calls."""
    turns, mode, reader, _ = (
        RecordedAnswers(recorded.turns or (), recorded.mode, recorded.reader)
        if recorded
        else _right(prepared, profile)
    )
    step, task = turns[0][0], make_call_entry(prepared.trajectory)
    rules = EntryRules(task.language, profile.calls, underscores=mode == "fc")
    offered = tuple([get_shown_name(document.name, rules) for document in task.documents])
    found = diagnosis.PairedAnswer(offered=offered, aim=_AIMS.get(task.kind))
    words = step if isinstance(step, str) else None
    if is_error(step):
        return found._replace(said=diagnosis.ReplyStatus(words, None, True))
    try:
        calls = read_calls(step, task.language, mode, profile.calls, reader, task.named)
    except UnreadableOutput as error:
        # Plain text in function-calling mode is not an attempted call.
        problem = None if mode == "fc" and not isinstance(step, list) else str(error)
        calls, said = [], diagnosis.ReplyStatus(words, problem)
    else:
        said = diagnosis.ReplyStatus(None if mode == "prompt" and calls else words)
    return found._replace(pairs=call_pairs.pair_answers(calls, task, rules), said=said)


def _paired_results(
    prepared: PreparedTrajectory, profile: Profile, played: Trace | None
) -> PairedAnswer:
    assert played is not None
    (truth,), (turn,) = script_traces.trace_truth(prepared, profile).turns, played.turns
    return diagnosis.PairedAnswer(
        call_pairs.pair_results(truth, turn, comparisons_of(prepared.trajectory, profile)),
        diagnosis.ReplyStatus(turn.answer, str(turn.unreadable) if turn.unreadable else None),
        _expected(prepared.trajectory).functions,
    )
