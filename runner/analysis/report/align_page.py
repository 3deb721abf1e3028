"""The page on runs of one trajectory side by side, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from runner.analysis.align import SideBySide, document
from runner.analysis.report.bounds import Bounds
from runner.analysis.report.pages import packed, page
from runner.analysis.writing import Json

ALIGN_ASSETS = ("report.css", "align.css", "texts.js", "align.js")

_BOUNDS = Bounds(text=20_000, members=10_000)


def align_page(alignment: SideBySide) -> str:
    """Return the page on runs side by side."""
    return align_file(align_json(alignment))


def align_file(shown: Json) -> str:
    """Return the page on what ``align_json`` or ``answers_json`` shows."""
    return page(f"Turnwise: {shown['id']}", [packed(shown)], ALIGN_ASSETS)


def align_json(alignment: SideBySide) -> Json:
    """Return what the page shows of runs side by side."""
    trajectory = alignment.columns[0].examined.trajectory
    shown = {**document(alignment), "category": trajectory.category.value}
    return {**_BOUNDS.json(shown), "id": trajectory.id}


def answers_json(id: str, category: str, names: Sequence[str], answers: Sequence[Json]) -> Json:
    """Return what the page shows of a single turn: the answers of runs, as the report has them."""
    shown = [{**answer, "name": name} for name, answer in zip(names, answers, strict=True)]
    return {"id": id, "category": category, "answers": shown}
