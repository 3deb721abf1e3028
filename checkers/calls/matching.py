"""The calls of an entry against its answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from checkers.calls.assignment import matched_best, matched_in_order
from checkers.calls.documents import Kind, Task
from checkers.calls.one_call import Rules, check_call
from checkers.verdict import CallEvidence, Reason
from envs.calls import Call
from envs.state import brief


def check_calls(calls: Sequence[Call], task: Task, rules: Rules) -> CallEvidence | None:
    """Compare the calls of an entry with its answers.

    Args:
        calls: What the model called.
        task: What would be right; an entry that expects certain calls.
        rules: How to compare.

    Raises:
        CannotJudge: An answer's function has no document, or a document an unknown type.
    """
    wanted = 1 if task.kind is Kind.SIMPLE else len(task.answers)
    if len(calls) != wanted:
        message = f"{wanted} expected, {len(calls)} made"
        return CallEvidence(_COUNTS[task.kind], message, expected=wanted, actual=str(len(calls)))
    if task.kind is Kind.PARALLEL:
        return _check_parallel(calls, task, rules)
    answer = task.answers[0]
    simple = task.kind is Kind.SIMPLE
    document = task.documents[0] if simple else task.document(answer.function)
    return check_call(calls[0], document, answer, rules)


_COUNTS = {
    Kind.SIMPLE: Reason.SIMPLE_COUNT,
    Kind.MULTIPLE: Reason.MULTIPLE_COUNT,
    Kind.PARALLEL: Reason.PARALLEL_COUNT,
}


def _check_parallel(calls: Sequence[Call], task: Task, rules: Rules) -> CallEvidence | None:
    documents = [task.document(answer.function) for answer in task.answers]

    @cache
    def failure(answer: int, call: int) -> CallEvidence | None:
        return check_call(calls[call], documents[answer], task.answers[answer], rules)

    def fits(answer: int, call: int) -> bool:
        return failure(answer, call) is None

    match = matched_best if rules.profile.maximum_matching else matched_in_order
    left = len(match(len(task.answers), len(calls), fits))
    if left == len(task.answers):
        return None
    wanted = task.answers[left]
    message = f"no call is left that matches {brief({wanted.function: wanted.allowed})}"
    causes = (failure(left, call) for call in range(len(calls)))
    found = tuple([cause for cause in causes if cause])
    return CallEvidence(Reason.NO_MATCH, message, wanted.function, causes=found)
