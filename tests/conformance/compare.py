"""The comparison of two replies to one script, call by call and state by state."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from envs.calls import Call, read_call
from envs.state import Difference, list_differences
from tests.conformance.known import Case, Known, Step, explanation, failed
from tests.conformance.sides import CRASH, Reply, Script

_FREE_WORDING = ('{"verification_status": false', '{"login_status": false, "message"')
"""Refusals that are results without an error, up to the text whose wording is free."""


class Finding(NamedTuple):
    """A difference that nothing explains."""

    script: Script
    turn: int
    where: str
    """The call, or the path in the state."""
    expected: object
    actual: object

    def __str__(self) -> str:
        """Return the finding as one line."""
        where = f"{self.script.id} turn {self.turn}: {_brief(self.where, 0)}"
        expected, actual = str(self.expected), str(self.actual)
        pairs = enumerate(zip(expected, actual, strict=False))
        same = next((at for at, (left, right) in pairs if left != right), 0)
        return f"{where}: expected {_brief(expected, same)}, got {_brief(actual, same)}"


class Tally:
    """What a comparison has seen so far.

    Attributes:
        calls: How many calls were compared.
        done: Successes by function.
        refused: Failures by function.
        known: Known differences met, by their ids.
        findings: Differences that nothing explains.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.findings: list[Finding] = []

    def compare(self, script: Script, theirs: Reply, ours: Reply) -> bool:
        """Compare two replies up to the first difference that matters.

        Returns:
            Whether nothing unexplained was found.
        """
        finding = self._first_finding(script, theirs, ours)
        if finding is not None:
            self.findings.append(finding)
        return finding is None

    def _first_finding(self, script: Script, theirs: Reply, ours: Reply) -> Finding | None:
        if theirs.problem or ours.problem:
            crashed = ours.problem is not None and ours.problem.startswith(CRASH)
            alike = theirs.problem and ours.problem and not crashed
            return None if alike else Finding(script, 0, "load", theirs.problem, ours.problem)
        before = theirs.initial_state
        for path, expected, actual in _differences(before, ours.initial_state):
            return Finding(script, 0, f"initial {path}", expected, actual)
        steps: list[Step] = []
        for number, calls in enumerate(script.turns):
            their_turn, our_turn = theirs.turns[number], ours.turns[number]
            for results in zip(calls, their_turn.results, our_turn.results, strict=True):
                step = _step(*results, before)
                steps.append(step)
                self._count(step)
                if _same(step.expected, step.actual):
                    continue
                known = self._explain(Case(steps))
                if known is None:
                    return Finding(script, number, step.text, step.expected, step.actual)
                if known.ends:
                    return None
            before = their_turn.state
            differences = _differences(before, our_turn.state)
            if differences:
                if self._explain(Case(steps, differences)):
                    return None
                path, expected, actual = differences[0]
                return Finding(script, number, f"{'; '.join(calls)} {path}", expected, actual)
        return None

    def _count(self, step: Step) -> None:
        self.calls += 1
        name = step.call.name if step.call else "(no call)"
        (self.refused if failed(step.actual) else self.done)[name] += 1

    def _explain(self, case: Case) -> Known | None:
        known = explanation(case)
        if known is not None:
            self.known[known.id] += 1
        return known


def _step(text: str, expected: str, actual: str, before: Mapping[str, Any]) -> Step:
    call = read_call(text)
    return Step(text, call if isinstance(call, Call) else None, expected, actual, before)


def _same(expected: str, actual: str) -> bool:
    """Tell whether two results agree: success texts to the byte, failures in being failures."""
    if expected == actual or (failed(expected) and failed(actual)):
        return True
    return any(expected.startswith(start) and actual.startswith(start) for start in _FREE_WORDING)


def _differences(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> list[Difference]:
    if expected == actual or _text(expected) == _text(actual):
        return []
    return list(list_differences(expected, actual))


def _text(state: Mapping[str, Any]) -> str:
    # Unlike values, texts find NaN equal to itself.
    return json.dumps(state, sort_keys=True)


def _brief(text: str, same: int, limit: int = 400) -> str:
    """Return a text, or what of it lies around the place where it begins to differ."""
    if len(text) <= limit:
        return text
    start = max(0, same - limit // 4)
    return f"{'…' if start else ''}{text[start : start + limit]}…"
