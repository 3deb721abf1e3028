"""Metric ``asking/asked``: share of answers that ask for the missing value."""

from __future__ import annotations

from runner.analysis.figure_table import FigureRow, FigureSection
from runner.analysis.figures import RunFigures


def _answers(figures: RunFigures) -> list[float]:
    verdicts = [each.verdict for each in figures.outcomes if each.verdict]
    found = [each.measures.get("asking.asked") for each in verdicts]
    return [each for each in found if each is not None]


def _share_asked(figures: RunFigures) -> float | None:
    answers = _answers(figures)
    return sum(answers) / len(answers) if answers else None


FIGURES = (
    FigureRow(
        name="asking/asked",
        label="asked for missing values",
        section=FigureSection(title="Missing values"),
        value=_share_asked,
        form="share",
        of=lambda figures: len(_answers(figures)),
        unit="requests without a required value",
        optional=True,
        phrase="{label}: {text} of {of} requests",
    ),
)
