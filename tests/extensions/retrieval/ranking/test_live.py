"""Live runs with retrieved functions: what the model is shown, what is kept, executed again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from tests.live.running import arguments, outcomes, records
from tests.servers.answers import of_dataset
from tests.servers.serving import Answer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

pytest.importorskip("openai")

SOME = ("--category", "base", "--limit", "6", "--no-preflight")


class Watching:
    """Answers with the ground truth, and remembers what it was asked."""

    def __init__(self) -> None:
        self._answer = of_dataset("turnwise", "base")
        self.asked: list[Any] = []

    def __call__(self, asked: Asked) -> Answer:
        self.asked.append(asked.body)
        return self._answer(asked)


@pytest.mark.parametrize("mode", ["fc", "prompt"])
def test_a_model_is_offered_what_is_retrieved(
    tmp_path: Path, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    watching = Watching()
    run = tmp_path / "run"
    flags = (*SOME, "--mode", mode, "--retrieve", "backends=3")
    with FakeServer(watching) as server:
        assert main(arguments(server, run, *flags)) == 0
        sizes = [len(body["tools"]) for body in watching.asked if mode == "fc"]
        said = capsys.readouterr().out
        assert "retrieval policy backends=3, corpus own, ranking default: " in said
        assert main(arguments(server, run, *flags, "--resume", str(run))) == 0
        others = arguments(server, run, *SOME, "--mode", mode, "--resume", str(run))
        assert main(others) == 2
        assert main([*others, "--retrieve", "top=3"]) == 2
    assert all(size < 128 for size in sizes)
    definition = json.loads((run / "run.json").read_text())["definition"]
    assert definition["extensions"]["retrieval"]["retrieve"]["policy"] == "backends=3"
    capsys.readouterr()
    assert main(["verify", str(run)]) == 0
    assert main(["score", str(run)]) == 0
    assert main(["report", str(run), "-o", str(tmp_path / "r.html")]) == 0
    assert main(["eval", "--model", f"replay:{run}"]) == 0
    passed = sum(outcome == "passed" for outcome in outcomes(run).values())
    assert f"{passed}" in capsys.readouterr().out


def looking(asked: Asked) -> Answer:
    """Look for functions in the first step of every turn, then stop."""
    last = asked.body["messages"][-1]
    if last["role"] != "user":
        return as_json(completion({"role": "assistant", "content": "Done."}))
    call = {"name": "find_functions", "arguments": json.dumps({"query": "lock the doors"})}
    calls = [{"id": "a", "type": "function", "function": call}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return as_json(completion(message, "tool_calls"))


def test_a_model_looks_itself(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def answer(asked: Asked) -> Answer:
        seen.append([tool["function"]["name"] for tool in asked.body["tools"]])
        return looking(asked)

    run = tmp_path / "run"
    with FakeServer(answer) as server:
        flags = ("--category", "base", "--limit", "1", "--no-preflight", "--retrieve", "search=2")
        assert main(arguments(server, run, *flags)) == 0
    assert seen[0] == ["find_functions"]
    assert len(seen[1]) == 3
    assert "lockDoors" in seen[1]
    [record] = records(run)
    assert "lockDoors" in record["steps"][0]["results"][0]
    assert main(["verify", str(run)]) == 0


def test_a_prompt_cannot_be_taken_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = (*SOME, "--mode", "prompt", "--retrieve", "top=3", "--no-keep")
    assert main(arguments("http://127.0.0.1:9/v1", tmp_path / "run", *flags)) == 2
    assert "needs --mode fc" in capsys.readouterr().err
