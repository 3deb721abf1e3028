"""DETERMINISM: the same calls give the same texts and states, in a new session and in a fork."""

from __future__ import annotations

from collections.abc import Iterator

from envs.session import Session
from trajectories.rules.entry import Entry
from trajectories.rules.problem import Problem, Severity

DETERMINISM = "DETERMINISM"


def check(entry: Entry) -> Iterator[Problem]:
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
