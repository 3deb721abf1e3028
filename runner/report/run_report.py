"""The report on runs: one page with the figures of each, its episodes, and every step of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.report.bounds import Bounds
from runner.report.overview import overview, row
from runner.report.page import packed, page
from runner.report.transcript import Json, Viewed, transcript
from runner.report.viewing import ViewedRun
from runner.runs.store import read_run

_BUDGET = 4_400_000
"""Characters that the transcripts of a page may take; with them it stays under 5 MB."""

_BOUNDS = (
    Bounds(text=20_000, members=200),
    Bounds(text=4_000, members=60),
    Bounds(text=1_000, members=30),
    Bounds(text=300, members=12),
    Bounds(text=100, members=6),
)
"""How much is shown of texts and values: the first if all of it fits, else less of what is long."""

_ASSETS = ("report.css", "table.js", "overview.js", "state.js", "episode.js", "report.js")
