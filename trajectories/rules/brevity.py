"""BREVITY: no ground-truth call is superfluous.

A result of the ground truth is a required response, so a read that says something new is never
superfluous by itself. Superfluous is, in three degrees:

- a read without which the checker accepts the rest: its text was shown already (warning);
- a write that leaves all state as it is (warning);
- a read all of whose values the user or another call of the same turn tells too (info).

A write with an effect that may be left out all the same is what DETECT reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from envs.calls import Call
from trajectories.rules.entry import Entry, TruthStep
from trajectories.rules.problem import Problem, Severity

BREVITY = "BREVITY"


def check(entry: Entry) -> Iterator[Problem]:
    """Yield the calls that could be left out."""
    for step in entry.steps:
        if not step.result.ok or step.result.changed or not isinstance(step.call, Call):
            continue
        tool = entry.template.tools[step.call.name]
        if tool.writes and _leaves_all(entry, step, tool.backend):
            message = f"{tool.name} changes nothing: the state was so before"
            yield entry.problem(BREVITY, Severity.WARNING, step.turn, step.field, message)
        elif entry.accepts_without(step):
            message = f"{tool.name} may be left out: its result is shown already"
            yield entry.problem(BREVITY, Severity.WARNING, step.turn, step.field, message)
        elif not tool.writes and (teller := _told_by(entry, step)):
            message = f"{tool.name} tells nothing that {teller} do not tell in this turn"
            yield entry.problem(BREVITY, Severity.INFO, step.turn, step.field, message)


def _leaves_all(entry: Entry, step: TruthStep, environment: str) -> bool:
    steps = entry.turns[step.turn]
    if step.position + 1 < len(steps):
        after = vars(steps[step.position + 1].before.backends[environment])
    else:
        after = dict(entry.truth[step.turn].snapshot.states[environment])
    return vars(step.before.backends[environment]) == after


def _told_by(entry: Entry, step: TruthStep) -> str:
    """Return who else tells all that a read shows, or nothing."""
    values = list(_leaves(step.result.value))
    others = [o for o in entry.turns[step.turn] if o.position != step.position and o.result.ok]
    if not values or not others:
        return ""
    words = [message.content for message in entry.trajectory.turns[step.turn].messages]
    told = "\n".join([*words, *(other.result.text for other in others)])
    if not all(_stands_in(value, told) for value in values):
        return ""
    names = dict.fromkeys(o.call.name for o in others if isinstance(o.call, Call))
    return f"the user and {', '.join(names)}"


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _leaves(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _leaves(member)
    elif value is not None:
        yield str(value)


def _stands_in(value: str, text: str) -> bool:
    if value not in text:
        return False
    return len(value) > 20 or bool(re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", text))
