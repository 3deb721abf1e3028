from __future__ import annotations

import csv
import json

import pytest

from runner.cli import main
from tests.runner.analysis.report.making import unpacked

RIGHT = {"id": "simple_python_0", "result": [{"wait": '{"n": 5}'}]}
WRONG = {"id": "simple_python_0", "result": [{"wait": '{"n": 6}'}]}


@pytest.fixture
def table(bfcl_folder, capsys):
    """Run the command and return its status and what it said."""

    def run(*arguments):
        dataset = f"bfcl:{bfcl_folder}"
        status = main(["table", *map(str, arguments), "--dataset", dataset])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


@pytest.fixture
def runs(write_lines):
    """Write two result files."""
    return write_lines("right_result.json", RIGHT), write_lines("wrong_result.json", WRONG)


def test_runs_side_by_side(table, runs):
    status, out, err = table(*runs)
    assert (status, err) == (0, "")
    score = "score 100.0% (95% 20.7% to 100.0%), mean over 1 entry"
    assert out.startswith(f"1  right_result: 1 episode, profile bfcl\n   {score}\n2  wrong_result:")
    cells = ["simple_python", "100.0%", "(20.7", "to", "100.0)", "0.0%", "(0.0", "to", "79.3)"]
    assert cells in [line.split() for line in out.splitlines()]
    assert max(map(len, out.splitlines())) <= 100


def test_the_same_as_csv_json_and_a_page(table, runs, tmp_path):
    paths = [tmp_path / f"table.{kind}" for kind in ("csv", "html")]
    status, out, err = table(*runs, "--json", "--csv", paths[0], "--html", paths[1])
    assert (status, err) == (0, "".join(f"turnwise: wrote {path}\n" for path in paths))
    with paths[0].open(encoding="utf-8", newline="") as file:
        values = {(row["run"], row["figure"]): row["value"] for row in csv.DictReader(file)}
    assert (values["1", "overall"], values["2", "overall"]) == ("1.0", "0.0")
    shown = json.loads(out)["runs"]
    assert [run["table"][0]["score"] for run in shown] == [1.0, 0.0]
    [page] = unpacked(paths[1].read_text(encoding="utf-8"))
    assert [run["name"] for run in page["runs"]] == ["right_result", "wrong_result"]


def test_no_file_is_written_on_a_full_disk(table, runs, tmp_path):
    before = [*tmp_path.rglob("*")]
    full = "turnwise: /dev/full: cannot be written: No space left on device\n"
    assert table(*runs, "--csv", tmp_path / "a.csv", "--html", "/dev/full") == (2, "", full)
    assert [*tmp_path.rglob("*")] == before


def test_the_profile_of_result_files_can_be_chosen(table, runs):
    assert "profile strict" in table(runs[0], "--profile", "strict")[1]


@pytest.mark.parametrize("name", ["missing.json", "empty"])
def test_a_run_that_is_none_leaves_nothing_behind(table, runs, tmp_path, name):
    (tmp_path / "empty").mkdir()
    output = tmp_path / "table.csv"
    status, out, err = table(runs[0], tmp_path / name, "--csv", output)
    assert (status, out, output.exists()) == (2, "", False)
    assert err.startswith("turnwise: ")
    assert err.count("\n") == 1


def test_an_output_that_cannot_be_written(table, runs, tmp_path):
    status, out, err = table(runs[0], "--html", tmp_path / "nowhere" / "table.html")
    assert (status, out) == (2, "")
    assert "cannot be written" in err


def test_the_same_bytes_every_time(table, runs):
    assert table(*runs) == table(*runs)
