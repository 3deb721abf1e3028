"""The searches of a run on its page."""

from __future__ import annotations

from extensions.search.search_tree import DEEPEST, SearchView, view_of
from runner.analysis.report.bounds import Bounds
from runner.analysis.report.parts import PagePart
from runner.analysis.runs import Viewed
from runner.analysis.writing import Json

_MIN_POINTS = 60
"""Answers of a search that are shown however large the run is."""


class SearchPart(PagePart):
    """Adds the tree of each episode."""

    def card(self, episode: Viewed, bounds: Bounds) -> Json:
        """Return the tree, as far as there is room for it."""
        searched = view_of(episode.recorded.record)
        return {"search": search_json(searched, bounds)} if searched else {}


def search_json(searched: SearchView, bounds: Bounds) -> Json:
    """Return what a search took and its tree, as far as there is room for it."""
    points = searched.points[: max(bounds.members, _MIN_POINTS)]
    tree = [
        {
            "number": point.number,
            "turn": point.step.turn,
            "depth": min(point.depth, DEEPEST),
            "became": point.became,
            "said": bounds.cut(point.said),
            # Those of what stands are in the turns.
            "results": [bounds.cut(text) for text in point.step.results[: bounds.members]]
            if point.became == "undone"
            else [],
        }
        for point in points
    ]
    left = len(searched.points) - len(points)
    return {"summary": searched.summary, "tree": tree, "left": left}
