"""Stored votes of judge models on a run, as JSON for reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from extensions.judges.judged_episode import LabelOptions, exhibits
from extensions.judges.label_figures import LabelledUnit, labelled
from extensions.judges.votes import StoredVotes, load_votes
from runner.analysis.replayed_runs import ReplayedEpisode, ReplayedRun
from runner.records.episode_record import Key

_NO_LABEL = "abstained"


class JudgeLabels(NamedTuple):
    """Labels that one judge model gave to the episodes of a run."""

    judge: str
    labels: Mapping[Key, LabelledUnit]
    """Maps each episode to the label that the rules ``paper`` give."""

    def summary(self, key: Key) -> dict[str, Any] | None:
        """Return an episode's label and the number of votes per label; None if it has no label."""
        found = self.labels.get(key)
        if found is None:
            return None
        votes = Counter(label or _NO_LABEL for label in found.cast)
        return {"judge": self.judge, "label": found.label, "votes": dict(votes)}

    def whole(self, key: Key) -> dict[str, Any] | None:
        """Return the label, votes and reasons of an episode as JSON; None if it has no label."""
        found, summary = self.labels.get(key), self.summary(key)
        if found is None or summary is None:
            return None
        said = [
            {"label": label or _NO_LABEL, "why": why}
            for label, why in zip(found.cast, found.whys, strict=True)
        ]
        return {**summary, "said": said}


def load_opinions(run: ReplayedRun) -> Iterator[JudgeLabels]:
    """Yield the labels of each judge model that voted on a run.

    Raises DataError if votes cannot be read.
    """
    kept = list(load_votes(run.source.path))
    voted = {key for each in kept for key in each.votes}
    episodes = [*run.select(voted)] if voted else []
    names = Counter(each.definition.judge for each in kept)
    for each in kept:
        judge, folder = each.definition.judge, each.definition.folder
        yield JudgeLabels(judge if names[judge] == 1 else folder, _label_episodes(episodes, each))


def _label_episodes(
    episodes: Iterable[ReplayedEpisode], kept: StoredVotes
) -> Mapping[Key, LabelledUnit]:
    shown = [*exhibits(episodes, kept.definition.show)]
    votes = {
        exhibit.key: [
            vote for vote in kept.votes.get(exhibit.key, ()) if vote.brief == exhibit.brief.sha256
        ]
        for exhibit in shown
        if exhibit.key in kept.votes
    }
    # The requested number of votes is not kept; the largest number drawn stands for it.
    number = max(map(len, votes.values()), default=0)
    asked = [exhibit for exhibit in shown if votes.get(exhibit.key)]
    found = labelled(asked, votes, LabelOptions(), number)
    return {each.exhibit.key: each for each in found}
