"""Agents of the user's own on a real cluster: by name, or from Python as a function or a class."""

from __future__ import annotations

import os
import threading

import pytest

from envs.errors import DataError
from runner.cli import main
from runner.records.recorded_run import read_run
from runner.rollouts.evaluation import evaluate

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")

NAMED = """
class Counting:
    def __init__(self):
        self.asked = 0

    def __call__(self, messages, tools):
        self.asked += 1
        return f"{self.asked}"

def broken(messages, tools):
    raise LookupError("no idea")
"""


class Counting:
    """Says how often it was asked, and where it is."""

    def __init__(self):
        self.asked = 0

    def __call__(self, messages, tools):
        self.asked += 1
        return f"{self.asked} {os.getpid()}"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch, cluster):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named_agents.py").write_text(NAMED)


def said(folder):
    """Return what the model said in each episode."""
    return [[step.reply.text for step in record.steps] for record in read_run(folder).records]


def test_an_agent_of_python_is_asked_by_other_processes_one_for_each_episode(tmp_path):
    run = evaluate(
        Counting, categories="base", limit=4, run_dir=tmp_path / "run", engine="ray", workers=2
    )
    assert (run.episodes, run.errors, run.stopped) == (4, 0, None)
    words = [[text.split() for text in texts] for texts in said(run.folder)]
    assert all([n for n, _ in texts] == [str(i + 1) for i in range(len(texts))] for texts in words)
    assert str(os.getpid()) not in {pid for texts in words for _, pid in texts}


def test_an_agent_by_name_is_asked_by_other_processes(tmp_path, capsys):
    command = ["eval", "--model", "python:named_agents:Counting", "--category", "base"]
    assert main([*command, "--limit", "3", "--engine", "ray", "--run-dir", "run"]) == 0
    assert [texts[0] for texts in said(tmp_path / "run")] == ["1"] * 3


def test_what_an_agent_raises_there_is_an_error_with_its_traceback(tmp_path, capsys):
    command = ["eval", "--model", "python:named_agents:broken", "--category", "base"]
    assert main([*command, "--limit", "2", "--engine", "ray", "--run-dir", "run"]) == 3
    for record in read_run(tmp_path / "run").records:
        assert record.error == "the agent raised LookupError: no idea"
        assert record.traceback.startswith("Traceback")


def test_an_agent_that_cannot_travel_is_refused_before_anything_is_written(tmp_path):
    lock = threading.Lock()

    def agent(messages, tools):
        with lock:
            return "Done."

    with pytest.raises(DataError, match=r"ray: the agent cannot be sent .*lock") as refused:
        evaluate(agent, categories="base", limit=1, run_dir=tmp_path / "run", engine="ray")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "run").exists()
