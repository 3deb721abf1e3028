"""SQL entries as a kind of entry: statements are executed, or compared as calls.

What is executed plays on copies of the entry's database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat

from checkers.calls.documents import Task
from checkers.calls.judge import Check
from checkers.calls.one_call import Rules, shown_name
from checkers.calls.pairs import CallPair
from checkers.evidence import CallEvidence
from checkers.profile import Profile
from checkers.reasons import Reason
from checkers.verdict import TurnOutcome
from checkers.why.calls import PairedAnswer
from envs.calls import Call
from envs.state import brief
from extensions.sql.comparison import MOST, check_statements
from runner.episodes.examined import ExaminedCalls
from runner.episodes.kinds import Answers, Judgement
from runner.episodes.single_turn import ComparedCalls
from runner.records.record import Recorded
from trajectories.prepare import Prepared
from trajectories.right_step import as_tool_calls


class ComparedStatements(ComparedCalls):
    """One turn of SQL statements, which are executed where the profile says so."""

    def examine(
        self, prepared: Prepared, found: Judgement, profile: Profile, recorded: Recorded | None
    ) -> ExaminedCalls:
        """Return the calls, beside the answers that are right and with what they gave."""
        examined = super().examine(prepared, found, profile, recorded)
        if not _is_executed(prepared, profile):
            return examined

        def with_results() -> PairedAnswer:
            paired = examined.pair()
            pairs = _with_results(prepared, paired.pairs, passed=found.verdict.valid)
            return paired._replace(pairs=pairs)

        return replace(examined, pair=with_results)

    def right(self, prepared: Prepared, profile: Profile) -> Answers:
        """Return the ground truth as answers: as it was executed, or by its calls."""
        if not _is_executed(prepared, profile):
            return super().right(prepared, profile)
        (truth,) = prepared.truth
        step = as_tool_calls([call for call in truth.calls if isinstance(call, Call)])
        return Answers([[step]], "fc")

    def check(self, prepared: Prepared, profile: Profile) -> Check | None:
        """Return the comparison of what statements give; None where calls are compared."""
        if _is_executed(prepared, profile):
            return partial(_check_executed, prepared)
        return super().check(prepared, profile)


def _is_executed(prepared: Prepared, profile: Profile) -> bool:
    """Tell whether statements of an entry are executed; some of BFCL's have no database."""
    return profile.calls.executes_statements and bool(prepared.trajectory.environments)


def _check_executed(
    prepared: Prepared, calls: Sequence[Call], task: Task, rules: Rules
) -> CallEvidence | None:
    """Execute a model's statements and compare what comes of them with the ground truth's.

    Raises:
        CannotJudge: A statement of the ground truth is refused.
    """
    (truth,) = prepared.truth
    names = [shown_name(document.name, rules) for document in task.documents]
    for call in calls:
        if call.name not in names:
            message = f"the function called is {brief(call.name)}"
            return CallEvidence(Reason.FUNCTION, message, names[0], actual=brief(call.name))
    if not calls or len(calls) > len(truth.calls) + MOST:
        message = f"{len(truth.calls)} statements are right, {len(calls)} were made"
        made = str(len(calls))
        return CallEvidence(Reason.RESULT_COUNT, message, expected=len(truth.calls), actual=made)
    return check_statements(truth, _played(prepared, calls))


def _with_results(
    prepared: Prepared, pairs: Sequence[CallPair], *, passed: bool
) -> tuple[CallPair, ...]:
    """Return pairs of calls with what executing them gave; where all pass, nothing is wrong."""
    (truth,) = prepared.truth
    calls = [pair.call for pair in pairs if isinstance(pair.call, Call)]
    given = dict(zip(map(id, calls), _played(prepared, calls).results, strict=True))
    found = []
    for pair, right in zip(pairs, chain(truth.results, repeat(None)), strict=False):
        if passed:
            arguments = tuple([argument._replace(problem=None) for argument in pair.arguments])
            pair = pair._replace(problem=None, arguments=arguments)
        found.append(pair._replace(result=given.get(id(pair.call)), expected_result=right))
    return tuple(found)


def _played(prepared: Prepared, calls: Sequence[Call]) -> TurnOutcome:
    session = prepared.template.fork()
    # Providers take no dot in a name, and neither does the environment's function have one.
    named = [call._replace(name=call.name.replace(".", "_")) for call in calls]
    results = tuple(session.play(named))
    return TurnOutcome(results, session.snapshot(), bool(results), tuple(named))


STATEMENTS = ComparedStatements()
