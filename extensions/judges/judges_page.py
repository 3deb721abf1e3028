"""Part of the report with the votes of judge models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from extensions.judges.vote_export import JudgeLabels
from runner.analysis.episode_output import Json
from runner.analysis.replayed_runs import ReplayedEpisode
from runner.analysis.report.page_parts import EpisodeOutline, PagePart
from runner.analysis.report.value_bounds import ValueBounds


class JudgesPagePart(PagePart):
    """Part of a page that shows labels and votes beside the episodes of a run."""

    def __init__(self, opinions: Sequence[JudgeLabels]) -> None:
        self._opinions = opinions

    def about(self) -> Json:
        """Return the names of the judge models, with the number of labels of each kind."""
        return {
            "judges": [each.judge for each in self._opinions],
            "judge_labels": [
                [each.judge, Counter(found.label for found in each.labels.values())]
                for each in self._opinions
            ],
        }

    def row(self, episode: EpisodeOutline) -> Json:
        """Return the label of each judge model."""
        return {"judged": [each.summary(episode.record.key) for each in self._opinions]}

    def card(self, episode: ReplayedEpisode, bounds: ValueBounds) -> Json:
        """Return the labels and votes on an episode, with their reasons."""
        key = episode.recorded.record.key
        said = [bounds.json(found) for each in self._opinions if (found := each.whole(key))]
        return {"judged": said} if said else {}
