"""Function documents without types: reported before the run, and judged by accepted values."""

from __future__ import annotations

import json

import pytest
import turnwise

from envs.errors import DataError
from runner.cli import main

CALL = {"name": "track", "arguments": '{"symbol": "10111"}'}
"""The call in the sample of ChatGLM3, whose function document has no type."""


@pytest.fixture
def track(tmp_path):
    """Return a function that writes an entry whose parameter has a schema."""

    def write(schema):
        document = {
            "name": "track",
            "description": "Track the price of a stock.",
            "parameters": {"type": "dict", "properties": {"symbol": schema}, "required": []},
        }
        entry = {
            "id": "simple_python_track",
            "category": "simple_python",
            "environments": [],
            "config": {},
            "turns": [
                {
                    "messages": [{"role": "user", "content": "Price of stock 10111?"}],
                    "ground_truth": [],
                }
            ],
            "expects": {"functions": [document], "answers": [{"track": {"symbol": ["10111"]}}]},
        }
        path = tmp_path / "track.jsonl"
        path.write_text(json.dumps(entry))
        return path

    return write


@pytest.mark.parametrize(("given", "passed"), [('"10111"', 1), ('"10112"', 0), ("10111", 0)])
def test_an_accepted_value_decides_the_type(track, tmp_path, given, passed):
    def agent(messages, tools):
        function = {**CALL, "arguments": f'{{"symbol": {given}}}'}
        return {"tool_calls": [{"id": "a", "type": "function", "function": function}]}

    path = track({"description": "The stock code."})
    run = turnwise.evaluate(agent, dataset=path, run_dir=tmp_path / "run")
    assert (run.passed, run.errors) == (passed, 0)
    assert main(["eval", "--model", "oracle", "--dataset", str(path)]) == 0


def test_untyped_parameters_are_reported_before_the_run(track, capsys):
    path = track({"description": "The stock code."})
    assert main(["eval", "--model", "oracle", "--dataset", str(path)]) == 0
    lines = capsys.readouterr().err.splitlines()
    where = "simple_python_track: parameter symbol of track"
    assert (
        lines[0] == f"turnwise: {where}: no type is given; it is inferred from the accepted values"
    )


def test_an_unknown_type_ends_the_command_before_the_first_request(track, tmp_path, capsys):
    path = track({"type": "sting"})
    command = ["eval", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    assert main([*command, "--dataset", str(path), "--run-dir", str(tmp_path / "run")]) == 2
    where = "simple_python_track: parameter symbol of track"
    assert capsys.readouterr().err == f"turnwise: {where}: 'sting' is not a type of python\n"
    assert not (tmp_path / "run").exists()
    with pytest.raises(DataError, match="'sting' is not a type of python"):
        turnwise.evaluate(lambda messages, tools: "No.", dataset=path, run_dir=tmp_path / "run")
