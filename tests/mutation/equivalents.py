"""Mutated folders, and mutants that behave like the code itself: equivalent.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
MUTATED = ("checkers", "envs", "runner/episodes", "runner/records", "runner/live")
"""Folders with mutated code, whose lines are recorded."""
RECORD_VARIABLE = "MUTATION_RECORD"
"""Environment variable that names the JSON file of recorded lines."""

_IDENTITY = re.compile(
    r"\bis (not )?(?=(?:[A-Z]\w*\.[A-Z_]+|ABSENT|str|int|float|bool|dict|list|tuple|"
    r"Annotated|Literal|ClassVar)\b)"
)
"""Comparison with a type, a sentinel or a member of an enumeration: each equals only itself."""


class Change(NamedTuple):
    """The changed lines of a mutant."""

    file: str
    was: str
    becomes: str


def read_equivalents() -> set[Change]:
    """Return the changes that no test can find."""
    text = (Path(__file__).parent / "equivalent.toml").read_text(encoding="utf-8")
    return {
        Change(each["file"], each["was"], each["becomes"]) for each in tomllib.loads(text)["mutant"]
    }


def is_equivalent(change: Change, listed: Collection[Change]) -> bool:
    """Tell whether a change is listed, or replaces ``is`` by ``==`` where both mean the same."""
    for found in _IDENTITY.finditer(change.was):
        equality = f"{'!=' if found[1] else '=='} "
        if change.becomes == change.was[: found.start()] + equality + change.was[found.end() :]:
            return True
    return change in listed
