"""OFFER: the function list is complete, and nothing that is needed is withheld at that point."""

from __future__ import annotations

from collections.abc import Iterator

from envs.calls import Call
from envs.registry import backend_class, is_usable
from trajectories.rules.entry import Entry
from trajectories.rules.problem import Problem, Severity

OFFER = "OFFER"


def check(entry: Entry) -> Iterator[Problem]:
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
