"""EXEC, OFFER and DETERMINISM: the ground truth can be played, and always leads to the same.

Every call can be made and succeeds; nothing that is needed is withheld at that point; the same
calls give the same texts and states, in a new session and in a fork.
"""

from __future__ import annotations

from collections.abc import Iterator

from envs.calls import Call
from envs.errors import MalformedCall, ToolError
from envs.registry import backend_class, is_usable
from envs.schema import check_arguments
from envs.session import Session
from trajectories.rules.entry import Entry, TruthStep
from trajectories.rules.problem import Problem, Severity, brief

EXEC, OFFER, DETERMINISM = "EXEC", "OFFER", "DETERMINISM"


def check_calls(entry: Entry) -> Iterator[Problem]:
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


def check_offers(entry: Entry) -> Iterator[Problem]:
    """Yield functions that are needed and not offered, and names that are no functions."""
    trajectory = entry.trajectory
    functions = tuple(
        [
            name
            for environment in trajectory.environments
            if is_usable(environment)
            for name in backend_class(environment).TOOLS
        ]
    )
    for name in trajectory.excluded:
        if name not in functions:
            yield entry.problem(
                OFFER, Severity.ERROR, None, "excluded", f"{name} is no function of its backends"
            )
    for index, calls in enumerate(entry.calls):
        offered = trajectory.offered(functions, index)
        for position, call in enumerate(calls):
            if isinstance(call, Call) and call.name not in offered:
                reason = _why_not(call.name, entry, functions)
                yield entry.problem(
                    OFFER,
                    Severity.ERROR,
                    index,
                    f"ground_truth[{position}]",
                    f"needs {call.name}, which {reason}",
                )
        yield from _handed_over(entry, index, functions)


def _why_not(name: str, entry: Entry, functions: tuple[str, ...]) -> str:
    if name not in functions:
        return f"no backend of {', '.join(entry.trajectory.environments)} has"
    return "is excluded" if name in entry.trajectory.excluded else "is handed over only later"


def _handed_over(entry: Entry, index: int, functions: tuple[str, ...]) -> Iterator[Problem]:
    used = {call.name for call in entry.calls[index] if isinstance(call, Call)}
    for position, name in enumerate(entry.trajectory.turns[index].offers):
        field = f"offers[{position}]"
        if name not in functions:
            message = f"hands over {name}, which is no function of its backends"
            yield entry.problem(OFFER, Severity.ERROR, index, field, message)
        elif name not in used:
            message = f"hands over {name}, which the ground truth of this turn does not use"
            yield entry.problem(OFFER, Severity.WARNING, index, field, message)


def check_repeats(entry: Entry) -> Iterator[Problem]:
    """Yield the first turn at which a second run departs from the first."""
    new = entry.load()
    for kind, session in (("a new session", new), ("a fork", entry.template.fork())):
        problem = _departure(entry, session, kind)
        if problem is not None:
            yield problem
            return
    # Writing all state out takes longest, and states of a fork are the same objects.
    if new.snapshot().digest() != entry.truth[-1].snapshot.digest():
        turn = len(entry.truth) - 1
        message = "lead to a state with another digest in a new session"
        yield entry.problem(DETERMINISM, Severity.ERROR, turn, "ground_truth", message)


def _departure(entry: Entry, session: Session, kind: str) -> Problem | None:
    for index, (calls, truth) in enumerate(zip(entry.calls, entry.truth, strict=True)):
        for position, (call, expected) in enumerate(zip(calls, truth.results, strict=True)):
            if session.call(call).text != expected.text:
                message = f"gives another result in {kind}"
                field = f"ground_truth[{position}]"
                return entry.problem(DETERMINISM, Severity.ERROR, index, field, message)
        if session.snapshot() != truth.snapshot:
            message = f"lead to another state in {kind}"
            return entry.problem(DETERMINISM, Severity.ERROR, index, "ground_truth", message)
    return None
