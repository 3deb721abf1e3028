"""Labels of people on the better of two runs: the page's pairs, agreement, and bad input."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from tests.runner.analysis.replayed_runs import definition, record, truth_turns, write_run
from tests.runner.analysis.report.making import unpacked
from tests.runner.commands.running import run as run_command
from trajectories.schema import Trajectory

ENTRIES = 6
Lines = Sequence[dict[str, Any]]


@pytest.fixture
def runs(
    write_lines: Callable[..., Path], folders: Trajectory, tmp_path: Path
) -> tuple[Path, Path]:
    """Two runs of six entries: the first fails all of them, the second passes the first four."""
    entries = [replace(folders, id=f"folders_{number}") for number in range(ENTRIES)]
    data = write_lines("data.jsonl", *entries)
    wrong = [record(data, each.id, [["Done."], ["Done."]]) for each in entries]
    right = [record(data, each.id, truth_turns(each)) for each in entries[:4]]
    return (
        write_run(tmp_path / "a", definition(data), *wrong),
        write_run(tmp_path / "b", definition(data), *right, *wrong[4:]),
    )


@pytest.fixture
def episodes(runs: tuple[Path, Path], tmp_path: Path) -> list[dict[str, Any]]:
    """Return the pairs of the page."""
    path = tmp_path / "label.html"
    assert run_command("label", *runs, "-o", path) == 0
    index, *packs = unpacked(path.read_text(encoding="utf-8"))
    assert (index["kind"], len(packs)) == ("winner", ENTRIES)
    assert all(len(pack) == 2 for pack in packs)
    return list(index["episodes"])


@pytest.fixture
def labels(episodes: Lines, tmp_path: Path) -> Callable[..., Path]:
    """Write a file of labels: a winner for each of the first pairs, by persons."""

    def write(**winners: Sequence[str]) -> Path:
        lines = [
            {"id": each["id"], "pair": each["pair"], "winner": winner, "person": person}
            for person, found in winners.items()
            for each, winner in zip(episodes, found, strict=False)
        ]
        path = tmp_path / "labels.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        return path

    return write


def test_verdicts_and_a_judge_are_compared_with_people(
    runs: tuple[Path, Path], labels: Callable[..., Path], tmp_path: Path, capsys
) -> None:
    path = labels(ada=["second"] * 3 + ["first", "tie", "tie"])
    capsys.readouterr()
    assert run_command("judge", *runs, "--labels", path, "--json") == 0
    found = json.loads(capsys.readouterr().out)["wins_with_people"]
    assert [*found] == ["verdicts"]
    verdicts = found["verdicts"]
    assert verdicts["labels"] == ENTRIES
    assert verdicts["counts"] == {"tie/tie": 2, "win/lose": 1, "win/win": 3}
    assert verdicts["agreement"]["value"] == pytest.approx(5 / 6)
    low, high = verdicts["agreement"]["interval"]
    assert 0.3 < low < 5 / 6 < high <= 1
    assert verdicts["kappa"] == pytest.approx((5 / 6 - 4 / 9) / (5 / 9), abs=0.1)
    words = ["--judge", "scripted:1", "--keep", tmp_path / "votes", "--json"]
    assert run_command("judge", *runs, "--labels", path, *words) == 0
    both = json.loads(capsys.readouterr().out)
    assert both["wins_with_people"]["judge model"]["labels"] == ENTRIES
    assert both["wins"][0]["compared"] == ENTRIES


def test_people_are_compared_with_each_other(
    runs: tuple[Path, Path], labels: Callable[..., Path], capsys
) -> None:
    path = labels(ada=["second"] * 4 + ["tie"], bob=["second"] * 3 + ["first", "tie", "tie"])
    capsys.readouterr()
    assert run_command("judge", *runs, "--labels", path) == 0
    shown = capsys.readouterr().out
    assert "compared labels of verdicts and people: 11" in shown
    assert "compared labels of people and other people: 5" in shown
    assert "agreement 80.0% (" in shown


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"winner": "b"}, r'\$\.winner: \'b\' must be "first"'),
        ({"pair": "0" * 16}, "belongs to another pair; name the same runs in the same order"),
        ({"id": "gone"}, "belongs to another pair"),
        ({"trial": "1"}, r"\$\.trial: must be a whole number"),
        ({"person": 1}, r"\$\.person"),
        ({"pair": None}, 'must have "id", "pair" and "winner" .*`turnwise label A B` writes'),
    ],
)
def test_labels_are_checked(
    runs: tuple[Path, Path], labels: Callable[..., Path], change: dict[str, Any], why: str
) -> None:
    path = labels(ada=["second"])
    line = {**json.loads(path.read_text(encoding="utf-8")), **change}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=why):
        run_command("judge", *runs, "--labels", path)


def test_two_labels_of_a_person_and_runs_in_another_order_are_refused(
    runs: tuple[Path, Path], labels: Callable[..., Path]
) -> None:
    path = labels(ada=["second"])
    with pytest.raises(DataError, match="name the same runs in the same order"):
        run_command("judge", *reversed(runs), "--labels", path)
    (path.parent / "none.jsonl").write_text("", encoding="utf-8")
    hint = "has no labels; save labels on the page that `turnwise label A B` writes"
    with pytest.raises(DataError, match=hint):
        run_command("judge", *runs, "--labels", path.parent / "none.jsonl")
    path.write_text(path.read_text(encoding="utf-8") * 2, encoding="utf-8")
    with pytest.raises(DataError, match="has two labels by ada; keep one"):
        run_command("judge", *runs, "--labels", path)
    with pytest.raises(DataError, match="name one or two runs, not 3"):
        run_command("label", *runs, runs[0])
