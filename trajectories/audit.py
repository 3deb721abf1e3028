"""What recorded runs say of the data: entries that every model fails, and where models agree.

When most models end in one state and the ground truth in another, one of the two is wrong, and a
person should look at both. Pure: outcomes go in, findings come out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from checkers.verdict import TurnOutcome, Verdict
from envs.state import Difference, Snapshot


class AuditedRun(NamedTuple):
    """What became of one entry in one model's run."""

    verdict: Verdict
    outcomes: Sequence[TurnOutcome]
    """What the calls of each turn led to; empty where there is no record."""


class Agreement(NamedTuple):
    """A state that most models reach in place of the ground truth's."""

    models: tuple[str, ...]
    """Those that agree, by name."""
    turn: int
    """Index of the first turn at whose end they agree on another state."""
    differences: tuple[Difference, ...]
    """At the end of the last turn: what is expected, and what they agree on."""


class Finding(NamedTuple):
    """An entry that a person should look at."""

    id: str
    reasons: Mapping[str, str]
    """Model to why it fails; models that pass are not in it."""
    runs: int
    """How many models have a run of it."""
    agreement: Agreement | None

    @property
    def all_fail(self) -> bool:
        """Whether no model passes."""
        return len(self.reasons) == self.runs

    def to_json(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
        shown: dict[str, Any] = {
            "id": self.id,
            "runs": self.runs,
            "all_fail": self.all_fail,
            "failures": dict(self.reasons),
        }
        if self.agreement:
            shown["agreement"] = {
                "models": list(self.agreement.models),
                "turn": self.agreement.turn,
                "differences": [
                    difference.to_json(second="agreed") for difference in self.agreement.differences
                ],
            }
        return shown


def audit(
    truths: Mapping[str, Sequence[TurnOutcome]], runs: Mapping[str, Mapping[str, AuditedRun]]
) -> list[Finding]:
    """Return the entries that all models fail, or on whose final state most agree otherwise.

    Outcomes of ground truths are by entry id, runs by model and entry id.
    """
    findings = []
    for id, truth in truths.items():
        of_entry = {model: entries[id] for model, entries in runs.items() if id in entries}
        reasons = {model: _reason(run.verdict) for model, run in of_entry.items()}
        failed = {model: reason for model, reason in reasons.items() if reason}
        agreement = agreed(truth, of_entry)
        finding = Finding(id, failed, len(of_entry), agreement)
        if of_entry and (finding.all_fail or agreement):
            findings.append(finding)
    return findings


def agreed(truth: Sequence[TurnOutcome], runs: Mapping[str, AuditedRun]) -> Agreement | None:
    """Return the final state that most models, at least two, share and that is not the truth's."""
    groups: list[tuple[Snapshot, list[str]]] = []
    for model, run in runs.items():
        if len(run.outcomes) != len(truth):
            continue
        final = run.outcomes[-1].snapshot
        for state, members in groups:
            if state == final:
                members.append(model)
                break
        else:
            groups.append((final, [model]))
    if not groups:
        return None
    shared, models = max(groups, key=lambda group: len(group[1]))
    expected = truth[-1].snapshot
    if len(models) < 2 or 2 * len(models) <= len(runs) or shared == expected:
        return None
    turn = _parting(truth, [runs[model].outcomes for model in models])
    return Agreement(tuple(models), turn, tuple(expected.differences(shared)))


def _parting(truth: Sequence[TurnOutcome], runs: Sequence[Sequence[TurnOutcome]]) -> int:
    """Return the first turn at whose end the runs share a state that is not the truth's."""
    for turn, expected in enumerate(truth):
        states = [outcomes[turn].snapshot for outcomes in runs]
        if states[0] != expected.snapshot and all(state == states[0] for state in states):
            return turn
    return len(truth) - 1


def _reason(verdict: Verdict) -> str:
    if verdict.valid or verdict.failure is None:
        return ""
    turn = "" if verdict.failed_turn is None else f" in turn {verdict.failed_turn}"
    return f"{verdict.failure.reason}{turn}"
