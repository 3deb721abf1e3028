"""Cells of CSV that no spreadsheet takes for formulas."""

from __future__ import annotations

import pytest

from runner.analysis.figure_lines import csv_cell


@pytest.mark.parametrize(
    "text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1"]
)
def test_a_formula_becomes_text(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "gpt-4o", "a=b", "1"])
def test_other_texts_stay(text: str) -> None:
    assert csv_cell(text) == text
