"""The command ``turnwise dataset graph``: what it prints and writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import DataError
from tests.runner.commands.running import run as run_command


def run(*words: str) -> int:
    return run_command("dataset graph", *words)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert run(*arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def test_no_picture_is_written_on_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="/dev/full: cannot be written"):
        run("--dot", str(tmp_path / "graph.dot"), "--svg", "/dev/full")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("wrong", [("--coverage", "--dataset", "nowhere"), ("--world", "x")])
def test_no_picture_is_written_where_another_option_is_wrong(
    tmp_path: Path, wrong: tuple[str, ...]
) -> None:
    with pytest.raises(DataError, match=r"nowhere|unknown world"):
        run("--svg", str(tmp_path / "graph.svg"), "--sample", "1", *wrong)
    assert not [*tmp_path.iterdir()]


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys)
    assert lines[0] == "127 functions with a successful call, 632 edges"
    assert any(" ".join(line.split()) == "MathAPI 9 49 5 5 . 13 3 11" for line in lines)
    assert "13 functions without an edge:" in lines
    assert any(line.startswith("  logout: takes nothing") for line in lines)


def test_pictures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dot, svg = tmp_path / "graph.dot", tmp_path / "graph.svg"
    lines = said(capsys, "--dot", str(dot), "--svg", str(svg))
    assert lines[:2] == [f"wrote {dot}", f"wrote {svg}"]
    assert dot.read_text(encoding="utf-8").startswith("digraph functions {")
    assert svg.read_text(encoding="utf-8").startswith("<svg ")


def test_a_picture_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        run("--svg", str(tmp_path / "no" / "graph.svg"))


def test_coverage_of_the_embedded_data(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "--coverage", "--category", "base", "--missing")
    assert lines[0].split()[-2:] == ["covered", "of"]
    assert next(line for line in lines if line.startswith("backends")).split() == [
        "backends",
        "8",
        "8",
    ]
    assert "functions not covered:" in lines
    assert any(" -> " in line for line in lines[lines.index("edges not covered:") :])


def test_coverage_of_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(
        '{"id": "x", "category": "base", "environments": ["MathAPI"], "config": {}, '
        '"turns": [{"messages": [], "ground_truth": ["add(a=1, b=2)", "subtract(a=3, b=1)"]}]}\n',
        encoding="utf-8",
    )
    lines = said(capsys, "--coverage", "--dataset", str(path))
    assert lines[0].startswith("of 1 entries")
    assert lines[2].split()[-2:] == ["2", "127"]
    assert lines[3].split() == ["edges", "1", "632"]


def test_sampled_paths(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ("--sample", "2", "--seed", "7", "--turns", "2", "--calls", "4")
    lines = said(capsys, *wanted, "--want", "startEngine")
    assert [line.split(" in ")[0] for line in lines if line.startswith("path")] == [
        "path 7",
        "path 8",
    ]
    assert sum("startEngine(ignitionMode='START')" in line for line in lines) == 2
    assert any(line.strip() == "ignitionMode: literal" for line in lines)
    assert said(capsys, *wanted, "--want", "startEngine") == lines


def test_paths_through_what_is_not_covered(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(
        '{"id": "x", "category": "base", "environments": ["GorillaFileSystem"], "config": '
        '{"GorillaFileSystem": {"root": {"a": {"type": "directory", "contents": {}}}}}, '
        '"turns": [{"messages": [], "ground_truth": ["pwd()"]}]}\n',
        encoding="utf-8",
    )
    lines = said(capsys, "--coverage", "--dataset", str(path), "--sample", "3")
    steps = [line.split(maxsplit=4)[4] for line in lines if line.startswith("  turn")]
    assert sum(line.startswith("path") for line in lines) == 3
    assert steps[0].startswith("ls(")
    assert "pwd()" not in steps[:12]
    assert len({step.split("(")[0] for step in steps}) > 20


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--world", "moon"), "unknown world 'moon'; the worlds are desk, morning"),
        (("--want", "fly"), "'fly' is neither a function nor an edge of the function graph"),
    ],
)
def test_a_wish_that_cannot_be_granted(arguments: tuple[str, ...], found: str) -> None:
    with pytest.raises(DataError, match="--w") as caught:
        run("--sample", "1", *arguments)
    assert found in str(caught.value)
