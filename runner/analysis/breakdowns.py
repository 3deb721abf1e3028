"""Scores of parts of a run: by difficulty of the entry, and by number of requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from runner.records.episode_record import EpisodeRecord
from trajectories.schema import DifficultyLabel, Trajectory

_BUDGETS = (5, 10, 20, 40, 80, 160)


class PartScore(NamedTuple):
    """Score of one group of a run's entries."""

    label: str
    passed: int
    judged: int


class Breakdown(NamedTuple):
    """Scores of a run, grouped by one criterion such as difficulty."""

    title: str
    parts: Sequence[PartScore]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {"title": self.title, "parts": [part._asdict() for part in self.parts]}


def score_part(label: str, records: Iterable[EpisodeRecord]) -> PartScore:
    """Return the score of episodes, except episodes that ended in errors."""
    outcomes = [each.outcome for each in records]
    return PartScore(label, outcomes.count("passed"), len(outcomes) - outcomes.count("error"))


def breakdowns(
    records: Sequence[EpisodeRecord], entries: Mapping[str, Trajectory]
) -> list[Breakdown]:
    """Return the breakdowns by difficulty and by requests, if the run has the data for them.

    An episode with several labels counts in several rows. In the row for 10 requests, an episode
    counts as failed if it needed more than 10 requests.
    """
    found = [Breakdown("Score by difficulty", [*_by_label(records, entries)])]
    if all(_count_requests(each) for each in records if each.outcome == "passed"):
        found.append(Breakdown("Score by request budget", [*_by_budget(records)]))
    return [each for each in found if len(each.parts) > 1]


def _by_label(
    records: Sequence[EpisodeRecord], entries: Mapping[str, Trajectory]
) -> Iterable[PartScore]:
    parts = [
        score_part(str(label), (each for each in records if label in entries[each.id].labels))
        for label in DifficultyLabel
    ]
    rest = score_part("no label", (each for each in records if not entries[each.id].labels))
    return [each for each in [*parts, rest] if each.judged] if any(p.judged for p in parts) else []


def _count_requests(record: EpisodeRecord) -> int:
    # Result files have the steps of each turn, but no requests.
    return len(record.steps) or sum(map(len, record.result or ()))


def _by_budget(records: Sequence[EpisodeRecord]) -> Iterable[PartScore]:
    judged = [each for each in records if each.outcome != "error"]
    used = [_count_requests(each) for each in judged if each.outcome == "passed"]
    for budget in _BUDGETS:
        passed = sum(requests <= budget for requests in used)
        yield PartScore(f"at most {budget}", passed, len(judged))
        if passed == len(used):
            return
