from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.errors import DataError
from extensions.viewer.annotation_writer import write_annotation
from runner.records import annotations
from runner.records.annotations import (
    ANNOTATIONS_FILE,
    NOTHING,
    TagsAndNote,
    read_annotations,
)

KEYS = st.none() | st.tuples(st.text(max_size=10), st.integers(0, 5))
TAG = st.text("abc def", min_size=1, max_size=9).filter(str.strip)
ANNOTATIONS = st.builds(
    TagsAndNote, st.lists(TAG, unique=True, max_size=4).map(tuple), st.text(max_size=30)
)


@given(st.lists(st.tuples(KEYS, ANNOTATIONS), max_size=6))
def test_what_is_written_is_read(tmp_path_factory, changes):
    folder = tmp_path_factory.mktemp("run")
    known = {}
    for key, annotation in changes:
        write_annotation(folder, key, annotation)
        known[key] = annotation
    kept = {key: each for key, each in known.items() if any(each)}
    assert read_annotations(folder) == kept


@pytest.mark.parametrize(
    "wrong",
    [
        TagsAndNote(("",)),
        TagsAndNote((" ",)),
        TagsAndNote(("a,b",)),
        TagsAndNote(("\x1b",)),
        TagsAndNote(("a" * 41,)),
        TagsAndNote(tuple(f"{n}" for n in range(21))),
        TagsAndNote((), "n" * 4001),
    ],
)
def test_what_cannot_be_shown_is_not_written(tmp_path, wrong):
    with pytest.raises(DataError):
        write_annotation(tmp_path, None, wrong)
    assert not (tmp_path / ANNOTATIONS_FILE).exists()


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"annotations": [{"id": "a", "trial": 0, "tags": "b", "note": ""}]}', "\xff"],
)
def test_a_damaged_file_is_one_line(tmp_path: Path, text):
    (tmp_path / ANNOTATIONS_FILE).write_text(text, "latin-1")
    with pytest.raises(DataError, match=ANNOTATIONS_FILE):
        read_annotations(tmp_path)


def test_no_file_is_no_annotation(tmp_path):
    assert read_annotations(tmp_path) == {}
    write_annotation(tmp_path, None, TagsAndNote(("a",)))
    write_annotation(tmp_path, None, NOTHING)
    assert json.loads((tmp_path / ANNOTATIONS_FILE).read_text())["annotations"] == []


@pytest.mark.parametrize("limit", [16, 17, 18, 19])
def test_a_file_has_a_maximum_size(tmp_path: Path, monkeypatch, limit):
    path = tmp_path / ANNOTATIONS_FILE
    path.write_text('{"annotations":[]}')
    monkeypatch.setattr(annotations, "_MAX_FILE_BYTES", limit)
    if limit >= 18:
        assert read_annotations(tmp_path) == {}
        return
    with pytest.raises(DataError) as caught:
        read_annotations(tmp_path)
    assert str(caught.value) == f"{path}: is larger than {limit} bytes"


def test_a_file_has_at_most_64_megabytes(tmp_path: Path):
    path = tmp_path / ANNOTATIONS_FILE
    with path.open("wb") as file:
        file.truncate(64_000_001)
    with pytest.raises(DataError, match="is larger than 64,000,000 bytes"):
        read_annotations(tmp_path)


def test_annotations_belong_to_the_run_or_to_an_episode(tmp_path: Path):
    lines = [
        {"id": None, "trial": 0, "tags": ["a", "b"], "note": ""},
        {"id": "x", "trial": 2, "tags": [], "note": "n"},
    ]
    (tmp_path / ANNOTATIONS_FILE).write_text(json.dumps({"annotations": lines}))
    assert read_annotations(tmp_path) == {None: (("a", "b"), ""), ("x", 2): ((), "n")}
    assert TagsAndNote(("a",), "n").to_json() == {"tags": ["a"], "note": "n"}
    (tmp_path / ANNOTATIONS_FILE).unlink()
    (tmp_path / ANNOTATIONS_FILE).mkdir()
    with pytest.raises(DataError, match=r"annotations\.json: Is a directory$"):
        read_annotations(tmp_path)


def test_a_pipe_is_refused_before_it_blocks(tmp_path):
    os.mkfifo(tmp_path / "annotations.json")
    with pytest.raises(DataError, match="the path is not a regular file"):
        read_annotations(tmp_path)
