"""The list of equivalent mutants follows the code."""

from __future__ import annotations

import pytest

from tests.mutation.equivalents import ROOT, Change, read_equivalents


@pytest.mark.parametrize("change", sorted(read_equivalents()), ids=lambda each: each.file)
def test_an_equivalent_mutant_changes_a_line_of_its_file(change: Change) -> None:
    lines = (ROOT / change.file).read_text(encoding="utf-8").split("\n")
    assert change.was in map(str.strip, lines)
    assert change.becomes != change.was
