"""The page on which people label episodes: what a judge would read, and nothing that says more."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from extensions.judges.brief import Part
from extensions.judges.exhibit import Exhibit
from runner.analysis.report.pages import packed, page

_ASSETS = ("report.css", "label.css", "texts.js", "label.js")


def label_page(exhibits: Sequence[Exhibit]) -> str:
    """Return the page on episodes of a run, of which labels are kept in the browser until saved.

    It does not say which run that is: its name would tell who is judged.
    """
    hashes = "".join(exhibit.brief.sha256 for exhibit in exhibits)
    index = {
        "key": f"turnwise-labels-{sha256(hashes.encode()).hexdigest()[:16]}",
        "episodes": [
            {
                "id": exhibit.key[0],
                "trial": exhibit.key[1],
                "category": exhibit.trajectory.category.value,
            }
            for exhibit in exhibits
        ],
    }
    packs = [packed([_shown(part) for part in exhibit.brief.parts]) for exhibit in exhibits]
    return page("Turnwise: labels", [packed(index), *packs], _ASSETS)


def _shown(part: Part) -> tuple[str, str]:
    if not isinstance(part, str):
        return part
    return ("heading", part.removeprefix("## ")) if part.startswith("## ") else ("line", part)
