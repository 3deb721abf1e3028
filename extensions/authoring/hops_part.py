"""Section of the report that shows the score for each number of hops."""

from __future__ import annotations

from collections import defaultdict

from extensions.authoring.rules.replayed_entry import UnplayableEntry
from extensions.authoring.statistics import count_hops
from runner.analysis.breakdowns import Breakdown, score_part
from runner.analysis.episode_output import Json
from runner.analysis.replayed_runs import ReplayedRun
from runner.analysis.report.page_parts import EpisodeOutline, PagePart
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.schema import MULTI_TURN


class HopsPagePart(PagePart):
    """Scores by number of hops (length of an entry's longest chain of dependent calls)."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._known: dict[str, int | None] = {}
        self._groups: defaultdict[int, list[EpisodeRecord]] = defaultdict(list)

    def row(self, episode: EpisodeOutline) -> Json:
        """Add the episode to the group of its number of hops; the row has no additional field."""
        trajectory, known = episode.trajectory, self._known
        if trajectory.id not in known:
            try:
                known[trajectory.id] = count_hops(self._dataset, trajectory)
            except UnplayableEntry:
                known[trajectory.id] = None
        if (hops := known[trajectory.id]) is not None:
            self._groups[hops].append(episode.record)
        return {}

    def about(self) -> Json:
        """Return the score for each number of hops; empty if all entries have the same number."""
        parts = [score_part(str(hops), self._groups[hops]) for hops in sorted(self._groups)]
        found = Breakdown("Score by number of hops", parts)
        return {"hops": found.to_json()} if len(parts) > 1 else {}


def hops_part(run: ReplayedRun) -> HopsPagePart | None:
    """Return the page section on hops; None if the run has fewer than two multi-turn episodes."""
    entries = run.dataset.trajectories
    several = sum(entries[id].category in MULTI_TURN for id, _ in run.source.episodes) > 1
    return HopsPagePart(run.dataset) if several else None
