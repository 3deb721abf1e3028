"""What a rule finds: problems, and which of them somebody has reviewed and found right.

A file of exceptions says for each why it is right as it is. It is JSON lines, ``{"rule", "id",
"reason"}`` and, to be narrower, ``turn`` and ``field``. What holds for a base entry holds for what
was made from it; so does an exception that names the base. An exception that nothing needs is a
problem of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from checkers.told import clipped
from trajectories.errors import DataError
from trajectories.jsonl import read_objects
from trajectories.schema import Trajectory


class Severity(StrEnum):
    """How bad a problem is, the worst first."""

    ERROR = "error"
    """The entry is wrong: nobody can pass it, or somebody passes who should not."""
    WARNING = "warning"
    """A person should look at it; it is right only for a reason that no rule can see."""
    INFO = "info"
    """Worth knowing, and often intended."""


class Problem(NamedTuple):
    """One thing that a rule finds."""

    rule: str
    """Id of the rule."""
    severity: Severity
    file: str
    """Where the entry stands."""
    id: str
    """Of the entry; of the function, where a function document is at fault."""
    turn: int | None
    """Index of the turn, or None where it concerns the entry as a whole."""
    field: str
    """The member at fault, such as ``ground_truth[1].amount``."""
    message: str

    def __str__(self) -> str:
        """Return the problem as one line."""
        turn = "" if self.turn is None else f": turn {self.turn}"
        place = f"{self.file}: {self.id}{turn}: {self.field}"
        return f"{place}: {self.severity} {self.rule}: {self.message}"

    def to_json(self) -> dict[str, Any]:
        """Return the problem as one flat JSON object."""
        return {**self._asdict(), "severity": self.severity.value}


def brief(value: object, limit: int = 80) -> str:
    """Return a value as it is shown in a message."""
    return clipped(value if isinstance(value, str) else repr(value), limit)


ALLOW = "ALLOW"
"""Rule id of exceptions that are themselves a problem."""

_KINDS = {"rule": str, "id": str, "reason": str, "turn": int, "field": str}


class Exemption(NamedTuple):
    """One reviewed exception."""

    where: str
    """File and line."""
    rule: str
    id: str
    """Of an entry, of the base of entries, or of a function for its document."""
    reason: str
    turn: int | None = None
    """Index of the turn; None for every turn."""
    field: str | None = None
    """The member at fault; None for every member."""

    def covers(self, problem: Problem, base: str) -> bool:
        """Tell whether a problem is excepted, given what its entry was made from."""
        return (
            self.rule == problem.rule
            and self.id in (problem.id, base)
            and self.turn in (None, problem.turn)
            and self.field in (None, problem.field)
        )


class Allowed(NamedTuple):
    """Problems, parted by whether somebody has looked at them and found them right."""

    problems: list[Problem]
    """Those that remain, and the exceptions that nothing needs."""
    excepted: list[tuple[Problem, Exemption]]


def read_exemptions(path: Path) -> list[Exemption]:
    """Read a file of exceptions.

    Raises:
        DataError: A line is not an exception, or gives no reason.
    """
    found = []
    for where, line in read_objects(path):
        for key, value in line.items():
            if key not in _KINDS or type(value) is not _KINDS[key]:
                known = ", ".join(_KINDS)
                raise DataError(where, f"$.{key}: unknown, or of the wrong type; there are {known}")
        for key in ("rule", "id", "reason"):
            if not str(line.get(key, "")).strip():
                raise DataError(where, f"$.{key}: is missing")
        found.append(Exemption(where, **line))
    return found


def apply(
    problems: Iterable[Problem],
    exemptions: Sequence[Exemption],
    trajectories: Iterable[Trajectory],
    rules: Iterable[str],
    *,
    whole: bool = True,
) -> Allowed:
    """Take out the problems that are excepted, and report exceptions that nothing needs.

    An exception for what was not checked, or for a rule that was not applied, may well be needed;
    and any, unless the whole data set was checked, by a variant in another category.
    """
    bases = {trajectory.id: trajectory.base for trajectory in trajectories}
    checked = {*bases, *bases.values()}
    left: list[Problem] = []
    excepted: list[tuple[Problem, Exemption]] = []
    for problem in problems:
        base = bases.get(problem.id, problem.id)
        cover = next((e for e in exemptions if e.covers(problem, base)), None)
        if cover is None:
            left.append(problem)
        else:
            excepted.append((problem, cover))
    used = {exemption.where for _, exemption in excepted}
    applied = set(rules)
    for exemption in exemptions:
        stale = exemption.where not in used and exemption.id in checked
        if whole and stale and exemption.rule in applied:
            left.append(_stale(exemption))
    return Allowed(left, excepted)


def _stale(exemption: Exemption) -> Problem:
    message = f"{exemption.rule} finds nothing here any more; remove the exception"
    return Problem(
        ALLOW,
        Severity.ERROR,
        file=exemption.where,
        id=exemption.id,
        turn=exemption.turn,
        field=exemption.field or "rule",
        message=message,
    )
