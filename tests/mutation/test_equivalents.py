"""The list of equivalent mutants follows the code."""

from __future__ import annotations

import pytest

from tests.mutation.equivalents import ROOT, Change, is_equivalent, read_equivalents


@pytest.mark.parametrize("change", sorted(read_equivalents()), ids=lambda each: each.file)
def test_an_equivalent_mutant_changes_a_line_of_its_file(change: Change) -> None:
    lines = (ROOT / change.file).read_text(encoding="utf-8").split("\n")
    assert change.was in map(str.strip, lines)
    assert change.becomes != change.was


def test_identity_and_equality_are_equivalent_for_types_and_enumerations_only() -> None:
    for was, becomes, equivalent in (
        ("if type(a) is int:", "if type(a) == int:", True),
        ("if a is not Reason.TYPE and b is str:", "if a != Reason.TYPE and b is str:", True),
        ("if a is not Reason.TYPE and b is str:", "if a is not Reason.TYPE and b == str:", True),
        ("if a is ABSENT:", "if a == ABSENT:", True),
        ("if a is ABSENT:", "if a != ABSENT:", False),
        ("if a is not ABSENT:", "if a == ABSENT:", False),
        ("if a is other:", "if a == other:", False),
        ("if a is True:", "if a == True:", False),
        ("if a is interval:", "if a == interval:", False),
    ):
        assert is_equivalent(Change("a.py", was, becomes), ()) is equivalent, was
    listed = Change("a.py", "a", "b")
    assert is_equivalent(listed, {listed})
