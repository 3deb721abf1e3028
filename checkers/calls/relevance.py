"""Entries in which it only matters whether a call is made."""

from __future__ import annotations

from collections.abc import Sequence

from checkers.calls.documents import Kind, Task
from checkers.calls.one_call import Rules, shown_name
from checkers.verdict import CallEvidence, Reason
from envs.calls import Call
from envs.state import brief


def check_call_made(calls: Sequence[Call], task: Task, rules: Rules) -> CallEvidence | None:
    """Check that a call was made where one fits, and none where none does.

    Args:
        calls: What the model called.
        task: An entry about relevance or irrelevance.
        rules: Which calls count.
    """
    if task.kind is Kind.IRRELEVANCE:
        return call_made(f"the call {brief(str(calls[0]))}") if calls else None
    offered = [shown_name(document.name, rules) for document in task.documents]
    if not calls:
        return no_call_made("no call was made")
    if not rules.profile.only_offered or any(call.name in offered for call in calls):
        return None
    return no_call_made(f"{brief(calls[0].name)} is none of the functions offered")


def call_made(what: str) -> CallEvidence:
    """Return the failure of an entry in which no function fits."""
    return CallEvidence(Reason.CALL_MADE, f"no function fits, and yet there is {what}")


def no_call_made(why: str) -> CallEvidence:
    """Return the failure of an entry in which a function fits."""
    return CallEvidence(Reason.NO_CALL_MADE, f"a function fits, but {why}")
