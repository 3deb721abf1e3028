"""SQL statements of a single turn, executed on copies of the entry's database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from checkers.calls.documents import Task
from checkers.calls.one_call import Rules, shown_name
from checkers.calls.pairs import CallPair
from checkers.evidence import CallEvidence
from checkers.profile import Profile
from checkers.reasons import Reason
from checkers.replies.decoding import Step
from checkers.verdict import TurnOutcome
from envs.calls import Call
from envs.results import Result
from envs.state import brief
from extensions.sql.comparison import MOST, check_statements
from trajectories.prepare import Prepared
from trajectories.right_step import as_tool_calls


def is_executed(prepared: Prepared, profile: Profile) -> bool:
    """Tell whether statements of an entry are executed; some of BFCL's have no database."""
    return profile.calls.executes_statements and bool(prepared.trajectory.environments)


def right_step(prepared: Prepared) -> Step:
    """Return the ground truth as a function-calling model's step."""
    (truth,) = prepared.truth
    return as_tool_calls([call for call in truth.calls if isinstance(call, Call)])


def check_executed(
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


def with_results(
    prepared: Prepared, pairs: Sequence[CallPair], *, passed: bool
) -> tuple[CallPair, ...]:
    """Return pairs of calls with what executing them gave; where all pass, nothing is wrong."""
    (truth,) = prepared.truth
    calls = [pair.call for pair in pairs if isinstance(pair.call, Call)]
    given = dict(zip(map(id, calls), _played(prepared, calls).results, strict=True))
    right = [*truth.results] + [None] * len(pairs)
    return tuple([_with(pair, given, right[n], passed) for n, pair in enumerate(pairs)])


def _with(
    pair: CallPair, given: Mapping[int, Result], right: Result | None, passed: bool
) -> CallPair:
    found = pair._replace(result=given.get(id(pair.call)), expected_result=right)
    if not passed:
        return found
    arguments = tuple([argument._replace(problem=None) for argument in pair.arguments])
    return found._replace(problem=None, arguments=arguments)


def _played(prepared: Prepared, calls: Sequence[Call]) -> TurnOutcome:
    session = prepared.template.fork()
    # Providers take no dot in a name, and neither does the environment's function have one.
    named = [call._replace(name=call.name.replace(".", "_")) for call in calls]
    results = tuple(session.play(named))
    return TurnOutcome(results, session.snapshot(), bool(results), tuple(named))
