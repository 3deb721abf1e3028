"""Scores of categories for tests of BFCL's table."""

from __future__ import annotations

from checkers.statistics import wilson
from runner.analysis.bfcl_table import GroupScore


def judged_once(passed: int, entries: int) -> GroupScore:
    """Return the score of entries that were each judged once."""
    return GroupScore(passed / entries, wilson(passed, entries), entries)
