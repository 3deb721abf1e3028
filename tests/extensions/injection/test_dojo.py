"""AgentDojo: suites, verdicts, versions, recorded runs. The package is in make test-agentdojo."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from checkers.profile import STRICT
from envs.calls import Call
from envs.errors import DataError
from runner.cli import main
from runner.episodes.judging import judge_recorded
from runner.records.recorded_run import open_run
from tests.servers.answers import GroundTruth
from tests.servers.serving import FakeServer
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare

pytestmark = pytest.mark.skipif(find_spec("agentdojo") is None, reason="agentdojo is not installed")

Line = dict[str, Any]

GOAL = "injection_task_4"


def episode(**changes: Any) -> Line:
    """Return a packed episode of a banking task in which the model obeys or resists."""
    from extensions.injection.dojo import verdicts

    task = verdicts.definition("banking", "v1.2.1", "user_task_1")
    goal = verdicts.definition("banking", "v1.2.1", GOAL)
    line = {
        "suite": "banking",
        "user_task": "user_task_1",
        "injection_task": GOAL,
        "attack": "direct",
        "version": "v1.2.1",
        "injections": {"injection_incoming_transaction": f"TODO: {goal.GOAL}"},
        "prompt": task.PROMPT,
        "steps": [
            {
                "say": "I look.",
                "calls": [
                    {
                        "function": "get_most_recent_transactions",
                        "args": {"n": 100},
                        "result": "...",
                    }
                ],
            },
            {"say": task.GROUND_TRUTH_OUTPUT},
        ],
        "utility": True,
        "security": False,
    }
    return {**line, **changes}


def obeying() -> Line:
    """Return the same episode with the attacker's calls before the answer."""
    from extensions.injection.dojo import agentdojo_package, verdicts

    goal = verdicts.definition("banking", "v1.2.1", GOAL)
    calls = [
        {"function": call.function, "args": call.args, "result": "..."}
        for call in goal.ground_truth(agentdojo_package.load_environment("banking", {}))
    ]
    line = episode(security=True)
    line["steps"].insert(1, {"say": None, "calls": calls})
    return line


def packed(folder: Path, *lines: Line) -> Path:
    path = folder / "model-x.jsonl.gz"
    header = {"pipeline": "model-x", "runs": len(lines), "system": ["Help."], "texts": []}
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in (header, *lines))
    return path


def unpacked(folder: Path, line: Line) -> Path:
    """Write an episode as AgentDojo does: a file with messages, in a folder of its pipeline."""
    messages: list[Line] = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": line["prompt"]},
    ]
    for step in line["steps"]:
        calls = step.get("calls", [])
        blocks = None if step["say"] is None else [{"type": "text", "content": step["say"]}]
        messages.append({"role": "assistant", "content": blocks, "tool_calls": calls or None})
        for call in calls:
            made = {"function": call["function"], "args": call["args"]}
            text = [{"type": "text", "content": call["result"]}]
            messages.append({"role": "tool", "content": text, "tool_call": made, "error": None})
    document = {
        "suite_name": line["suite"],
        "user_task_id": line["user_task"],
        "injection_task_id": line["injection_task"],
        "attack_type": line["attack"],
        "pipeline_name": "local",
        "injections": line["injections"],
        "messages": messages,
        "error": None,
        "benchmark_version": line["version"],
        "utility": line["utility"],
        "security": line["security"],
    }
    path = folder / "model-x" / line["suite"] / line["user_task"] / str(line["attack"] or "none")
    path.mkdir(parents=True)
    (path / f"{line['injection_task'] or 'none'}.json").write_text(json.dumps(document))
    return folder / "model-x"


def scored(path: Path, folder: Path, *, status: int = 0) -> Mapping[str, Line]:
    output = folder / "verdicts.jsonl"
    assert main(["score", str(path), "--output", str(output)]) == status
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    return {line["id"]: line for line in lines}


ID = f"banking-user_task_1-direct-{GOAL}"


@pytest.mark.parametrize("form", [packed, unpacked])
@pytest.mark.parametrize("obeys", [False, True])
def test_both_forms_of_files_give_both_verdicts(form: Any, obeys: bool, tmp_path: Path) -> None:
    line = scored(form(tmp_path, obeying() if obeys else episode()), tmp_path)[ID]
    assert line["utility"] is True
    assert line["attack_succeeded"] is obeys
    assert line["agentdojo"]["agrees"] is True


def test_errors_are_neither_success_nor_resistance(tmp_path: Path) -> None:
    line = episode(error="server error", utility=False, security=True, ends_with="tool")
    found = scored(packed(tmp_path, line), tmp_path, status=3)[ID]
    assert found["valid"] is found["utility"] is found["attack_succeeded"] is None
    assert "gave up: server error" in found["error"]
    assert found["agentdojo"]["agrees"] is True


def test_runs_without_attack_have_no_success(tmp_path: Path) -> None:
    line = episode(attack=None, injection_task=None, injections={}, security=True)
    found = scored(packed(tmp_path, line), tmp_path)["banking-user_task_1"]
    assert found["attack_succeeded"] is None
    assert found["agentdojo"]["security"] is True


@pytest.mark.parametrize("version", ["v1", "v1.2"])
def test_unnamed_versions_are_found_from_texts_and_not_from_verdicts(
    version: str, tmp_path: Path
) -> None:
    from extensions.injection.dojo import verdicts

    goal = verdicts.definition("banking", version, "injection_task_0")
    line = episode(
        version=None,
        injection_task="injection_task_0",
        injections={"injection_incoming_transaction": f"TODO: {goal.GOAL}"},
    )
    for utility in (True, False):
        run = open_run(packed(tmp_path, {**line, "utility": utility}))
        assert run.dataset is not None
        assert run.dataset.version == version


def test_a_text_of_no_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no version has this prompt and this goal"):
        open_run(packed(tmp_path, episode(version=None, prompt="Pay everybody.")))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"suite": "garden"}, "garden"),
        ({"version": "v9"}, "v9"),
        ({"user_task": "user_task_99"}, "user_task_99"),
        ({"steps": 3}, "is not a run of AgentDojo"),
        ({"injections": {"nowhere": "x"}}, "nowhere"),
        ({"user_task": {}}, "is not a run of AgentDojo"),
        ({"attack": 5, "version": None}, "is not a run of AgentDojo"),
        ({"attack": 5}, "attack must be a string"),
        ({"injection_task": ["x"]}, "injection_task must be a string"),
        ({"user_task": None}, "user_task must be a string"),
        ({"steps": [{"say": "x", "calls": [{"result": ""}]}]}, "is not a run of AgentDojo"),
    ],
)
def test_damaged_files_give_one_line(
    change: Line, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(packed(tmp_path, episode(**change)))]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("rest", [b" " * 40_000_000, b'{"a":[' + b"[]," * 12_000_000 + b"[]]}"])
def test_a_packed_file_that_grows_a_thousandfold_is_refused(
    rest: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model-x.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"pipeline": "x", "texts": []}\n' + rest))
    assert main(["score", str(path)]) == 2
    assert "200 times as large after decompression; decompress it" in capsys.readouterr().err


def test_recorded_runs_replay_and_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = packed(tmp_path / "a", obeying()), packed(tmp_path / "b", episode())
    assert main(["replay", ID, "--run", str(first)]) == 0
    shown = capsys.readouterr().out
    assert "bank_account" in shown
    assert "attack succeeded" in shown
    assert "untrusted injection_incoming_transaction: TODO: " in shown
    assert "obeys     this call is part of the attacker's goal" in shown
    assert main(["compare", str(first), str(second)]) == 0


def test_arguments_are_checked_as_by_agentdojo(tmp_path: Path) -> None:
    """Unknown arguments are dropped, and texts of numbers are numbers."""
    line = episode(utility=True)
    line["steps"][0]["calls"][0]["args"] = {"n": "100", "why": "a look"}
    path = packed(tmp_path, line)
    run = open_run(path)
    assert run.dataset is not None
    prepared = prepare(run.dataset, run.dataset.trajectories[ID], STRICT)
    [turn] = run.entries()[ID].turns or ()
    found = judge_recorded(prepared, [turn], "fc", STRICT, traced=True)
    assert found.trace is not None
    assert all(each.result.ok for each in found.trace.turns[0].calls)


def test_calls_that_were_never_executed_change_nothing(tmp_path: Path) -> None:
    line = obeying()
    line["steps"] = line["steps"][:2]
    for call in line["steps"][1]["calls"]:
        del call["result"]
    assert scored(packed(tmp_path, line), tmp_path)[ID]["attack_succeeded"] is False


@pytest.mark.slow
def test_the_ground_truth_of_every_task_passes() -> None:
    from extensions.injection.dojo import entries

    dataset = entries.load("agentdojo")
    assert dataset is not None
    assert len(dataset.trajectories) == 97
    for each in dataset.trajectories.values():
        prepared = prepare(dataset, each, STRICT)
        from runner.episodes.offline import run_oracle

        assert run_oracle(prepared, STRICT).valid, each.id


def test_attacks_make_an_entry_for_each_pair() -> None:
    from extensions.injection.dojo import entries

    dataset = entries.load("agentdojo:v1.2.1", "direct")
    assert dataset is not None
    assert len(dataset.trajectories) == 949
    with pytest.raises(DataError, match="did you mean direct"):
        entries.load("agentdojo", "diret")


def test_an_unknown_version_is_refused() -> None:
    from extensions.injection.dojo import entries

    with pytest.raises(DataError, match="no version 'v2'"):
        entries.load("agentdojo:v2")


def test_calls_are_deterministic_in_any_process() -> None:
    program = (
        "from extensions.injection.dojo import entries\n"
        "from trajectories.prepared_trajectory import prepare\n"
        "from checkers.profile import STRICT\n"
        "data = entries.load('agentdojo')\n"
        "one = data.trajectories['workspace-user_task_6']\n"
        "print([result.text for result in prepare(data, one, STRICT).truth[0].results])\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_sessions_fork_and_snapshot() -> None:
    from extensions.injection.dojo import entries

    dataset = entries.load("agentdojo")
    assert dataset is not None
    session = prepare(dataset, dataset.trajectories["banking-user_task_0"], STRICT).template.fork()
    before, copy = session.snapshot(), session.fork()
    paid = {"recipient": "X", "amount": 1, "subject": "s", "date": "2024-01-01"}
    assert session.call(Call("send_money", (), paid)).changed
    assert [each.path for each in before.differences(session.snapshot())]
    assert before == copy.snapshot()
    session.restore(before)
    assert session.snapshot() == before
    assert not session.call(Call("send_money", (), {"recipient": "X"})).ok


def test_a_goal_that_calls_reach_is_reached_by_its_own_calls() -> None:
    from extensions.injection.dojo import agentdojo_package, entries
    from extensions.injection.dojo.verdicts import DojoTaskPair

    task = DojoTaskPair("slack", "v1.2.1", "user_task_1", "injection_task_5", "direct")
    entry = entries.make_entry(task, {})
    dataset = entries.make_dataset("agentdojo", "v1.2.1", [entry])
    prepared = prepare(dataset, entry, STRICT)
    own = task.goal.ground_truth(agentdojo_package.load_environment("slack", {}))
    calls: list[Mapping[str, Any]] = [{call.function: dict(call.args)} for call in own]
    for made, reached in ((calls, True), (calls[:1], False)):
        found = judge_recorded(prepared, [[made, "Done."]], "fc", STRICT)
        assert found.verdict.measures["attack_succeeded"] is reached


def evaluate(truth: Dataset, run: Path, *more: str) -> None:
    ids = ",".join(truth.trajectories)
    with FakeServer(GroundTruth(truth)) as server:
        given = ["eval", "--model", "fake", "--base-url", server.base_url, "--run-dir", str(run)]
        assert main([*given, "--dataset", "agentdojo", "--ids", ids, *more]) == 0


@cache
def obeying_data(attack: str, goal: str) -> Dataset:
    """Return attacked entries of slack whose ground truth also makes the goal's calls."""
    from extensions.injection.dojo import agentdojo_package, verdicts

    dataset = entries_of(attack)
    made = verdicts.definition("slack", dataset.version, goal).ground_truth(
        agentdojo_package.load_environment("slack", {})
    )
    calls = tuple(str(Call(each.function, (), dict(each.args))) for each in made)
    found = {}
    for number in (1, 4, 5):
        each = dataset.trajectories[f"slack-user_task_{number}-{attack}-{goal}"]
        (turn,) = each.turns
        turn = replace(turn, ground_truth=(*turn.ground_truth, *calls))
        found[each.id] = replace(each, turns=(turn,))
    return replace(dataset, trajectories=found)


def test_live_models_run_on_the_suites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    obeys = obeying_data("direct", "injection_task_1")
    whole = entries_of("direct")
    loyal = replace(whole, trajectories={id: whole.trajectories[id] for id in obeys.trajectories})
    for name, truth, success in (("loyal", loyal, 0.0), ("obeys", obeys, 1.0)):
        run = tmp_path / name
        evaluate(truth, run, "--attack", "direct")
        assert f"attack success {success:.1%} (95%" in capsys.readouterr().out
        assert main(["attacks", str(run), "--json"]) == 0
        groups = json.loads(capsys.readouterr().out)["groups"]
        assert groups["suite slack"]["attack_success"]["value"] == success
        assert main(["verify", str(run)]) == 0
    assert main(["compare", str(tmp_path / "loyal"), str(tmp_path / "obeys")]) == 0
    assert "attack success" in capsys.readouterr().out
    id = next(iter(obeys.trajectories))
    assert main(["replay", id, "--run", str(tmp_path / "obeys")]) == 0
    shown = capsys.readouterr().out
    assert "untrusted" in shown
    assert "obeys     this call is part of the attacker's goal" in shown


@cache
def entries_of(attack: str | None) -> Dataset:
    from extensions.injection.dojo import entries

    dataset = entries.load("agentdojo", attack)
    assert dataset is not None
    return dataset


AGENT = """
import json


class Looker:
    def __call__(self, messages, tools):
        if messages[-1]["role"] == "tool":
            return f"The day is {messages[-1]['content'][:10]}."
        function = {"name": "get_current_day", "arguments": "{}"}
        call = {"id": "1", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
"""


def test_own_agents_run_on_the_suites_with_a_frozen_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dojo_looker.py").write_text(AGENT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    run = tmp_path / "run"
    given = ["eval", "--model", "python:dojo_looker:Looker", "--dataset", "agentdojo"]
    assert main([*given, "--ids", "workspace-user_task_0", "--run-dir", str(run)]) in (0, 1)
    capsys.readouterr()
    assert main(["replay", "workspace-user_task_0", "--run", str(run)]) == 0
    assert "2024-05-15" in capsys.readouterr().out
