"""Mutants that behave like the code itself: equivalent.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


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
