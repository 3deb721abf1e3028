"""Entry kind of SQL entries, which executes statements or compares calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat

from checkers.calls.call_comparison import EntryRules, get_shown_name
from checkers.calls.call_entry import CallEntry
from checkers.calls.call_pairs import CallPair
from checkers.calls.single_turn_verdict import Check
from checkers.causes.single_turn_diagnosis import PairedAnswer
from checkers.evidence import CallEvidence
from checkers.profile import Profile
from checkers.reasons import Reason
from checkers.verdict import ExecutedTurn
from envs.calls import Call
from envs.state import cut_repr
from extensions.sql.comparison import MAX_DIFFERENCES, check_statements
from runner.episodes.entry_kinds import JudgingResult, RecordedAnswers
from runner.episodes.rejudged_episode import RejudgedSingleTurn
from runner.episodes.single_turn import ComparedCallsKind
from runner.records.episode_record import RecordedEpisode
from trajectories.example_steps import to_tool_calls
from trajectories.prepared_trajectory import PreparedTrajectory


class SqlEntryKind(ComparedCallsKind):
    """Entry kind for single-turn SQL entries; only some profiles execute the statements."""

    def examine(
        self,
        prepared: PreparedTrajectory,
        found: JudgingResult,
        profile: Profile,
        recorded: RecordedEpisode | None,
    ) -> RejudgedSingleTurn:
        """Return the calls and their results, paired with the expected calls and results."""
        examined = super().examine(prepared, found, profile, recorded)
        if not _is_executed(prepared, profile):
            return examined

        def with_results() -> PairedAnswer:
            paired = examined.pair()
            pairs = _with_results(prepared, paired.pairs, passed=found.verdict.valid)
            return paired._replace(pairs=pairs)

        return replace(examined, pair=with_results)

    def right(self, prepared: PreparedTrajectory, profile: Profile) -> RecordedAnswers:
        """Return the ground truth as recorded answers."""
        if not _is_executed(prepared, profile):
            return super().right(prepared, profile)
        (truth,) = prepared.truth
        step = to_tool_calls([call for call in truth.calls if isinstance(call, Call)])
        return RecordedAnswers([[step]], "fc")

    def check(self, prepared: PreparedTrajectory, profile: Profile) -> Check | None:
        """Return a check that executes the statements, or a check that compares the calls."""
        if _is_executed(prepared, profile):
            return partial(_check_executed, prepared)
        return super().check(prepared, profile)


def _is_executed(prepared: PreparedTrajectory, profile: Profile) -> bool:
    return profile.calls.executes_statements and bool(prepared.trajectory.environments)


def _check_executed(
    prepared: PreparedTrajectory, calls: Sequence[Call], task: CallEntry, rules: EntryRules
) -> CallEvidence | None:
    """Execute a model's statements and compare them with the ground truth.

    Raises UnjudgeableEntry if a statement of the ground truth is refused.
    """
    (truth,) = prepared.truth
    names = [get_shown_name(document.name, rules) for document in task.documents]
    for call in calls:
        if call.name not in names:
            message = f"the called function is {cut_repr(call.name)}"
            return CallEvidence(Reason.FUNCTION, message, names[0], actual=cut_repr(call.name))
    if not calls or len(calls) > len(truth.calls) + MAX_DIFFERENCES:
        message = f"{len(truth.calls)} statements are expected, {len(calls)} were made"
        made = str(len(calls))
        return CallEvidence(Reason.RESULT_COUNT, message, expected=len(truth.calls), actual=made)
    return check_statements(truth, _execute(prepared, calls))


def _with_results(
    prepared: PreparedTrajectory, pairs: Sequence[CallPair], *, passed: bool
) -> tuple[CallPair, ...]:
    """Add the results of both calls to each pair.

    If the entry passed, remove the problems of all pairs, because different calls can have the same
    right result.
    """
    (truth,) = prepared.truth
    calls = [pair.call for pair in pairs if isinstance(pair.call, Call)]
    given = dict(zip(map(id, calls), _execute(prepared, calls).results, strict=True))
    found = []
    for pair, right in zip(pairs, chain(truth.results, repeat(None)), strict=False):
        if passed:
            arguments = tuple([argument._replace(problem=None) for argument in pair.arguments])
            pair = pair._replace(problem=None, arguments=arguments)
        found.append(pair._replace(result=given.get(id(pair.call)), expected_result=right))
    return tuple(found)


def _execute(prepared: PreparedTrajectory, calls: Sequence[Call]) -> ExecutedTurn:
    session = prepared.template.fork()
    # Neither providers nor the environment allow a dot in a function name.
    named = [call._replace(name=call.name.replace(".", "_")) for call in calls]
    results = tuple(session.play(named))
    return ExecutedTurn(results, session.snapshot(), bool(results), tuple(named))


STATEMENTS = SqlEntryKind()
