"""Outputs that the user named are written through; in a run's folder no link is followed."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from envs.errors import DataError
from runner.records import durable_files
from runner.records.durable_files import (
    LineFile,
    check_writable,
    lock_folder,
    read_lines,
    read_raw_lines,
    read_run_text,
    report_write_errors,
    unfinished_path,
    write_files,
    write_output,
    write_whole,
)


def put(path: Path, text: str) -> None:
    """Write a file as commands do."""
    write_output(path, [text])


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


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_a_file_that_a_shell_opened_is_written_in_place(tmp_path: Path, folder: str) -> None:
    path = tmp_path / "out"
    with path.open("w") as held:
        place = path.stat().st_ino
        put(Path(folder) / str(held.fileno()), "new")
        assert (path.read_text(), path.stat().st_ino) == ("new", place)
    put(path, "newer")
    assert path.stat().st_ino != place
    assert path.read_text() == "newer"


def test_a_folder_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written: Is a directory"):
        put(tmp_path, "text")


@pytest.mark.parametrize("name", ["x" * 5000, "y/" * 3000 + "y"])
def test_a_name_that_is_too_long_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be written: File name too long"):
        put(tmp_path / name, "text")


def test_no_file_appears_if_one_cannot_be_written(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    files = {old: [b"newer"], new / "a" / "b": [b"b"], Path("/dev/full"): [b"c"]}
    with pytest.raises(DataError, match=r"^/dev/full: cannot be written: No space left on device$"):
        write_files(files, named=True)
    assert old.read_text() == "old"
    assert [*tmp_path.iterdir()] == [old]
    del files[Path("/dev/full")]
    write_files(files)
    assert [path.read_text() for path in files] == ["newer", "b"]


def test_what_fails_midway_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(KeyError):
        write_output(path, ({"half": "of it"}[name] for name in ("half", "none")))
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
    with pytest.raises(DataError, match="is a symbolic link"):
        lock_folder(run)
    with pytest.raises(
        DataError, match=r"tools.jsonl: cannot be written: the path is a symbolic link"
    ):
        LineFile(run / "tools.jsonl")
    write_whole(run / "run.json", [b"{}"])
    write_whole(run / "episodes.jsonl", [b"{}"])
    assert precious.read_text() == "precious"
    assert not (run / "run.json").is_symlink()


LINES = b'{"a":1}\n{"b":"\xc3\xa9"}\n{"c":3}\n'


@pytest.mark.parametrize("last", [b"", b"{", b'{"d":4}', b"{\n", b"\xff\n", b"[]\n", b"\n"])
def test_the_whole_lines_are_read_and_a_damaged_last_one_is_cut_off(
    tmp_path: Path, last: bytes
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(LINES + last)
    found = [*read_lines(path)]
    assert [line.value for line in found] == [{"a": 1}, {"b": "é"}, {"c": 3}]
    assert [line.where for line in found] == [f"{path}:{number}" for number in (1, 2, 3)]
    assert b"".join(line.raw for line in found) == LINES
    assert [line.end for line in found] == [8, 19, 27]
    assert [*read_raw_lines(path)] == (LINES + last).splitlines(keepends=True)[
        : 4 if last.endswith(b"\n") else 3
    ]
    assert [line.value for line in read_lines(path, b'"a"', b'"c"')] == [{"a": 1}, {"c": 3}]
    file = LineFile(path)
    assert [*file.mended()] == found
    assert path.read_bytes() == LINES
    file.append(b"{}\n")
    file.sync()
    file.close()
    assert path.read_bytes() == LINES + b"{}\n"


@pytest.mark.parametrize("only", [b"{", b'{"a":1}', b"{\n"])
def test_an_unfinished_only_line_is_cut_off(tmp_path: Path, only: bytes) -> None:
    path = tmp_path / "lines"
    path.write_bytes(only)
    file = LineFile(path)
    assert [*file.mended()] == []
    file.close()
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (b"{\n", "lines:2: is not valid JSON"),
        (b"\xff\n", "lines:2: is not UTF-8 text: invalid start byte"),
        (b"[]\n", "lines:2: must be a JSON object"),
    ],
)
def test_a_damaged_line_before_others_is_named(tmp_path: Path, damage: bytes, message: str) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b'{"a":1}\n' + damage + b"{}\n")
    lines = read_lines(path)
    assert next(lines).value == {"a": 1}
    with pytest.raises(DataError, match=message):
        next(lines)


def test_a_file_that_does_not_exist_has_no_lines(tmp_path: Path) -> None:
    assert [*read_lines(tmp_path / "none")] == []
    with pytest.raises(DataError, match=r"cannot be read: the path is not a regular file"):
        next(read_lines(tmp_path))
    (tmp_path / "file").write_text("text")
    assert read_run_text(tmp_path / "file") == "text"
    with pytest.raises(OSError, match="not a regular file"):
        read_run_text(tmp_path)


@pytest.mark.parametrize("size", [0, 3])
def test_a_line_that_the_disk_takes_in_part_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    file = LineFile(tmp_path / "lines")
    file.append(b"one\n")
    whole = file._file

    class Full:
        def write(self, line: bytes) -> int:
            return whole.write(line[:size])

        seek, truncate = whole.seek, whole.truncate

    monkeypatch.setattr(file, "_file", Full())
    with pytest.raises(DataError, match="lines: cannot be written: no space left"):
        file.append(b"two\n")
    whole.close()
    assert (tmp_path / "lines").read_bytes() == b"one\n"


def test_a_file_that_somebody_deletes_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    file = LineFile(path)
    file.append(b"{}\n")
    file.sync()
    path.unlink()
    file.append(b"{}\n")
    with pytest.raises(DataError, match="the file was moved or deleted during the run"):
        file.sync()
    file.close()


def test_output_files_are_checked_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "none" / "target")
    (tmp_path / "file").touch()
    check_writable(None, tmp_path / "new", tmp_path / "file", Path("/dev/null"))
    for path, message in {
        tmp_path / "none" / "file": f"the folder {tmp_path / 'none'} does not exist",
        tmp_path / "link": f"the folder {tmp_path / 'none'} does not exist",
        tmp_path / "file" / "below": f"the folder {tmp_path / 'file'} does not exist",
        tmp_path: "the path is a folder",
        Path(): "the path is a folder",
    }.items():
        with pytest.raises(DataError) as caught:
            check_writable(None, path)
        assert str(caught.value) == f"{path}: cannot be written: {message}"


def test_a_folder_without_permission_takes_no_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable_files.os, "access", lambda *_: False)
    with pytest.raises(DataError, match=f"no permission to write in {tmp_path}$"):
        check_writable(tmp_path / "file")


def test_a_locked_folder_names_its_process(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("an earlier process")
    with lock_folder(tmp_path):
        assert (tmp_path / "lock").read_text() == str(os.getpid())
        with pytest.raises(
            DataError, match=rf"another process is writing this run \(pid {os.getpid()}\)$"
        ):
            lock_folder(tmp_path)
        (tmp_path / "lock").write_text("")
        with pytest.raises(DataError, match=r"\(pid unknown\)$"):
            lock_folder(tmp_path)
    lock_folder(tmp_path).close()


def test_a_file_system_without_locks_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: object, flags: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(DataError, match="cannot be locked: No locks available; use a folder on"):
        lock_folder(tmp_path)


def test_a_lone_surrogate_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"out: cannot be written: '\\udc80' is a lone surrogate"):
        put(tmp_path / "out", "ab\udc80c")
    assert [*tmp_path.iterdir()] == []


def test_a_limit_of_open_files_is_said_with_its_remedy(tmp_path):
    with pytest.raises(DataError) as caught, report_write_errors(tmp_path):
        raise OSError(errno.EMFILE, "Too many open files")
    assert str(caught.value) == (
        f"{tmp_path}: cannot be written: Too many open files; raise the limit (ulimit -n) "
        "or lower --concurrency"
    )
