"""Trace files that are packed with gzip."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.traces import documents
from extensions.traces.documents import list_files, read_documents

LINES = b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n'


@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.ndjson.gz", "x.jsonl", "x"])
def test_a_packed_file_is_read_like_a_plain_one(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(LINES))
    assert [(each.line, each.value) for each in read_documents(path)] == [
        (1, {"a": 1}),
        (2, {"a": 2}),
    ]


def test_a_single_packed_line_is_a_line_by_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"[1]\n") + gzip.compress(b"[2]\n"))
    assert [each.value for each in read_documents(path)] == [[1], [2]]


def test_a_folder_may_have_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(json.dumps([1]).encode()))
    assert list_files([tmp_path]) == [path]


def test_a_packed_file_has_the_same_limit_when_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MAX_BYTES", 1000)
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b" " * 1001))
    with pytest.raises(DataError, match="decompresses to more than 1000 bytes"):
        read_documents(path)
