"""What a run comes to when its data is read with errata, beside what it came to as published.

Only entries that errata read otherwise are judged again, by the judge and the profile of the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from checkers.profile import Profile
from checkers.verdict import Verdict
from envs.lazy import lazily
from runner.analysis.figures import RunFigures
from runner.episodes.evaluate import evaluate, judge_again
from runner.episodes.kinds import Terms
from runner.episodes.telling import requiring_told
from runner.records.record import EpisodeRecord
from runner.records.run import Run
from trajectories.dataset import Dataset
from trajectories.prepare import Prepared

if TYPE_CHECKING:
    from trajectories.errata import readings as errata
    from trajectories.errata.readings import Readings
else:
    # Most runs are judged as published.
    errata = lazily("trajectories.errata.readings")

JudgeRecord = Callable[[Prepared, EpisodeRecord], Verdict]
"""Judges once more what a model did in an episode."""


def judge_of(run: Run, profile: Profile, step_limit: int) -> JudgeRecord:
    """Return what judges the episodes of a recorded run once more."""

    def judge(prepared: Prepared, record: EpisodeRecord) -> Verdict:
        return judge_again(prepared, run.episodes[record.key], Terms(profile, step_limit)).verdict

    return judge


@dataclass(frozen=True)
class Mend:
    """How a run is judged once more, with what errata make of its data."""

    dataset: Dataset
    readings: Readings
    profile: Profile
    judge: JudgeRecord
    require_told: bool = False
    """Whether an episode fails in which something asked was not told."""

    def figures(self, published: RunFigures) -> RunFigures:
        """Return the figures as errata have them, given those as published."""
        return replace(
            published,
            outcomes=[now for then in published.outcomes if (now := self._judged(then))],
            planned=[entry for entry in published.planned if self.readings.of(entry)],
        )

    def _judged(self, record: EpisodeRecord) -> EpisodeRecord | None:
        """Return what has become of an episode; None where its entry leaves the denominator."""
        readings = self.readings.right.get(record.id)
        # What never was answered is no better for what the answer should have been.
        if readings is None or (readings and record.outcome == "error"):
            return record
        judged = evaluate(
            self.dataset, readings, self.profile, lambda prepared: self.judge(prepared, record)
        )
        now = errata.first_right(judged, lambda judged: judged.outcome == "passed")
        if now is None:
            return None
        made = record._replace(outcome=now.outcome, verdict=now.verdict, error=now.error)
        return requiring_told(made) if self.require_told else made
