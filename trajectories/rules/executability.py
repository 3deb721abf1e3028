"""EXEC: every ground-truth call can be made and succeeds."""

from __future__ import annotations

from collections.abc import Iterator

from envs.calls import Call
from envs.errors import MalformedCall, ToolError
from envs.schema import check_arguments
from trajectories.rules.entry import Entry, TruthStep
from trajectories.rules.problem import Problem, Severity, brief

EXEC = "EXEC"


def check(entry: Entry) -> Iterator[Problem]:
    """Yield calls that are no calls, that are refused, or whose arguments fit no schema."""
    for step in entry.steps:
        if not step.result.ok:
            message = f"{_shown(entry, step)} fails: {brief(_reason(step), 160)}"
            yield entry.problem(EXEC, Severity.ERROR, step.turn, step.field, message)
        elif misfit := _misfit(entry, step.call):
            message = f"{_shown(entry, step)} runs, but does not fit its schema: {brief(misfit)}"
            yield entry.problem(EXEC, Severity.WARNING, step.turn, step.field, message)


def _shown(entry: Entry, step: TruthStep) -> str:
    return brief(entry.trajectory.turns[step.turn].ground_truth[step.position], 100)


def _reason(step: TruthStep) -> str:
    return step.result.error.message if step.result.error else ""


def _misfit(entry: Entry, call: Call | MalformedCall) -> str:
    """Return in what a call that succeeds does not fit its schema."""
    if isinstance(call, MalformedCall) or call.nested or entry.profile.execution.checks_arguments:
        return ""
    try:
        check_arguments(entry.template.tools[call.name], call.args, call.kwargs)
    except ToolError as error:
        return error.message
    return ""
