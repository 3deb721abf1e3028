"""``turnwise.evaluate``: a run folder as any other, whatever the agent does."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys

import pytest

from envs.calls import parse_call
from envs.errors import DataError
from runner.cli import main
from runner.data.dataset_choice import load_dataset
from runner.records.recorded_run import read_run
from runner.rollouts.evaluation import evaluate, judge
from runner.rollouts.rollout_env import RolloutEnv
from tests.source import ROOT


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
        env.reset()
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
        ({}, "agent: pass exactly one callable"),
        ({"agent": 3}, "agent: pass exactly one callable"),
        ({"agent": print, "agent_factory": print}, "agent: pass exactly one callable"),
        ({"agent": print, "trials": 0}, "trials: must be an integer of at least 1, but is 0"),
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
    assert "--temperature: only servers use this option" in capsys.readouterr().err


def tool_call(text):
    """Return a call in the form of OpenAI's API."""
    call = parse_call(text)
    function = {"name": call.name, "arguments": json.dumps(call.kwargs)}
    return {"id": text, "type": "function", "function": function}


def conversation(trajectory):
    """Return the ground truth as messages of OpenAI's API."""
    messages = []
    for turn in trajectory.turns:
        messages += [{"role": each.role, "content": each.content} for each in turn.messages]
        for text in turn.ground_truth:
            call = tool_call(text)
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
        messages.append({"role": "assistant", "content": "Done."})
    return messages


@pytest.fixture(scope="module")
def entry():
    """An entry whose ground truth has only named arguments."""
    entries = load_dataset(categories="base").trajectories.values()
    return next(
        entry
        for entry in entries
        if not any(parse_call(text).args for turn in entry.turns for text in turn.ground_truth)
    )


def test_right_calls_pass_in_every_form(entry):
    messages = conversation(entry)
    turns = [[[tool_call(text)] for text in turn.ground_truth] for turn in entry.turns]
    flat = [
        [[{"name": c["function"]["name"], "arguments": c["function"]["arguments"]}] for [c] in turn]
        for turn in turns
    ]
    said = [[{"role": "assistant", "tool_calls": step} for step in turn] for turn in turns]
    steps = [
        [[{c["function"]["name"]: c["function"]["arguments"]}] for [c] in turn] for turn in turns
    ]
    data = load_dataset(categories="base")
    verdicts = [judge(data, entry.id, each) for each in (turns, flat, said, steps, messages)]
    verdicts += [judge(data, entry.id, messages=messages), judge(entry, messages=messages)]
    assert [verdict.valid for verdict in verdicts] == [True] * 7
    wrong = messages[:-1] + [m for m in messages if m["role"] == "user"][:1]
    assert judge(entry, messages=wrong).error_type == "multi_turn:force_terminated"
    del messages[1:3]
    assert not judge(entry, messages=messages).valid


def test_the_only_argument_of_langchain_is_read_in_messages_and_turns():
    data = load_dataset(categories="base")
    entry = next(
        each
        for each in data.trajectories.values()
        if any(text.startswith("cd(") for turn in each.turns for text in turn.ground_truth)
        and not any(parse_call(text).args for turn in each.turns for text in turn.ground_truth)
    )
    messages = conversation(entry)
    calls = [call["function"] for each in messages for call in each.get("tool_calls", ())]
    for call in calls:
        if call["name"] == "cd":
            [folder] = json.loads(call["arguments"]).values()
            call["arguments"] = json.dumps({"__arg1": folder})
    assert "__arg1" in json.dumps(messages)
    left = iter(calls)
    turns = [[[dict(next(left))] for _ in turn.ground_truth] for turn in entry.turns]
    assert judge(entry, messages=messages).valid
    assert judge(entry, turns=turns).valid


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "turns, messages: pass exactly one of these keyword arguments"),
        ({"turns": [], "messages": []}, "turns, messages: pass exactly one of these keyword"),
        ({"turns": "x"}, r"turns: must be a list of turns or None, but is 'x'"),
        ({"turns": [5]}, r"turns: \$\[0\]: must be a list of steps, but is 5"),
        ({"turns": [[5]]}, r"turns: \$\[0\]\[0\]: is neither a step nor a message"),
        ({"turns": [[[5]]]}, r"turns: \$\[0\]\[0\]\[0\]: is neither a step nor a message"),
        ({"turns": [[{"role": "assistant", "content": 5}]]}, r"turns: \$\[0\]\[0\]\.content: must"),
        ({"messages": [5]}, r"messages: \$\[0\]: must be a message, but is 5"),
        ({"messages": "x"}, r"messages: \$: must be a list of messages"),
        ({"messages": [], "mode": "prompt"}, "mode: must be fc"),
    ],
)
def test_what_is_neither_step_nor_message_is_refused_in_one_line(entry, given, said):
    with pytest.raises(DataError, match=said) as caught:
        judge(entry, **given)
    assert "\n" not in str(caught.value)


def test_a_data_set_needs_the_id_of_a_trajectory():
    with pytest.raises(DataError, match="id: must be the id of a trajectory"):
        judge(load_dataset(categories="base"), messages=[])


def test_an_agent_that_waits_for_input_at_the_end_does_not_abort_the_script(tmp_path):
    script = """
import asyncio
from runner.rollouts.evaluation import evaluate

async def agent(messages, tools):
    return await asyncio.wait_for(asyncio.to_thread(input), 0.1)

print(evaluate(agent, categories="base", limit=1, run_dir="run").errors)
"""
    more = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, "text": True}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], **more, **pipes) as program:
        assert program.wait(60) == 0
        assert program.stdout.read() == "1\n"
        assert "Fatal Python error" not in program.stderr.read()
