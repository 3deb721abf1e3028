"""The votes of judge models on the page on a run."""

from __future__ import annotations

from collections.abc import Sequence

from extensions.judges.beside import Opinions
from runner.analysis.report.bounds import Bounds
from runner.analysis.report.parts import PagePart
from runner.analysis.runs import Viewed
from runner.analysis.writing import Json


class JudgesPart(PagePart):
    """Adds labels and votes to episodes.

    Args:
        opinions: What each judge model said, at least one's.
    """

    def __init__(self, opinions: Sequence[Opinions]) -> None:
        self._opinions = opinions

    def about(self) -> Json:
        """Return the names of the judge models."""
        return {"judges": [each.judge for each in self._opinions]}

    def row(self, episode: Viewed) -> Json:
        """Return the label of each judge model."""
        key = episode.recorded.record.key
        return {"judged": [each.summary(key) for each in self._opinions]}

    def card(self, episode: Viewed, bounds: Bounds) -> Json:
        """Return labels, votes and reasons."""
        key = episode.recorded.record.key
        said = [bounds.json(found) for each in self._opinions if (found := each.whole(key))]
        return {"judged": said} if said else {}
