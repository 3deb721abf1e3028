"""BULK: what has a long context is read through bulk, or it is no harder than its base."""

from __future__ import annotations

from collections.abc import Iterator

from extensions.authoring.rules.entry import Entry
from extensions.authoring.rules.problem import Problem, Severity
from trajectories.schema import Category

BULK = "BULK"

LONG = 800
"""So many characters has a result that bulk is read in; without bulk hardly one is as long."""
_LONG_CATEGORIES = (Category.LONG_CONTEXT, Category.COMPOSITE)


def check_bulk(entry: Entry) -> Iterator[Problem]:
    """Yield an entry with a long context of which the ground truth never reads bulk."""
    if entry.trajectory.category not in _LONG_CATEGORIES:
        return
    longest = max((len(step.result.text) for step in entry.steps), default=0)
    if longest < LONG:
        message = f"no bulk is read: the longest result has {longest} characters"
        yield entry.problem(BULK, Severity.WARNING, None, "long_context", message)
