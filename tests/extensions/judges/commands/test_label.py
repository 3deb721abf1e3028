"""``turnwise label``: which episodes its page has, and that it tells nothing it should not."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import DataError
from tests.runner.analysis.replayed_runs import (
    definition,
    error_record,
    record,
    truth_turns,
    write_run,
)
from tests.runner.analysis.report.making import unpacked
from tests.runner.commands.running import run as run_command
from trajectories.dataset import load_path
from trajectories.schema import Category


@pytest.fixture
def source(write_lines, help_desk, folders, tmp_path: Path) -> Path:
    """Write a run of two entries in which one trial failed, and one ended in an error."""
    data = write_lines("data.jsonl", help_desk, folders)
    known = load_path(data, list(Category)).trajectories
    right = [record(data, id, truth_turns(entry), 0) for id, entry in known.items()]
    wrong = record(data, "folders_0", [["Done."], ["Done."]], 1)
    return write_run(
        tmp_path / "run", definition(data), *right, wrong, error_record("folders_0", 2)
    )


def test_all_episodes_are_there_but_those_of_errors(source: Path, tmp_path: Path, capsys) -> None:
    path = tmp_path / "label.html"
    assert run_command("label", source, "-o", path) == 0
    assert capsys.readouterr().out == f"{path}\n"
    page = path.read_text(encoding="utf-8")
    index, *packs = unpacked(page)
    assert [(each["id"], each["trial"]) for each in index["episodes"]] == [
        ("help_desk_0", 0),
        ("folders_0", 0),
        ("folders_0", 1),
    ]
    assert len(packs) == 3
    assert ["call", "mv(source='notes.txt', destination='old')"] in packs[1]
    assert not any(kind == "call" for kind, _ in packs[2])
    assert "org/model" not in page + str(index) + str(packs)


def test_the_suggested_command_quotes_the_run(source: Path, tmp_path: Path, capsys) -> None:
    run = source.rename(tmp_path / "my run")
    assert run_command("label", run, "-o", tmp_path / "label.html") == 0
    assert f"next: turnwise judge '{run}' --labels" in capsys.readouterr().err


def test_a_part_of_them_is_chosen(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "label.html"
    run_command("label", source, "--ids", "folders_0", "--show", "answer", "--output", path)
    index, *packs = unpacked(path.read_text(encoding="utf-8"))
    assert [each["trial"] for each in index["episodes"]] == [0, 1]
    assert {kind for pack in packs for kind, _ in pack} == {
        "heading",
        "user",
        "line",
        "functions",
        "answer",
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--ids", "gone"], "unknown id 'gone'"),
        (["--category", "long_context"], "does not contain the selected entries"),
        (["--output", "/proc/none/label.html"], "cannot be written"),
    ],
)
def test_bad_input_is_one_line(source: Path, words: list[str], why: str) -> None:
    with pytest.raises(DataError, match=why):
        run_command("label", source, *words)


def test_a_run_of_errors_has_nothing_to_label(write_lines, folders, tmp_path: Path) -> None:
    data = write_lines("data.jsonl", folders)
    source = write_run(tmp_path / "run", definition(data), error_record("folders_0"))
    with pytest.raises(DataError, match="has no episodes without errors"):
        run_command("label", source, "-o", tmp_path / "x.html")
    with pytest.raises(DataError, match="does not exist"):
        run_command("label", tmp_path / "gone")
