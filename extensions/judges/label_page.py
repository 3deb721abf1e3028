"""Page for people who label episodes. The page shows the same text that a judge model receives."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from extensions.judges.episode_brief import Part
from extensions.judges.judged_episode import JudgedEpisode
from extensions.judges.win_labels import EpisodePair
from runner.analysis.report.pages import packed, page

_OWN = Path(__file__).parent / "assets"
_ASSETS = ("report.css", _OWN / "label.css", "texts.js", _OWN / "label.js")


def label_page(exhibits: Sequence[JudgedEpisode]) -> str:
    """Return the page to label a run's episodes. The browser keeps labels until they are saved.

    The page hides the run's name, because the name would reveal the judged model.
    """
    packs = [packed(_parts(exhibit)) for exhibit in exhibits]
    return _page(exhibits, [_episode(exhibit) for exhibit in exhibits], packs, "passed")


def win_label_page(pairs: Sequence[EpisodePair]) -> str:
    """Return the HTML page for labelling episode pairs; the order does not reveal the runs."""
    shown = [(pair.second, pair.first) if pair.is_swapped else (*pair,) for pair in pairs]
    packs = [packed([_parts(each) for each in both]) for both in shown]
    episodes = [
        {**_episode(pair.first), "pair": pair.digest, "swapped": pair.is_swapped} for pair in pairs
    ]
    return _page([each for pair in pairs for each in pair], episodes, packs, "winner")


def _page(
    exhibits: Sequence[JudgedEpisode],
    episodes: Sequence[dict[str, Any]],
    packs: Sequence[str],
    kind: str,
) -> str:
    hashes = "".join(exhibit.brief.sha256 for exhibit in exhibits)
    key = f"turnwise-choices-{sha256(hashes.encode()).hexdigest()[:16]}"
    index = {"key": key, "kind": kind, "episodes": episodes}
    return page("Turnwise: labels", [packed(index), *packs], _ASSETS)


def _episode(exhibit: JudgedEpisode) -> dict[str, Any]:
    id, trial = exhibit.key
    return {"id": id, "trial": trial, "category": exhibit.trajectory.category.value}


def _parts(exhibit: JudgedEpisode) -> list[tuple[str, str]]:
    return [_tag(part) for part in exhibit.brief.parts]


def _tag(part: Part) -> tuple[str, str]:
    if not isinstance(part, str):
        return part
    return ("heading", part.removeprefix("## ")) if part.startswith("## ") else ("line", part)
