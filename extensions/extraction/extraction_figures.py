"""Metrics of data extraction: the shares of right fields and of invented fields."""

from __future__ import annotations

from runner.analysis.figure_table import FigureRow, FigureSection
from runner.analysis.figures import RunFigures

_SECTION = FigureSection(title="Extraction")


def _count(figures: RunFigures, name: str) -> int | None:
    verdicts = [each.verdict for each in figures.outcomes if each.verdict]
    found = [each.measures.get(f"extraction.{name}") for each in verdicts]
    known = [count for count in found if count is not None]
    return int(sum(known)) if known else None


def _share_right(figures: RunFigures) -> float | None:
    right, fields = _count(figures, "right"), _count(figures, "fields")
    return right / fields if fields and right is not None else None


FIGURES = (
    FigureRow(
        name="extraction/fields_right",
        label="fields right",
        section=_SECTION,
        value=_share_right,
        form="share",
        of=lambda figures: _count(figures, "fields"),
        unit="fields",
        optional=True,
        phrase="fields right: {text}",
    ),
    FigureRow(
        name="extraction/fields_invented",
        label="invented fields",
        section=_SECTION,
        value=lambda figures: _count(figures, "invented"),
        form="count",
        optional=True,
    ),
)
