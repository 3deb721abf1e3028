"""The library's own command, in a process of its own, against a server that knows the truth."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from extensions.adapters.suite import suite
from tests.servers.answers import of_dataset
from tests.servers.serving import FakeServer

ROOT = Path(__file__).parents[2]
MODULE = "from extensions.adapters.verifiers_env import TrajectoryTaskset, TurnHarness\n"
LIMIT = 3


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """Write the top-level module that the library looks for, and return its folder."""
    folder = tmp_path_factory.mktemp("module")
    names = '__all__ = ["TrajectoryTaskset", "TurnHarness"]\n'
    (folder / "turnwise_env.py").write_text(MODULE + names, encoding="utf-8")
    return folder


@pytest.fixture
def evaluate(module, tmp_path):
    """Run the library's command and return what it traced."""

    def run(answer, *more):
        with FakeServer(answer) as server:
            command = [
                *(Path(sys.executable).with_name("vf-eval"), "turnwise-env", "--model", "fake"),
                *("--client.base-url", server.base_url, "--client.api-key-var", "FAKE_KEY"),
                *("--env.agent.runtime.type", "subprocess", "--select.limit", str(LIMIT)),
                *("--no-push", "--output-dir", tmp_path, *more),
            ]
            path = os.pathsep.join([str(module), str(ROOT)])
            env = {**os.environ, "PYTHONPATH": path, "FAKE_KEY": "k" * 20}
            done = subprocess.run(
                command, cwd=module, env=env, capture_output=True, text=True, check=False
            )
        assert done.returncode == 0, done.stdout + done.stderr
        (file,) = tmp_path.rglob("traces.jsonl")
        episodes = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        return [trace for episode in episodes for trace in episode["traces"]]

    return run


@pytest.mark.parametrize(
    ("category", "mode"), [("base", "fc"), ("base", "prompt"), ("miss_func", "fc")]
)
def test_a_model_that_knows_the_truth_earns_the_reward(evaluate, category, mode):
    taken = ("--env.taskset.category", category, "--env.taskset.mode", mode)
    traces = evaluate(of_dataset("turnwise", category), *taken)
    assert len(traces) == LIMIT
    wanted = suite(category=category).dataset.trajectories
    for trace in traces:
        assert trace["rewards"]["passed"]["score"] == 1.0
        assert trace["metrics"]["turns_passed"] == 1.0
        assert trace["info"]["verdict"]["valid"]
        assert (trace["errors"], trace["stop_condition"]) == ([], "agent_completed")
        assert len(trace["calls"]) > len(wanted[trace["task"]["data"]["id"]].turns)


def test_the_library_s_limits_cut_a_trajectory_short(evaluate):
    limited = ("--env.taskset.category", "base", "--env.agent.max-turns", "2")
    for trace in evaluate(of_dataset("turnwise", "base"), *limited):
        assert trace["stop_condition"] == "max_turns"
        assert trace["rewards"]["passed"]["score"] == 0.0
        assert "verdict" not in trace["info"]
