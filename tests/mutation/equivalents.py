"""Mutated folders, and mutants that behave like the code itself: equivalent.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
MUTATED = ("checkers", "envs", "runner/episodes", "runner/records", "runner/live")
"""Folders with mutated code, whose lines are recorded."""
RECORD_VARIABLE = "MUTATION_RECORD"
"""Environment variable that names the JSON file of recorded lines."""


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
