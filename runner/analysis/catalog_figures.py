"""Metrics for the runs in a catalog."""

from __future__ import annotations

from runner.analysis.figures import RunFigures
from runner.records.run_catalog import CatalogRun


def run_figures(run: CatalogRun) -> RunFigures:
    """Return the metrics of a run without recorded steps."""
    return RunFigures(run.episodes, progress=run.progress)
