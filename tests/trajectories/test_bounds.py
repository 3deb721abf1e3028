"""No entry of ours, and no recorded run, comes within a tenth of what bounds an episode."""

from __future__ import annotations

import pytest

from envs.bounds import BOUNDS, EpisodeBounds, measure_size
from envs.calls import read_call
from runner.data import dataset_choice
from trajectories.prepared_trajectory import load_session
from trajectories.schema import MULTI_TURN

MOST = 10**9
LARGEST_RECORDED = {
    "text": 2_071,
    "nesting": 2,
    "value": 1_982,
    "result": 31_706,
    "results": 97_676,
    "state": 34_638,
    "depth": 12,
    "calls_in_step": 8,
    "calls": 25,
}
"""The largest of each in two recorded runs of BFCL, 1,400 entries of several turns and 3,641
of one: measured once, since such runs do not come along."""


@pytest.mark.parametrize("name", EpisodeBounds._fields)
def test_recorded_runs_are_far_from_every_bound(name):
    unseen = ("digits", "int_bits")  # no run has a number that comes near
    assert (name in LARGEST_RECORDED) is (name not in unseen)
    assert 10 * LARGEST_RECORDED.get(name, 0) < getattr(BOUNDS, name)


@pytest.mark.parametrize("every", [24, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("category", MULTI_TURN)
def test_ground_truth_is_far_from_every_bound(category, every):
    dataset = dataset_choice.open_dataset(None, [category], print)
    most = dict.fromkeys(BOUNDS._fields, 0)

    def seen(name: str, size: int) -> None:
        most[name] = max(most[name], size)

    for trajectory in [*dataset.trajectories.values()][::every]:
        session = load_session(dataset, trajectory)
        results = []
        for turn in trajectory.turns:
            calls = [read_call(text) for text in turn.ground_truth]
            results += session.play(calls)
            seen("calls_in_step", len(calls))
            seen("text", len(str(calls)))
            seen("value", max((measure_size(call, MOST) for call in calls), default=0))
            seen("state", measure_size(session.snapshot().compared(), MOST))
        seen("calls", len(results))
        seen("result", max(len(result.text) for result in results))
        seen("results", sum(measure_size(result.value, MOST) for result in results))
    for name, size in most.items():
        # A long context is as large as the state of several other entries.
        assert (5 if name == "state" else 10) * size < getattr(BOUNDS, name), name
