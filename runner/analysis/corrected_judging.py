"""New verdicts on a run, with errata applied to the data.

Only corrected entries are judged again, under the profile of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from checkers.profile import Profile
from checkers.verdict import Verdict
from envs.lazy_modules import lazy_module
from runner.analysis.figures import RunFigures
from runner.episodes.entry_kinds import JudgingTerms
from runner.episodes.info_verdict import fail_without_info
from runner.episodes.judging import evaluate, judge_again
from runner.records.episode_record import EpisodeRecord
from runner.records.recorded_run import Run
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory

if TYPE_CHECKING:
    from trajectories.errata import corrections as errata
    from trajectories.errata.corrections import CorrectedEntries
else:
    # Most runs are judged as published.
    errata = lazy_module("trajectories.errata.corrections")

JudgeRecord = Callable[[PreparedTrajectory, EpisodeRecord], Verdict]


def judge_of(run: Run, profile: Profile, step_limit: int) -> JudgeRecord:
    """Return a function that judges an episode of a recorded run again."""

    def judge(prepared: PreparedTrajectory, record: EpisodeRecord) -> Verdict:
        return judge_again(
            prepared, run.episodes[record.key], JudgingTerms(profile, step_limit)
        ).verdict

    return judge


@dataclass(frozen=True)
class CorrectedJudging:
    """Metrics of a run that is judged again with corrected data."""

    dataset: Dataset
    readings: CorrectedEntries
    profile: Profile
    judge: JudgeRecord
    require_info: bool = False

    def figures(self, published: RunFigures) -> RunFigures:
        """Return the metrics for the corrected data; ``published`` has the original metrics."""
        return replace(
            published,
            outcomes=[now for then in published.outcomes if (now := self._judged(then))],
            planned=[entry for entry in published.planned if self.readings.of(entry)],
        )

    def _judged(self, record: EpisodeRecord) -> EpisodeRecord | None:
        readings = self.readings.right.get(record.id)
        # A correction cannot help an episode without an answer.
        if readings is None or (readings and record.outcome == "error"):
            return record
        judged = evaluate(
            self.dataset, readings, self.profile, lambda prepared: self.judge(prepared, record)
        )
        now = errata.select_first_right(judged, lambda judged: judged.outcome == "passed")
        if now is None:
            return None
        made = record._replace(outcome=now.outcome, verdict=now.verdict, error=now.error)
        return fail_without_info(made) if self.require_info else made
