"""The report on runs: one page with the figures of each, its episodes, and every step of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from runner.analysis.document import Json
from runner.analysis.report.bounds import Bounds
from runner.analysis.report.cards import Card, Documents
from runner.analysis.report.overview import group_scores, mended_scores, overview, row
from runner.analysis.report.page import packed, page
from runner.analysis.report.requests import Requests
from runner.analysis.runs import Viewed, ViewedRun

_BUDGET = 4_400
"""Characters that an episode's pack may take on average; 1,000 of them stay under 5 MB."""
_FEWEST = 1_000
"""Number of episodes up to which all share what this many would have."""

_BOUNDS = (
    Bounds(text=20_000, members=200),
    Bounds(text=3_000, members=50),
    Bounds(text=600, members=20),
    Bounds(text=120, members=8),
)
"""How much of texts and values is shown: the first if all fits, else less of the long ones."""

_ASSETS = (
    "report.css",
    "scores.css",
    "radar.js",
    "groups.js",
    "overview.js",
    "table.js",
    "texts.js",
    "state.js",
    "answer.js",
    "episode.js",
    "report.js",
)


def report(runs: Sequence[ViewedRun]) -> str:
    """Return the page on runs.

    Args:
        runs: At least one; each gets a tab of its own.
    """
    index: list[Json] = []
    shared: list[str] = []
    writers: list[Callable[[Bounds], str]] = []
    for run in runs:
        requests = _requests(run)
        documents = Documents(filter(None, [episode.examined for episode in run.episodes]))
        index.append({**_about(run), "first_pack": 1 + len(runs) + len(writers)})
        common = {**requests.shared(_BOUNDS[0]), "documents": documents.shared(_BOUNDS[0])}
        shared.append(packed(common))
        writers += [partial(_packed_card, episode, requests, documents) for episode in run.episodes]
    title = f"Turnwise: {', '.join(run.source.name for run in runs)}"
    return page(title, [packed(index), *shared, *_fitting(writers)], _ASSETS)


def _about(run: ViewedRun) -> Json:
    dataset, definition = run.dataset, run.source.definition
    return {
        "name": run.source.name,
        "data": f"{dataset.name} {dataset.version}, sha256 {dataset.sha256[:12]}",
        "profile": run.profile.name,
        "definition": _BOUNDS[0].json(definition.to_json()) if definition else None,
        "overview": overview(run.episodes),
        "mended": mended_scores(run),
        "groups": group_scores(run),
        "rows": [row(episode) for episode in run.episodes],
    }


def _requests(run: ViewedRun) -> Requests:
    source = run.source if run.source.definition else None
    return Requests(source, [episode.recorded.record for episode in run.episodes])


def _packed_card(episode: Viewed, requests: Requests, documents: Documents, bounds: Bounds) -> str:
    card = Card(episode.recorded.record, requests, documents, bounds)
    examined = episode.examined
    return packed(examined.show(card) if examined else card.asked(episode.trajectory))


def _fitting(writers: Sequence[Callable[[Bounds], str]]) -> list[str]:
    """Return what writers write, where need be with less of those that write most."""
    packs = [write(_BOUNDS[0]) for write in writers]
    budget = _BUDGET * max(_FEWEST, len(writers))
    for bounds in _BOUNDS[1:]:
        if sum(map(len, packs)) <= budget:
            break
        fair = budget / len(writers)
        packs = [
            pack if len(pack) <= fair else write(bounds)
            for pack, write in zip(packs, writers, strict=True)
        ]
    return packs
