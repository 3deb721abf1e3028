"""Outputs that the user named are written through; in a run's folder no link is followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from runner.records.durable_files import (
    LineFile,
    lock_folder,
    open_for_writing,
    unfinished_path,
    write_whole,
)
from trajectories.errors import DataError


def put(path: Path, text: str) -> None:
    """Write a file as commands do."""
    with open_for_writing(path) as file:
        file.write(text)


def test_a_link_is_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    put(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    write_whole(link, [b"newer"], named=True)
    assert target.read_text() == "newer"


def test_a_link_to_nothing_yet_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    put(tmp_path / "link", "new")
    assert (tmp_path / "target").read_text() == "new"


@pytest.mark.parametrize("whole", [False, True])
def test_a_pipe_is_written_through(tmp_path: Path, whole: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reading = Thread(target=lambda: read.append(pipe.read_bytes()))
    reading.start()
    if whole:
        write_whole(pipe, [b"a", b"b"], named=True)
    else:
        put(pipe, "ab")
    reading.join()
    assert read == [b"ab"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_through() -> None:
    put(Path("/dev/null"), "gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(DataError, match="/dev/full: cannot be written: No space left"):
        put(Path("/dev/full"), "too much")


def test_a_folder_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written: Is a directory"):
        put(tmp_path, "text")


@pytest.mark.parametrize("name", ["x" * 5000, "y/" * 3000 + "y"])
def test_a_name_that_is_too_long_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be written: File name too long"):
        put(tmp_path / name, "text")


def test_what_fails_midway_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(KeyError), open_for_writing(path) as file:
        file.write({"half": "of it"}["none"])
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("name", ["file", "lock"])
def test_a_pipe_in_a_run_is_refused(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match="cannot be written: "):
        LineFile(tmp_path / name) if name == "file" else lock_folder(tmp_path)


def test_no_link_in_a_run_is_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    run = tmp_path / "run"
    run.mkdir()
    for name in ("lock", "tools.jsonl", "run.json", unfinished_path(run / "episodes.jsonl").name):
        (run / name).symlink_to(precious)
    with pytest.raises(DataError, match="is a link"):
        lock_folder(run)
    with pytest.raises(DataError, match=r"tools.jsonl: cannot be written: the file is a link"):
        LineFile(run / "tools.jsonl")
    write_whole(run / "run.json", [b"{}"])
    write_whole(run / "episodes.jsonl", [b"{}"])
    assert precious.read_text() == "precious"
    assert not (run / "run.json").is_symlink()
