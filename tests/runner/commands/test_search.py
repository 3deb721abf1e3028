from __future__ import annotations

import json

import pytest

from runner.cli import DONE, USER_ERROR, main

SEARCH = ["search", "--category", "base", "--limit", "12"]


def test_it_prints_both_methods_at_the_same_budget(capsys, tmp_path):
    output = tmp_path / "out.jsonl"
    status = main([*SEARCH, "--model", "scripted:0.3", "--output", str(output)])
    shown = capsys.readouterr().out.splitlines()
    assert status == DONE
    assert [line.split("  ")[0] for line in shown[2:4]] == ["ReAct", "DFSDT, 3 children"]
    assert shown[4].startswith("at most 100 requests and 100 steps an entry")
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 24
    assert {line["method"] for line in lines} == {"ReAct", "DFSDT, 3 children"}
    assert all(line["model_calls"] <= 100 for line in lines)


def test_a_small_budget_cuts(capsys):
    main([*SEARCH, "--model", "scripted:0", "--max-calls", "3"])
    rows = capsys.readouterr().out.splitlines()[2:4]
    assert [row.split()[-1] for row in rows] == ["12", "12"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model", "scripted:x"], "--model: there is no scripted model 'x'; give a rate from 0"),
        (["--model", "scripted:1.5"], "--model: there is no scripted model '1.5'; give a rate"),
        (["--model", "scripted:reads"], "--model: there is no scripted model 'reads'; give a rate"),
        (["--model", "scripted:0", "--mode", "prompt"], "--mode: a scripted model makes"),
        (["--model", "scripted:0", "--ids", "nothing"], "--ids: no 'nothing' here"),
    ],
)
def test_bad_input_is_one_line(capsys, options, said):
    assert main([*SEARCH, *options]) == USER_ERROR
    assert capsys.readouterr().err.startswith(f"turnwise: {said}")
