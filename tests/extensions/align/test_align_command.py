from __future__ import annotations

import json

import pytest

from runner.cli import main
from tests.runner.analysis.replayed_runs import definition, record, truth_turns, write_run


@pytest.fixture
def run(tmp_path, write_lines, folders):
    """Write a run of six trials, of which the second calls nothing."""
    data = write_lines("data.jsonl", folders)
    right = truth_turns(folders)
    return write_run(
        tmp_path / "run",
        definition(data),
        *[record(data, "folders_0", [[], []] if t == 1 else right, trial=t) for t in range(6)],
    )


@pytest.fixture
def align(capsys, monkeypatch):
    """Run the command in a narrow terminal and return status, lines and errors."""
    monkeypatch.setenv("COLUMNS", "40")

    def show(*arguments):
        status = main(["align", "folders_0", *map(str, arguments)])
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err

    return show


def test_two_runs_side_by_side(align, run, tmp_path):
    status, lines, _ = align("--run", run, "--run", run, "--trial", 1)
    assert status == 0
    assert "A and B are identical in every step" in lines


def test_trials_of_one_run_side_by_side(align, run):
    status, lines, _ = align("--run", run, "--trial", 0, "--trial", 1)
    assert status == 0
    assert [line[:24] for line in lines[1:3]] == [
        "  A  org/model, trial 0:",
        "  B  org/model, trial 1:",
    ]
    assert lines[4] == "A and B first differ in turn 1, step 1"
    assert max(len(line) for line in lines if "cause: " not in line) <= 80


def test_json_is_one_object(align, run):
    status, lines, _ = align("--run", run, "--trial", 0, "--trial", 1, "--json")
    assert status == 0
    assert json.loads("\n".join(lines))["parts"] == {"turn": 0, "step": 0}


@pytest.mark.parametrize(
    ("flags", "count"), [([], "6 episodes"), (["--trial", "0"], "1 episode")], ids=["all", "one"]
)
def test_there_are_two_to_five_to_align(align, run, flags, count):
    assert align("--run", run, *flags) == (
        2,
        [],
        f"turnwise: --run: selects {count}; use --run and --trial to select 2 to 5 episodes\n",
    )
