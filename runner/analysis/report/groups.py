"""BFCL's table on a page: the nine classic groups as a radar chart, all groups as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from checkers.groups import CLASSIC, Rate, classic, table
from runner.analysis.group_table import notes, worth_showing


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


def _rate(rate: Rate | None) -> dict[str, Any] | None:
    return rate and rate._asdict()
