"""What judges said of a run, to be shown beside its verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from extensions.judges.exhibit import LabelTerms, exhibits
from extensions.judges.tally import Labelled, labelled
from extensions.judges.votes import KeptVotes, votes_beside
from runner.analysis.runs import ViewedRun
from runner.records.record import Key

_NO_LABEL = "abstained"


class Opinions(NamedTuple):
    """What one judge said of the episodes of a run."""

    judge: str
    labels: Mapping[Key, Labelled]
    """By episode, under the paper's rules, of those that have one."""

    def summary(self, key: Key) -> dict[str, Any] | None:
        """Return label and number of votes by label, as JSON; None where there is no label."""
        found = self.labels.get(key)
        if found is None:
            return None
        votes = Counter(label or _NO_LABEL for label in found.cast)
        return {"judge": self.judge, "label": found.label, "votes": dict(votes)}

    def whole(self, key: Key) -> dict[str, Any] | None:
        """Return label, votes and reasons as JSON."""
        found, summary = self.labels.get(key), self.summary(key)
        if found is None or summary is None:
            return None
        said = [
            {"label": label or _NO_LABEL, "why": why}
            for label, why in zip(found.cast, found.whys, strict=True)
        ]
        return {**summary, "said": said}


def opinions_of(run: ViewedRun) -> Iterator[Opinions]:
    """Yield what each judge said whose votes lie beside a run.

    Raises:
        DataError: Votes cannot be read.
    """
    kept = list(votes_beside(run.source.path))
    names = Counter(each.definition.judge for each in kept)
    for each in kept:
        judge, folder = each.definition.judge, each.definition.folder
        yield Opinions(judge if names[judge] == 1 else folder, _labels(run, each))


def _labels(run: ViewedRun, kept: KeptVotes) -> Mapping[Key, Labelled]:
    shown = [*exhibits(run.episodes, kept.definition.show)]
    votes = {
        exhibit.key: [
            vote for vote in kept.votes.get(exhibit.key, ()) if vote.brief == exhibit.brief.sha256
        ]
        for exhibit in shown
        if exhibit.key in kept.votes
    }
    # How many there were to be is not kept: as many as there are where they had to be drawn.
    number = max(map(len, votes.values()), default=0)
    asked = [exhibit for exhibit in shown if votes.get(exhibit.key)]
    found = labelled(asked, votes, LabelTerms(), number)
    return {each.exhibit.key: each for each in found}
