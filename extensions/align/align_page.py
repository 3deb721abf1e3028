"""Page that shows several runs of one trajectory side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from extensions.align.alignment import AlignedEpisodes, document
from runner.analysis.episode_output import Json
from runner.analysis.report.pages import packed, page
from runner.analysis.report.value_bounds import ValueBounds

_OWN = Path(__file__).parent / "assets"
ALIGN_ASSETS = ("report.css", _OWN / "align.css", "texts.js", _OWN / "align.js")

_BOUNDS = ValueBounds(text=20_000, members=10_000)


def align_page(alignment: AlignedEpisodes) -> str:
    """Return the page for aligned runs."""
    return align_file(align_json(alignment))


def align_file(shown: Json) -> str:
    """Return the page that shows the data of ``align_json`` or ``answers_json``."""
    return page(f"Turnwise: {shown['id']}", [packed(shown)], ALIGN_ASSETS)


def align_json(alignment: AlignedEpisodes) -> Json:
    """Return the page's data for aligned runs."""
    trajectory = alignment.columns[0].examined.trajectory
    shown = {**document(alignment), "category": trajectory.category.value}
    return {**_BOUNDS.json(shown), "id": trajectory.id}


def answers_json(id: str, category: str, names: Sequence[str], answers: Sequence[Json]) -> Json:
    """Return the data of the page for a single-turn entry: one answer per run."""
    shown = [{**answer, "name": name} for name, answer in zip(names, answers, strict=True)]
    return {"id": id, "category": category, "answers": shown}
