"""From a run to what the page shows of it: every episode executed again beside its ground truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from checkers.diagnosis import diagnose
from checkers.divergence import first_divergence
from checkers.profile import Profile
from checkers.trace import Trace
from checkers.turn import inference_error
from envs.errors import BackendFault
from runner import choose
from runner.inspect.source import Recorded, RunSource, judged_trace
from runner.inspect.tracing import trace_recorded, trace_truth
from runner.prepare import prepare
from runner.report.transcript import Viewed
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


class ViewedRun(NamedTuple):
    """A run with all of its episodes."""

    source: RunSource
    dataset: Dataset
    profile: Profile
    episodes: list[Viewed]
    """By the data set's order, then by trial."""


def view(source: RunSource, dataset: Dataset, profile: Profile, step_limit: int) -> ViewedRun:
    """Execute a run again and find out what there is to know of each episode.

    Args:
        source: The run.
        dataset: What it is of.
        profile: How it is executed and judged.
        step_limit: Steps that a turn may take, where the profile limits recorded runs.

    Raises:
        DataError: The data set has no trajectory of an episode's id.
    """
    return ViewedRun(
        source, dataset, profile, list(_episodes(source, dataset, profile, step_limit))
    )


def _episodes(
    source: RunSource, dataset: Dataset, profile: Profile, step_limit: int
) -> Iterator[Viewed]:
    places = {id: place for place, id in enumerate(dataset.trajectories)}
    for id, trial in sorted(source.episodes, key=lambda key: (places.get(key[0], -1), key)):
        trajectory = choose.trajectory(dataset, id)
        recorded = source.episodes[id, trial]
        try:
            yield _viewed(trajectory, recorded, dataset, profile, step_limit)
        except BackendFault as fault:
            nothing = inference_error(len(trajectory.turns))
            yield Viewed(
                trajectory, trial, Trace(()), None, nothing, None, None, {}, str(fault)
            )


def _viewed(
    trajectory: Trajectory,
    recorded: Recorded,
    dataset: Dataset,
    profile: Profile,
    step_limit: int,
) -> Viewed:
    prepared = prepare(dataset, trajectory, profile)
    truth = trace_truth(prepared, profile)
    model, verdict = judged_trace(prepared, recorded, profile, step_limit)
    shown = model
    if model is None and recorded.turns is not None:
        # It cannot be judged, but there is something to see.
        shown = trace_recorded(prepared, recorded.turns, recorded.mode, profile, step_limit)
    return Viewed(
        trajectory,
        recorded.trial,
        truth,
        shown,
        verdict,
        first_divergence(truth, shown) if shown else None,
        None if recorded.error else diagnose(truth, model, verdict),
        recorded.record or {},
        recorded.error,
    )
