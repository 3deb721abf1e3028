"""No entry of ours comes within a tenth of what bounds an episode."""

from __future__ import annotations

import pytest

from envs.bounds import BOUNDS, size_of
from envs.calls import read_call
from runner.data import choose
from trajectories.prepare import load_session
from trajectories.schema import MULTI_TURN

MOST = 10**9


@pytest.mark.parametrize("category", MULTI_TURN)
def test_ground_truth_is_far_from_every_bound(category):
    dataset = choose.dataset(None, [category], print)
    most = dict.fromkeys(BOUNDS._fields, 0)

    def seen(name: str, size: int) -> None:
        most[name] = max(most[name], size)

    for trajectory in dataset.trajectories.values():
        session = load_session(dataset, trajectory)
        results = []
        for turn in trajectory.turns:
            calls = [read_call(text) for text in turn.ground_truth]
            results += session.play(calls)
            seen("calls_in_step", len(calls))
            seen("text", len(str(calls)))
            seen("value", max((size_of(call, MOST) for call in calls), default=0))
            seen("state", size_of(session.snapshot().compared(), MOST))
        seen("calls", len(results))
        seen("result", max(len(result.text) for result in results))
        seen("results", sum(size_of(result.value, MOST) for result in results))
    for name, size in most.items():
        assert 10 * size < getattr(BOUNDS, name), name
