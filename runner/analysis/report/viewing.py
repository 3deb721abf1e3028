"""From a run to what the page shows of it: every episode executed again beside its ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from checkers.calls.documents import CannotJudge
from checkers.profile import Profile
from checkers.turn import inference_error
from checkers.verdict import Verdict
from checkers.why.diagnosis import Diagnosis
from checkers.why.divergence import Divergence
from envs.errors import BackendFault
from runner.analysis.examined import Examined, examine_recorded
from runner.analysis.mended import Mend
from runner.data import choose
from runner.records.record import EpisodeRecord, Outcome, Recorded
from runner.records.run import Run
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import prepare
from trajectories.schema import Trajectory


@dataclass(frozen=True)
class Viewed:
    """One episode of a run.

    Attributes:
        trajectory: What was asked.
        recorded: What the run has of it.
        examined: What executing it again shows; None where that led to no verdict.
        fault: Why it did not, or None.
    """

    trajectory: Trajectory
    recorded: Recorded
    examined: Examined | None
    fault: str | None = None

    @property
    def record(self) -> EpisodeRecord:
        """The run's own record."""
        return self.recorded.record

    @property
    def error(self) -> str | None:
        """What ended the episode, where that was not the model's fault."""
        failed = self.record.outcome == "error"
        return self.fault or (self.recorded.error or self.record.error if failed else None)

    @property
    def outcome(self) -> Outcome:
        """What became of it: passed, failed by the model, or an error that is not the model's."""
        if self.error is not None:
            return "error"
        return "passed" if self.verdict.valid else "failed"

    @property
    def verdict(self) -> Verdict:
        """The verdict of executing it again."""
        nothing = inference_error(len(self.trajectory.turns))
        return self.examined.verdict if self.examined else nothing

    @property
    def judged(self) -> EpisodeRecord:
        """A record of what became of it when it was executed again."""
        verdict = None if self.error is not None else self.verdict
        asked, trial = self.trajectory, self.recorded.trial
        return EpisodeRecord(asked.id, trial, asked.category, self.outcome, verdict, self.error)

    @cached_property
    def divergence(self) -> Divergence | None:
        """Where it left the ground truth first; None of a single turn."""
        return self.examined and self.examined.divergence

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """Why the model failed."""
        return self.examined and self.examined.diagnosis


class ViewedRun(NamedTuple):
    """A run with all of its episodes."""

    source: Run
    dataset: Dataset
    profile: Profile
    episodes: list[Viewed]
    """By the data set's order, then by trial."""
    mend: Mend | None = None
    """How it is judged with errata beside; None where with none."""


def view(source: Run, dataset: Dataset, profile: Profile, step_limit: int) -> ViewedRun:
    """Execute a run again and find out what there is to know of each episode.

    Args:
        source: The run.
        dataset: What it is of.
        profile: How it is executed and judged.
        step_limit: Steps that a turn may take, where the profile limits recorded runs.

    Raises:
        DataError: The data set lacks a trajectory, or the run has no finished episode.
    """
    known = {id: choose.trajectory(dataset, id) for id in source.ids}
    places = {id: place for place, id in enumerate(dataset.trajectories)}
    if not known:
        raise DataError(str(source.path), "has no finished episode")
    episodes = [
        _viewed(known[key[0]], source.episodes[key], dataset, profile, step_limit)
        for key in sorted(source.episodes, key=lambda key: (places[key[0]], key[1]))
    ]
    return ViewedRun(source, dataset, profile, episodes)


def _viewed(
    trajectory: Trajectory,
    recorded: Recorded,
    dataset: Dataset,
    profile: Profile,
    step_limit: int,
) -> Viewed:
    try:
        prepared = prepare(dataset, trajectory, profile)
        examined = examine_recorded(prepared, recorded, profile, step_limit)
    except (BackendFault, CannotJudge) as fault:
        return Viewed(trajectory, recorded, None, str(fault))
    return Viewed(trajectory, recorded, examined)
