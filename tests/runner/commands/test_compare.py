from __future__ import annotations

import json
from dataclasses import replace

import pytest

from runner.cli import main
from runner.rollouts.evaluation import evaluate
from tests.runner.analysis.replayed_runs import definition, record, truth_turns, write_run
from tests.runner.analysis.report.making import call, unpacked

RIGHT = [
    [call("mv", source="notes.txt", destination="old")],
    [[*call("cd", folder="old"), *call("wc", file_name="notes.txt")]],
]
LAZY = [RIGHT[0], []]


@pytest.fixture
def data(write_lines, folders):
    """Write a data set of two trajectories."""
    return write_lines("data.jsonl", folders, replace(folders, id="folders_1"))


@pytest.fixture
def results(write_lines):
    """Write a result file."""

    def write(name, **turns):
        lines = [{"id": id, "result": result} for id, result in turns.items()]
        return write_lines(f"{name}.json", *lines)

    return write


@pytest.fixture
def store(tmp_path, data, folders):
    """Write a run folder of ours, of two trials that pass."""

    def write(name, profile, **other):
        trials = [record(data, folders.id, truth_turns(folders), trial) for trial in range(2)]
        defining = definition(data, model=name, profile=profile, **other)
        return write_run(tmp_path / name, defining, *trials)

    return write


@pytest.fixture
def compare(data, capsys):
    """Run the command and return its status and what it said."""

    def run(*arguments):
        status = main(["compare", *map(str, arguments), "--dataset", str(data)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_two_result_files(compare, results):
    first = results("one", folders_0=RIGHT, folders_1=RIGHT)
    status, out, err = compare(first, results("two", folders_0=RIGHT, folders_1=LAZY))
    assert (status, err) == (0, "")
    assert out.startswith("A  one\nB  two\n2 common entries, one trial each;")
    assert "A passes more often than B: 1\n  folders_1  missing_call" in out
    assert "\nWithin noise: B minus A is -50.0 points" in out


def test_one_json_object(compare, results):
    status, out, _ = compare(
        results("one", folders_0=RIGHT), results("two", folders_0=LAZY), "--json"
    )
    assert status == 0
    assert json.loads(out)["lost"][0]["id"] == "folders_0"


def test_a_page(compare, results, tmp_path):
    page = tmp_path / "page.html"
    runs = results("one", folders_0=RIGHT), results("two", folders_0=LAZY)
    status, out, err = compare(*runs, "--html", page)
    assert (status, err) == (0, f"turnwise: wrote {page}\n")
    assert out
    [shown] = unpacked(page.read_text(encoding="utf-8"))
    assert shown["lost"][0]["id"] == "folders_0"
    assert shown["conclusion"][0].startswith("Within noise")


def test_a_run_folder_and_a_result_file(compare, store, results):
    status, out, err = compare(store("ours", "strict"), results("two", folders_0=LAZY))
    assert (status, err) == (0, "")
    assert out.startswith("A  ours\nB  two\n1 common entry, up to 2 (A) and 1 (B) trials each;")
    assert "folders_0  2/2 0/1  missing_call" in out


def test_data_that_is_not_what_it_was(compare, store, data):
    other = {"name": str(data), "version": "unknown", "sha256": "0" * 64}
    status, _, err = compare(store("one", "strict"), store("two", "strict", dataset=other))
    assert status == 0
    assert "two: the data has changed since the run" in err


def test_runs_of_different_categories_have_the_same_data(tmp_path, capsys):
    for name, categories in (("one", "base"), ("two", "base,miss_param")):
        evaluate(lambda *_: "No.", categories=categories, limit=2, run_dir=tmp_path / name)
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "one"), str(tmp_path / "two")]) == 0
    assert capsys.readouterr().err == ""


def test_runs_of_different_profiles(compare, store):
    ours, theirs = store("one", "strict"), store("two", "bfcl")
    status, out, err = compare(ours, theirs)
    assert (status, out) == (2, "")
    assert "--profile: " in err
    assert compare(ours, theirs, "--profile", "bfcl")[0] == 0


def test_a_models_text_cannot_steer_the_terminal(compare, results):
    hostile = [[[{"mv\x1b[2J\n": "{}"}]], []]
    _, out, _ = compare(results("one", folders_0=RIGHT), results("two", folders_0=hostile))
    assert "\x1b" not in out
    assert "\\x1b" in out


@pytest.mark.parametrize("other", ["missing.json", "empty"])
def test_a_run_that_is_none(compare, results, tmp_path, other):
    (tmp_path / "empty").mkdir()
    status, out, err = compare(results("one", folders_0=RIGHT), tmp_path / other)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("turnwise: ")


def test_the_same_bytes_every_time(compare, results):
    runs = (
        results("one", folders_0=RIGHT, folders_1=LAZY),
        results("two", folders_0=LAZY, folders_1=RIGHT),
    )
    assert compare(*runs, "--json") == compare(*runs, "--json")
