"""TELLS: what the user is to be told follows from what the ground truth shows or the user says."""

from __future__ import annotations

from collections.abc import Iterator

from extensions.authoring.rules.entry import Entry
from extensions.authoring.rules.problem import Problem, Severity
from extensions.authoring.tells import Grounds

TELLS = "TELLS"


def check_tells(entry: Entry) -> Iterator[Problem]:
    """Yield facts that nothing up to the end of their turn has shown or said."""
    if not any(turn.tells for turn in entry.trajectory.turns):
        return
    grounds = Grounds()
    for index, (turn, steps) in enumerate(zip(entry.trajectory.turns, entry.turns, strict=True)):
        for message in turn.messages:
            grounds.hear(message.content)
        for step in steps:
            grounds.see(step.result)
        for position, fact in enumerate(turn.tells):
            if doubt := grounds.doubt(fact):
                severity = Severity.ERROR if doubt.serious else Severity.INFO
                yield entry.problem(TELLS, severity, index, f"tells[{position}]", doubt.why)
