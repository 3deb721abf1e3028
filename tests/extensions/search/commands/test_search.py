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
    assert shown[4].startswith("at most 100 requests and 100 steps per entry")
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 24
    assert {line["method"] for line in lines} == {"ReAct", "DFSDT, 3 children"}
    assert all(line["model_calls"] <= 100 for line in lines)


def test_a_small_budget_cuts(capsys):
    main([*SEARCH, "--model", "scripted:0", "--max-calls", "3"])
    rows = capsys.readouterr().out.splitlines()[2:4]
    assert [row.split()[-1] for row in rows] == ["12", "12"]


def records(folder):
    """Return the lines of a run's episodes, without times, by key."""
    lines = [json.loads(line) for line in (folder / "episodes.jsonl").read_bytes().splitlines()]
    return sorted(lines, key=lambda line: (line["id"], line["trial"]))


def test_every_method_is_a_run_that_readers_open(capsys, tmp_path):
    runs = tmp_path / "runs"
    kept = ["--run-dir", str(runs), "--repeat", "4"]
    assert main([*SEARCH, "--model", "scripted:0.3", *kept]) == DONE
    shown = capsys.readouterr().out
    rows = [line.split("  ")[0] for line in shown.splitlines()[2:5]]
    assert rows == ["ReAct", "ReAct@4", "DFSDT, 3 children"]
    for name in ("react", "react-at-n", "dfsdt"):
        assert main(["verify", str(runs / name)]) == DONE
    [failed] = [line["id"] for line in records(runs / "react") if line["outcome"] == "failed"][:1]
    assert main(["replay", failed, "--run", str(runs / "dfsdt")]) == DONE
    assert main(["runs", str(tmp_path)]) == DONE
    for form in ("bfcl", "openai-messages"):
        assert main(["export", str(runs / "dfsdt"), "--format", form]) == DONE
    transcripts = (runs / "dfsdt" / "openai-messages.jsonl").read_text(encoding="utf-8")
    assert "give_up_branch" not in transcripts


def test_attempts_share_the_requests_of_the_search_with_undo(capsys, tmp_path):
    kept = ["--run-dir", str(tmp_path), "--repeat", "9", "--json"]
    main([*SEARCH, "--model", "scripted:0.4", *kept])
    react, again, dfsdt = json.loads(capsys.readouterr().out)["methods"]
    assert react["requests"] < again["requests"]
    assert abs(again["requests"] - dfsdt["requests"]) < 0.1 * dfsdt["requests"]
    assert again["passed"] >= react["passed"]
    assert again["attempts"] == len(records(tmp_path / "react-at-n")) > 12
    first = [line for line in records(tmp_path / "react-at-n") if line["trial"] == 0]
    assert first == records(tmp_path / "react")


@pytest.mark.slow
def test_a_search_goes_on_as_if_it_had_not_been_stopped(capsys, tmp_path):
    asked = [*SEARCH, "--model", "scripted:0.4", "--concurrency", "1", "--repeat", "5"]
    # A budget, even a large one, makes the order of entries random.
    whole = [*asked, "--max-requests", "1000000", "--run-dir", str(tmp_path / "whole")]
    main([*whole, "--output", str(tmp_path / "a.jsonl")])
    parts, where, sittings = tmp_path / "parts", "--run-dir", 0
    while not (tmp_path / "b.jsonl").exists() and sittings < 40:
        sittings += 1
        more = ["--max-requests", str(45 * sittings), "--output", str(tmp_path / "b.jsonl")]
        main([*asked, where, str(parts), *more])
        where = "--resume"
    assert 5 < sittings < 40
    capsys.readouterr()
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    for name in ("react", "dfsdt", "react-at-n"):
        assert records(parts / name) == records(tmp_path / "whole" / name)


def test_finish_is_offered_and_is_part_of_what_defines_the_runs(capsys, tmp_path):
    asked = [*SEARCH, "--model", "scripted:0.3", "--limit", "4"]
    assert main([*asked, "--finish", "--run-dir", str(tmp_path)]) == DONE
    [line, *_] = records(tmp_path / "dfsdt")
    assert line["steps"][-1]["reply"]["tool_calls"][0]["name"] == "finish"
    capsys.readouterr()
    assert main([*asked, "--resume", str(tmp_path)]) == USER_ERROR
    assert "search.finish was True and is now False" in capsys.readouterr().err


@pytest.mark.slow
def test_nothing_is_asked_where_one_of_the_runs_is_defined_otherwise(capsys, tmp_path):
    asked = [*SEARCH, "--model", "scripted:0.3"]
    main([*asked, "--run-dir", str(tmp_path), "--repeat", "3"])
    before = (tmp_path / "react" / "lives.jsonl").read_bytes()
    capsys.readouterr()
    assert main([*asked, "--resume", str(tmp_path), "--repeat", "4"]) == USER_ERROR
    said = capsys.readouterr().err
    assert said.startswith(f"turnwise: {tmp_path}/react-at-n: the run started with other settings")
    assert (tmp_path / "react" / "lives.jsonl").read_bytes() == before


def test_a_dry_run_says_what_would_be_asked(capsys, tmp_path):
    kept = ["--run-dir", str(tmp_path / "runs"), "--repeat", "3", "--max-calls", "50"]
    assert main([*SEARCH, "--model", "scripted:0", *kept, "--json", "--dry-run"]) == DONE
    told = capsys.readouterr().out
    assert main([*SEARCH, "--model", "scripted:0", *kept, "--json"]) == DONE
    react, _, dfsdt = json.loads(capsys.readouterr().out)["methods"]
    asked = react["requests"] + dfsdt["requests"]
    assert told.startswith("12 entries, 2 methods. A model without errors needs ")
    assert f" needs {asked} requests and about " in told
    assert f"maximum is {2 * 50 * 12} requests. ReAct@N adds no more" in told


def test_a_folder_is_not_searched_twice_nor_gone_on_with_where_there_is_nothing(capsys, tmp_path):
    asked = [*SEARCH, "--model", "scripted:0", "--limit", "1"]
    main([*asked, "--run-dir", str(tmp_path)])
    for flag, folder, said in (
        ("--run-dir", tmp_path, "contains a search already; use --resume"),
        ("--run-dir", tmp_path / "react", "is a single run; name the folder of a search"),
        ("--resume", tmp_path / "none", "has no search to resume: no run in react"),
    ):
        capsys.readouterr()
        assert main([*asked, flag, str(folder)]) == USER_ERROR
        assert capsys.readouterr().err == f"turnwise: {folder}: {said}\n"
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model", "scripted:x"], "--model: there is no scripted model 'x'; give a rate from 0"),
        (["--model", "scripted:1.5"], "--model: there is no scripted model '1.5'; give a rate"),
        (["--model", "scripted:reads"], "--model: there is no scripted model 'reads'; give a rate"),
        (
            ["--model", "scripted:0", "--mode", "prompt"],
            "--mode: must be `fc` for a scripted model",
        ),
        (
            ["--model", "scripted:0", "--calling-format", "hermes"],
            "--calling-format: only live models accept this option; omit it for scripted:0",
        ),
        (["--model", "scripted:0", "--ids", "nothing"], "--ids: unknown id 'nothing'"),
        (
            ["--model", "scripted:0", "--repeat", "2", "--children", "1"],
            "--repeat: needs the budget",
        ),
        (["--model", "scripted:0", "--only", "errors"], "--only: needs --resume: add it"),
        (
            ["--model", "scripted:0", "--run-dir", "a", "--resume", "b"],
            "--run-dir: cannot be",
        ),
        (
            ["--model", "oracle"],
            "--model: oracle makes no errors; name a live model or scripted:RATE",
        ),
        (["--model", "python:a:b"], "--model: an agent may remember"),
        (["--model", "scripted:0", "--tokenizer", "t"], "--tokenizer: needs --compress: add it"),
        (["--model", "scripted:0", "--category", "simple_python"], "--category: turnwise has no"),
    ],
)
def test_bad_input_is_one_line(capsys, options, said):
    assert main([*SEARCH, *options]) == USER_ERROR
    assert capsys.readouterr().err.startswith(f"turnwise: {said}")
