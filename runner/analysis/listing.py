"""Figures and JSON of the runs in a catalog."""

from __future__ import annotations

from typing import Any

from runner.analysis.figures import RunFigures
from runner.records.run_catalog import CatalogRun


def run_json(run: CatalogRun) -> dict[str, Any]:
    """Return a run of the catalog as JSON."""
    rate = run_figures(run).overall
    definition, progress = run.definition, run.progress
    return {
        "folder": str(run.folder),
        "state": run.state,
        "problem": run.problem,
        "created": run.created,
        "model": definition and definition.model,
        "dataset": definition and definition.dataset._asdict(),
        "profile": definition and definition.profile,
        "episodes": len(run.episodes),
        "errors": run.errors,
        "score": rate and rate.value,
        "interval": rate and rate.interval,
        "entries": rate.entries if rate else 0,
        **progress.to_json(),
        "resume": run.resume,
        **run.annotation.to_json(),
    }


def run_figures(run: CatalogRun) -> RunFigures:
    """Return the figures of a run whose episodes have no steps."""
    return RunFigures(run.episodes, progress=run.progress)
