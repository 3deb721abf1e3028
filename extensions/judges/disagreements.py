"""Reader of files that ``turnwise judge --disagreements`` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from envs.errors import DataError
from trajectories.jsonl import read_objects


class Disagreement(NamedTuple):
    """Contradiction between a judge model's label and the checker's verdict."""

    label: str
    passed: bool
    why: str
    """The judge's reason in one of its votes."""

    def __str__(self) -> str:
        """Describe the disagreement in one line."""
        verdict = "passed" if self.passed else "failed"
        return f"judge {self.label}, verdict {verdict}" + (f": {self.why}" if self.why else "")


def read_disagreements(path: Path) -> Mapping[str, list[Disagreement]]:
    """Return the disagreements in a file, grouped by entry.

    Raises DataError if the file is unreadable or malformed.
    """
    found: dict[str, list[Disagreement]] = {}
    for where, line in read_objects(path):
        match line:
            case {"id": str(id), "label": str(label), "passed": bool(passed), "votes": list(votes)}:
                whys = (vote.get("why") for vote in votes if isinstance(vote, dict))
                why = next((why for why in whys if isinstance(why, str) and why), "")
                found.setdefault(id, []).append(Disagreement(label, passed, why))
            case _:
                raise DataError(where, 'a disagreement needs "id", "label", "passed" and "votes"')
    return found
