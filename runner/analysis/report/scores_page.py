"""The page on what runs scored, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkers.profile import BFCL
from runner.analysis.report.groups import groups
from runner.analysis.report.page import packed, page
from runner.analysis.run_scores import RunScores

_ASSETS = ("report.css", "scores.css", "radar.js", "groups.js", "scores.js")


def scores_page(runs: Sequence[RunScores]) -> str:
    """Return the page on runs; its chart overlays the first five."""
    names = ", ".join(run.name for run in runs)
    fields = [run.profile == BFCL.name for run in runs]
    shown = {
        "runs": [_about(run) for run in runs],
        "groups": groups([run.rates for run in runs], fields),
    }
    return page(f"Turnwise: {names}", [packed(shown)], _ASSETS)


def _about(run: RunScores) -> dict[str, Any]:
    totals, latency = run.totals, run.latency
    return {
        "name": run.name,
        "profile": run.profile,
        "episodes": len(run.outcomes),
        "errors": run.errors,
        "requests": totals and totals.requests,
        "cost_per_1000": totals and totals.cost_per_1000,
        "latency": latency and latency._asdict(),
    }
