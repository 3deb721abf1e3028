"""The page on what runs scored, side by side: BFCL's table, and its nine classic groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from checkers.groups import CLASSIC, Rate, classic, table
from checkers.profile import BFCL
from runner.analysis.figure_lines import notes, worth_showing
from runner.analysis.figures import requests_json
from runner.analysis.report.page import packed, page
from runner.analysis.run_scores import RunScores

_ASSETS = ("report.css", "scores.css", "radar.js", "groups.js", "scores.js")


def scores_page(runs: Sequence[RunScores]) -> str:
    """Return the page on runs; its chart overlays the first five."""
    names = ", ".join(run.name for run in runs)
    fields = [run.profile == BFCL.name for run in runs]
    shown = {
        "runs": [_about(run) for run in runs],
        "groups": groups([run.figures.rates for run in runs], fields),
    }
    return page(f"Turnwise: {names}", [packed(shown)], _ASSETS)


def groups(rates: Sequence[Mapping[str, Rate]], fields: Sequence[bool]) -> dict[str, Any]:
    """Return what a page shows of BFCL's table of runs.

    Args:
        rates: The scores of each run, by category.
        fields: Of which runs BFCL's figures are shown too.
    """
    tables = [table(each) for each in rates]
    charts = [classic(each) for each in rates]
    return {
        "fields": list(fields),
        "rows": [
            {
                "name": rows[0].name,
                "depth": len(rows[0].path) - 1,
                "rates": [_rate(row.rate) for row in rows],
                "field": [row.field for row in rows],
            }
            for rows in worth_showing(tables)
        ],
        "notes": list(notes(tables, fields)),
        "classic": [
            {"name": name, "rates": [_rate(chart[name]) for chart in charts]} for name in CLASSIC
        ],
    }


def _about(run: RunScores) -> dict[str, Any]:
    return {
        "name": run.name,
        "profile": run.profile,
        "episodes": len(run.figures.outcomes),
        "errors": run.figures.errors,
        **requests_json(run.figures.totals),
    }


def _rate(rate: Rate | None) -> dict[str, Any] | None:
    return rate and rate._asdict()
