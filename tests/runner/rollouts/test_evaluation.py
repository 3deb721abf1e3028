"""``turnwise.evaluate``: a run folder as any other, whatever the agent does."""

from __future__ import annotations

import asyncio
import json

import pytest

from envs.calls import parse_call
from runner.cli import main
from runner.data.choose import load_dataset
from runner.records.run import read_run
from runner.rollouts.env import RolloutEnv
from runner.rollouts.evaluation import evaluate
from trajectories.errors import DataError


class Knowing:
    """Plays the ground truth of one trajectory, and tells apart which by its first message."""

    def __init__(self):
        self.left = None

    def __call__(self, messages, tools):
        if self.left is None:
            self.left = self.steps(messages[0]["content"])
        return self.left.pop(0)

    def steps(self, first):
        entries = load_dataset(categories="base").trajectories.values()
        [trajectory] = [t for t in entries if t.turns[0].messages[0].content == first]
        env, left = RolloutEnv(trajectory), []
        for turn in trajectory.turns:
            for calls in [*([parse_call(call)] for call in turn.ground_truth), []]:
                env.step(calls) if calls else None
                left.append(self.message(env, calls))
        return left

    @staticmethod
    def message(env, calls):
        if not calls:
            return "Done."
        sent = [m for m in env.messages if m.get("tool_calls")][-1]
        return {"role": "assistant", "content": None, "tool_calls": sent["tool_calls"]}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_an_agent_that_knows_the_truth_passes(tmp_path, capsys):
    run = evaluate(Knowing, categories="base", limit=3, trials=2, run_dir=tmp_path / "run")
    assert (run.episodes, run.passed, run.errors, run.score) == (6, 6, 0, 1.0)
    assert repr(run) == f"Evaluation(6 of 6 passed, 0 errors; {tmp_path / 'run'})"
    assert [record.outcome for record in run.records()] == ["passed"] * 6
    assert main(["table", str(run.folder)]) == 0
    assert "100.0" in capsys.readouterr().out
    assert main(["verify", str(run.folder)]) == 0


def test_what_an_agent_raises_is_an_error_and_no_failure(tmp_path, capsys):
    first, *_ = load_dataset(categories="base").trajectories.values()
    opening = first.turns[0].messages[0].content

    def agent(messages, tools):
        if messages[0]["content"] == opening:
            raise LookupError("not found")
        return "I do nothing."

    run = evaluate(agent, categories="base", limit=4, run_dir="run")
    assert run.errors > 0
    assert run.passed == 0
    assert run.episodes == 4
    errors = [record for record in run.records() if record.outcome == "error"]
    assert len(errors) == run.errors
    for record in errors:
        assert record.error == "the agent raised LookupError: not found"
        assert record.traceback.splitlines()[-2].strip() == 'raise LookupError("not found")'
        assert record.verdict is None
    again = evaluate(agent, categories="base", limit=4, run_dir="run", resume=True)
    assert again == run


def test_a_run_goes_on(tmp_path):
    asked = []

    def agent(messages, tools):
        asked.append(messages[0]["content"])
        return "Nothing."

    run = evaluate(agent, categories="base", limit=2, run_dir="run", name="mine")
    assert read_run(run.folder).definition.model == "mine"
    before = len(asked)
    assert (
        evaluate(
            agent, categories="base", limit=2, run_dir="run", name="mine", resume=True
        ).episodes
        == 2
    )
    assert len(asked) == before
    with pytest.raises(DataError, match="run: "):
        evaluate(agent, categories="base", limit=3, run_dir="run", name="mine", resume=True)


def test_in_a_running_loop():
    async def notebook():
        return evaluate(lambda messages, tools: "No.", categories="base", limit=2, run_dir="run")

    assert asyncio.run(notebook()).episodes == 2


def test_an_error_in_a_running_loop_is_raised():
    async def notebook():
        def broken():
            raise KeyboardInterrupt

        return evaluate(agent_factory=broken, categories="base", limit=1, run_dir="run")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(notebook())


def test_a_factory_makes_an_agent_per_episode():
    made = []

    def factory():
        made.append(1)
        return lambda messages, tools: "No."

    assert evaluate(agent_factory=factory, categories="base", limit=3, run_dir="run").episodes == 3
    assert len(made) == 3


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ({}, "agent: pass either a function"),
        ({"agent": 3}, "agent: pass either a function"),
        ({"agent": print, "agent_factory": print}, "agent: pass either a function"),
        ({"agent": print, "trials": 0}, "trials: must be an integer from 1, is 0"),
        ({"agent": print, "resume": True}, "resume: needs run_dir"),
        ({"agent": print, "profile": "mild"}, "profile: 'mild' is not one of bfcl, strict"),
        ({"agent": print, "categories": "bse"}, "'bse' is not a category"),
        ({"agent": print, "ids": ["nothing_7"]}, "nothing_7"),
    ],
)
def test_what_cannot_be_used(named, problem):
    with pytest.raises(DataError, match=problem):
        evaluate(**named)


def test_the_same_from_the_command_line(tmp_path, capsys):
    (tmp_path / "agent_in_folder.py").write_text("def agent(messages, tools): return 'No.'\n")
    command = ["eval", "--model", "python:agent_in_folder:agent", "--category", "base"]
    assert main([*command, "--limit", "2", "--run-dir", "run", "--output", "verdicts.jsonl"]) == 0
    assert "model python:agent_in_folder:agent" in capsys.readouterr().out
    lines = (tmp_path / "verdicts.jsonl").read_text().splitlines()
    assert [json.loads(line)["valid"] for line in lines] == [False, False]
    assert main([*command, "--limit", "2", "--temperature", "1"]) == 2
    assert "--temperature: is for servers" in capsys.readouterr().err
