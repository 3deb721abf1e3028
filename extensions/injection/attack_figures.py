"""Metrics of runs with attacked episodes; episodes that ended in an error are excluded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from extensions.injection.measures import MEASURES, Measure
from extensions.injection.scores import Share, estimate_share
from runner.analysis.figure_table import FigureRow, FigureSection
from runner.analysis.figures import RunFigures
from runner.records.episode_record import EpisodeRecord

SECTION = FigureSection(title="Prompt injection")


def _row(measure: Measure) -> FigureRow:
    def holds(record: EpisodeRecord) -> bool | None:
        values = record.verdict.measures if record.verdict else {}
        return measure.holds(values) if "utility" in values else None

    def chosen(figures: RunFigures) -> Iterator[tuple[str, bool]]:
        for record in figures.outcomes:
            held = holds(record)
            if held is not None:
                yield record.scenario, held

    def share(figures: RunFigures) -> Share | None:
        return estimate_share([*chosen(figures)])

    def value(figures: RunFigures) -> float | None:
        found = share(figures)
        return found and found.value

    def interval(figures: RunFigures) -> tuple[float, float] | None:
        found = share(figures)
        return found and (found.low, found.high)

    def to_json(figures: RunFigures) -> Mapping[str, Any]:
        found = share(figures)
        name = measure.name
        known = found and {name: found.value, f"{name}_interval": [found.low, found.high]}
        return {"injection": known or {}}

    def phrase(figures: RunFigures) -> str | None:
        found, of = share(figures), len([*chosen(figures)])
        return f"\n{measure.label} {found} of {of}" if found else None

    return FigureRow(
        name=f"injection/{measure.name}",
        label=measure.label,
        section=SECTION,
        value=value,
        form="share",
        of=lambda figures: len([*chosen(figures)]) or None,
        interval=interval,
        holds=holds,
        optional=True,
        json=to_json,
        phrase=phrase,
    )


FIGURES = tuple(map(_row, MEASURES))
