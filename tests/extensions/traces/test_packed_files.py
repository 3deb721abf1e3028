"""Plain and compressed files of recorded runs."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.injection.dojo import dojo_runs
from extensions.traces.packed_files import open_packed


def test_a_compressed_file_is_decompressed_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    # Two members, as appending to a compressed file makes them.
    path.write_bytes(gzip.compress(b"one\ntw") + gzip.compress(b"o\nthree"))
    with open_packed(path) as file:
        assert [file.readline(), file.read(2), file.read()] == [b"one\n", b"tw", b"o\nthree"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"plain", "cannot be read: Not a gzipped file"),
        (b"\x1f\x8b", "cannot be read: Compressed file ended before"),
        (b"\x1f\x8b\xff" + bytes(20), "cannot be read: Unknown compression method"),
        (gzip.compress(b"text" * 99)[:-9], "cannot be read: Compressed file ended before"),
        (gzip.compress(b"text")[:10] + b"\xff" * 20, "cannot be read: Error -3 while decompress"),
        (gzip.compress(b" " * 40_000_000), "cannot be read: it is more than 200 times as large"),
        (gzip.compress(b"\xff"), "is not UTF-8 text; save it as UTF-8"),
    ],
    ids=["plain", "start", "method", "short", "damaged", "bomb", "encoding"],
)
def test_a_damaged_or_huge_file_is_an_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught, open_packed(path) as file:
        file.read().decode()
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_pipe_in_a_folder_of_runs_is_an_error_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "workspace" / "user_task_0" / "none"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "none.json")
    with pytest.raises(DataError, match=r"none\.json: cannot be read: .* not a regular file"):
        dojo_runs.read_run([tmp_path])


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"), open_packed(tmp_path / "run"):
        pass
