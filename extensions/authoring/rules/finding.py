"""Findings of rules. An exception marks a reviewed finding that needs no correction.

A file of exceptions has JSON lines with ``rule``, ``id`` and ``reason``, and optionally ``turn``
and ``field``. An exception for a base entry also covers all variants of this entry. If no finding
matches an exception, the exception itself is reported as a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from checkers.known_values import clip_text
from envs.errors import DataError
from trajectories.jsonl import read_objects
from trajectories.schema import Trajectory


class Severity(StrEnum):
    """Severity of a finding; the worst severity comes first."""

    ERROR = "error"
    """The entry is wrong: no model can pass it, or a wrong answer passes."""
    WARNING = "warning"
    """A person should check the entry, because the finding can be a false alarm."""
    INFO = "info"
    """The entry is usually correct."""


class Finding(NamedTuple):
    """Rule violation in a data set."""

    rule: str
    severity: Severity
    file: str
    id: str
    """Id of the entry, or name of the documented function."""
    turn: int | None
    """Index of the turn; None if the finding concerns the whole entry."""
    field: str
    """Field that breaks the rule, such as ``ground_truth[1].amount``."""
    message: str

    def __str__(self) -> str:
        """Return the finding as one line."""
        turn = "" if self.turn is None else f": turn {self.turn + 1}"
        place = f"{self.file}: {self.id}{turn}: {self.field}"
        return f"{place}: {self.severity} {self.rule}: {self.message}"

    def to_json(self) -> dict[str, Any]:
        """Return the finding as one flat JSON object."""
        return {**self._asdict(), "severity": self.severity.value}


def brief(value: object, limit: int = 80) -> str:
    """Format a value for a message, shortened to a limited length."""
    return clip_text(value if isinstance(value, str) else repr(value), limit)


ALLOW = "ALLOW"
"""Rule for the list of exceptions."""

_KINDS = {"rule": str, "id": str, "reason": str, "turn": int, "field": str}


class FindingException(NamedTuple):
    """Exception: a person reviewed a finding, and the entry needs no correction."""

    where: str
    """File and line."""
    rule: str
    id: str
    """Id of an entry or of its base entry, or name of a documented function."""
    reason: str
    turn: int | None = None
    """Index of the turn; None covers every turn."""
    field: str | None = None
    """Field that the exception covers; None covers every field."""

    def covers(self, finding: Finding, base: str) -> bool:
        """Tell whether the exception covers a finding; ``base`` is the id of the base entry."""
        return (
            self.rule == finding.rule
            and self.id in (finding.id, base)
            and self.turn in (None, finding.turn)
            and self.field in (None, finding.field)
        )


class ReviewedFindings(NamedTuple):
    """Findings in two lists: findings that a listed exception allows, and all others."""

    problems: list[Finding]
    """Findings without a matching exception, and one finding for each unused exception."""
    excepted: list[tuple[Finding, FindingException]]


def read_exemptions(path: Path) -> list[FindingException]:
    """Read a file of exceptions to the rules.

    Raises DataError if a line is malformed or has no reason.
    """
    found = []
    for where, line in read_objects(path):
        for key, value in line.items():
            if key not in _KINDS or type(value) is not _KINDS[key]:
                known = ", ".join(_KINDS)
                raise DataError(where, f"$.{key}: unknown or of the wrong type; use {known}")
        for key in ("rule", "id", "reason"):
            if not str(line.get(key, "")).strip():
                raise DataError(where, f"$.{key}: is missing")
        found.append(FindingException(where, **line))
    return found


def apply(
    problems: Iterable[Finding],
    exemptions: Sequence[FindingException],
    trajectories: Iterable[Trajectory],
    rules: Iterable[str],
    *,
    whole: bool = True,
) -> ReviewedFindings:
    """Split findings into excepted and other findings.

    If ``whole`` is true, also report unused exceptions.
    """
    bases = {trajectory.id: trajectory.base for trajectory in trajectories}
    checked = {*bases, *bases.values()}
    left: list[Finding] = []
    excepted: list[tuple[Finding, FindingException]] = []
    for finding in problems:
        base = bases.get(finding.id, finding.id)
        cover = next((e for e in exemptions if e.covers(finding, base)), None)
        if cover is None:
            left.append(finding)
        else:
            excepted.append((finding, cover))
    used = {exemption.where for _, exemption in excepted}
    applied = set(rules)
    for each in exemptions:
        stale = each.where not in used and each.id in checked
        if whole and stale and each.rule in applied:
            message = f"{each.rule} no longer has a finding here; remove the exception"
            field = each.field or "rule"
            left.append(
                Finding(ALLOW, Severity.ERROR, each.where, each.id, each.turn, field, message)
            )
    return ReviewedFindings(left, excepted)
