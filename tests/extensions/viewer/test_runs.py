from __future__ import annotations

import json
import sys

import turnwise

from runner.cli import main


def agent(messages, tools):
    """Give up."""
    return "I cannot."


def test_runs_of_a_folder_are_listed_within_80_columns(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "runs"
    turnwise.evaluate(agent, categories="base", limit=3, run_dir=folder / ("long" * 10))
    capsys.readouterr()
    assert main(["runs", str(folder)]) == 0
    assert "long" * 10 in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["runs", str(folder)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == [*("run", "model", "score", "(95%)", "done", "state")]
    assert out[2].split()[2:] == ["0.0%", "(0.0", "to", "56.1)", "3/3", "finished"]
    assert max(map(len, out)) <= 80
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["runs", str(folder)]) == 0
    assert "long" * 10 in capsys.readouterr().out
    assert main(["runs", str(folder), "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert (run["state"], run["planned"], run["score"], run["resume"]) == ("finished", 3, 0.0, None)


def test_runs_with_a_tag_are_listed(tmp_path, capsys):
    for name in ("one", "two"):
        turnwise.evaluate(agent, categories="base", limit=1, run_dir=tmp_path / name)
    assert main(["annotate", str(tmp_path / "two"), "--tag", "baseline"]) == 0
    capsys.readouterr()
    assert main(["runs", str(tmp_path), "--tag", "baseline", "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert run["tags"] == ["baseline"]
    assert main(["runs", str(tmp_path), "--tag", "none"]) == 0
    assert capsys.readouterr().err.endswith("contains no run with the tag none\n")


def test_a_damaged_run_is_told_below_the_table(tmp_path, capsys):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    assert main(["runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "bad" in out
    assert f"damaged: {tmp_path}/bad/run.json" in out


def test_an_empty_folder_and_one_that_is_not_there(tmp_path, capsys):
    assert main(["runs", str(tmp_path)]) == 0
    assert (
        capsys.readouterr().err
        == f"turnwise: {tmp_path}: contains no run; turnwise eval creates a run\n"
    )
    assert main(["runs", str(tmp_path / "none")]) == 2
    assert (
        capsys.readouterr().err
        == f"turnwise: {tmp_path}/none: is not a folder; give a folder that contains runs\n"
    )
