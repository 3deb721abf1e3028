"""Label page: people read the text for judge models and save labels."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from extensions.judges.episode_brief import Part
from extensions.judges.judged_episode import JudgedEpisode
from runner.analysis.report.pages import packed, page

_ASSETS = ("report.css", "label.css", "texts.js", "label.js")


def label_page(exhibits: Sequence[JudgedEpisode]) -> str:
    """Return the HTML page on episodes of a run. The browser keeps labels until they are saved.

    The page hides the run's name, because the name would reveal the judged model.
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
    packs = [packed([_tag(part) for part in exhibit.brief.parts]) for exhibit in exhibits]
    return page("Turnwise: labels", [packed(index), *packs], _ASSETS)


def _tag(part: Part) -> tuple[str, str]:
    if not isinstance(part, str):
        return part
    return ("heading", part.removeprefix("## ")) if part.startswith("## ") else ("line", part)
