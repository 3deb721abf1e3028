"""Section of the report that shows the score for each number of hops."""

from __future__ import annotations

from collections import defaultdict

from extensions.authoring.rules.replayed_entry import UnplayableEntry
from extensions.authoring.statistics import count_hops
from runner.analysis.breakdowns import Breakdown, score_part
from runner.analysis.episode_output import Json
from runner.analysis.replayed_runs import ReplayedEpisode, ReplayedRun
from runner.analysis.report.page_parts import PagePart
from trajectories.schema import MULTI_TURN


class HopsPagePart(PagePart):
    """Scores by number of hops (length of an entry's longest chain of dependent calls)."""

    def __init__(self, run: ReplayedRun) -> None:
        self._run = run

    def about(self) -> Json:
        """Return the score for each number of hops; empty if all entries have the same number."""
        known: dict[str, int | None] = {}
        groups: defaultdict[int, list[ReplayedEpisode]] = defaultdict(list)
        for each in self._run.episodes:
            trajectory = each.trajectory
            if trajectory.id not in known:
                try:
                    known[trajectory.id] = count_hops(self._run.dataset, trajectory)
                except UnplayableEntry:
                    known[trajectory.id] = None
            if (hops := known[trajectory.id]) is not None:
                groups[hops].append(each)
        parts = [score_part(str(hops), groups[hops]) for hops in sorted(groups)]
        found = Breakdown("Score by number of hops in the ground truth", parts)
        return {"hops": found.to_json()} if len(parts) > 1 else {}


def hops_part(run: ReplayedRun) -> HopsPagePart | None:
    """Return the page section on hops; None if the run has fewer than two multi-turn episodes."""
    several = sum(each.trajectory.category in MULTI_TURN for each in run.episodes) > 1
    return HopsPagePart(run) if several else None
