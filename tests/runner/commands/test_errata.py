"""Every command that scores shows both figures, as published and corrected by errata."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from tests.runner.analysis.report.making import unpacked
from tests.runner.commands.running import run as run_command
from trajectories.fingerprint import fingerprint
from trajectories.record_validation import to_json
from trajectories.schema import Category, Message, Trajectory, Turn

CONFIG = {"GorillaFileSystem": {"root": {"share": {"type": "directory", "contents": {}}}}}


def entry(name: str) -> Trajectory:
    """Return an entry that asks for a directory."""
    turn = Turn((Message("user", "Make plans."),), ("mkdir(dir_name='plans')",))
    return Trajectory(name, Category.BASE, ("GorillaFileSystem",), CONFIG, (turn,))


ENTRIES = [entry(name) for name in ("base_one", "base_two", "base_three")]
ONE, TWO, THREE = ENTRIES
RIGHT, OTHER = "mkdir(dir_name='plans')", "mkdir(dir_name='plan')"


def written(path: Path, *lines: dict[str, Any]) -> Path:
    """Write lines."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def erratum(of: Trajectory, judgement: str, **changes: Any) -> dict[str, Any]:
    """Return a line of errata."""
    said = {"id": of.id, "judgement": judgement, "reason": "It is so.", "evidence": "Played."}
    return {**said, "published": fingerprint(of), **changes}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a file of three entries."""
    return written(tmp_path / "data.jsonl", *map(to_json, ENTRIES))


@pytest.fixture
def errata(tmp_path: Path) -> Path:
    """Return errata by which the first may be done otherwise, and the last leaves."""
    lines = [
        erratum(ONE, "ambiguous", alternatives=[{"0": [OTHER]}]),
        erratum(THREE, "withdrawn"),
    ]
    return written(tmp_path / "errata.jsonl", *lines)


def recorded(path: Path, calls: Sequence[str]) -> Path:
    """Write a run that makes one call in each entry."""
    lines = [
        {"id": each.id, "result": [[f"[{call}]"]]}
        for each, call in zip(ENTRIES, calls, strict=True)
    ]
    return written(path, *lines)


@pytest.fixture
def result(tmp_path: Path) -> Path:
    """Return a run that passes the second as published, and the first as mended."""
    return recorded(tmp_path / "run.json", [OTHER, RIGHT, OTHER])


@pytest.mark.parametrize("command", ["score", "eval"])
def test_score_and_eval_put_both_figures_side_by_side(
    command: str, data: Path, errata: Path, result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    what = [result] if command == "score" else ["--model", f"replay:{result}"]
    assert run_command(command, *what, "--dataset", data, "--errata", errata) == 0
    shown = capsys.readouterr().out
    (row,) = [line.split() for line in shown.splitlines() if line.split()[-1:] == ["+66.7"]]
    assert row[:3] == ["base", "3", "33.3%"]
    assert row[6:8] == ["2", "100.0%"]
    assert "errata errata.jsonl: 1 ambiguous, 1 withdrawn; 2 have alternative answers" in shown


def test_without_errata_there_is_one_figure(
    data: Path, result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("score", result, "--dataset", data, "--errata", "none") == 0
    assert "mended" not in capsys.readouterr().out


@pytest.mark.parametrize(("model", "score"), [("oracle", "100.0%"), ("null", "0.0%")])
def test_offline_models_are_judged_both_ways(
    model: str, score: str, data: Path, errata: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("eval", "--model", model, "--dataset", data, "--errata", errata) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.endswith("+0.0")]
    assert row.split()[:3] == ["base", "3", score]
    assert row.split()[6:8] == ["2", score]


def test_the_table_has_a_column_for_each(
    tmp_path: Path, data: Path, errata: Path, result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, rows = tmp_path / "page.html", tmp_path / "rows.csv"
    what = ["--dataset", data, "--errata", errata]
    assert run_command("table", result, *what, "--html", page, "--csv", rows) == 0
    shown = capsys.readouterr().out
    assert "2  corrected by errata.jsonl: run: 2 episodes" in shown
    cells = ["base", "33.3%", "(6.1", "to", "79.2)", "100.0%", "(34.2", "to", "100.0)"]
    assert cells in [line.split() for line in shown.splitlines()]
    assert "corrected by errata.jsonl: run" in page.read_text(encoding="utf-8")
    lines = [line.split(",") for line in rows.read_text(encoding="utf-8").splitlines()]
    scores = [(line[0], line[3]) for line in lines if line[2].endswith("/base")]
    assert [(number, float(value)) for number, value in scores] == [("1", 1 / 3), ("2", 1.0)]
    assert run_command("table", result, *what, "--json") == 0
    told = json.loads(capsys.readouterr().out)["runs"]
    assert [run["errata"] for run in told] == [None, "errata.jsonl"]


def test_verdicts_alone_cannot_be_judged_again(
    tmp_path: Path, data: Path, errata: Path, result: Path
) -> None:
    verdicts = tmp_path / "verdicts.jsonl"
    assert run_command("score", result, "--dataset", data, "--output", verdicts) == 0
    with pytest.raises(DataError, match="only verdicts"):
        run_command("table", verdicts, "--errata", errata)


def test_compare_says_both_and_leaves_out_what_is_withdrawn(
    tmp_path: Path, data: Path, errata: Path, result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = recorded(tmp_path / "other.json", [RIGHT, RIGHT, OTHER])
    page, what = tmp_path / "page.html", [result, other, "--dataset", data, "--errata", errata]
    assert run_command("compare", *what, "--html", page) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["base", "3", "33.3%", "66.7%"] in [row[:4] for row in rows]
    assert ["base,", "corrected", "2", "100.0%", "100.0%"] in [row[:5] for row in rows]
    assert run_command("compare", *what, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["errata"] is None
    assert told["mended"]["errata"] == "errata.jsonl"
    assert told["mended"]["overall"]["entries"] == 2
    (pack,) = unpacked(page.read_text(encoding="utf-8"))
    assert pack["mended"] == told["mended"]
    assert pack["conclusion"][-1].startswith("errata errata.jsonl: 1 ambiguous, 1 withdrawn")


def test_the_report_has_both_scores(tmp_path: Path, data: Path, errata: Path, result: Path) -> None:
    page = tmp_path / "report.html"
    what = ["--dataset", data, "--errata", errata, "--output", page]
    assert run_command("report", result, *what) == 0
    (run,) = unpacked(page.read_text(encoding="utf-8"))[0]
    assert [score["rate"] for score in run["overview"]["scores"]] == [1 / 3]
    assert [score["rate"] for score in run["mended"]["scores"]] == [1.0]
    assert run["mended"]["errata"].startswith("errata errata.jsonl: 1 ambiguous, 1 withdrawn")


def test_errata_that_do_not_fit_are_told(
    tmp_path: Path, data: Path, result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = erratum(ONE, "withdrawn", published="0" * 16)
    done = erratum(TWO, "mended", ground_truth={"0": [RIGHT]})
    errata = written(tmp_path / "old.jsonl", old, done)
    assert run_command("score", result, "--dataset", data, "--errata", errata) == 0
    told = capsys.readouterr()
    assert "base_one has changed since its review" in told.err
    assert "base_two is already corrected in the data" in told.err
    assert "errata old.jsonl: none of these entries; 0 have alternative answers" in told.out


def test_errata_have_to_be_there(data: Path, result: Path) -> None:
    with pytest.raises(DataError, match="must be `bfcl`, `none` or an existing file"):
        run_command("score", result, "--dataset", data, "--errata", "nowhere")
