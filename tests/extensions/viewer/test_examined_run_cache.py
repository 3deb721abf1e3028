"""Examined runs in the cache folder."""

from __future__ import annotations

import pytest

from extensions.viewer import examined_run_cache
from extensions.viewer.examined_run_cache import (
    examination_path,
    keep_examination,
    read_examination,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a run folder, beside a cache folder."""
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "episodes.jsonl").write_text("{}\n")
    return tmp_path / "run"


def test_a_run_is_kept_until_one_of_its_files_changes(folder):
    path = examination_path(folder, "run", None)
    assert read_examination(path) is None
    keep_examination(path, '{"rows": []}')
    assert read_examination(examination_path(folder, "run", None)) == '{"rows": []}'
    assert read_examination(examination_path(folder, "run", "other data")) is None
    (folder / "lock").touch()
    assert examination_path(folder, "run", None) == path
    (folder / "annotations.json").write_text("{}")
    assert examination_path(folder, "run", None) != path


def test_the_oldest_runs_are_deleted(folder, monkeypatch):
    monkeypatch.setattr(examined_run_cache, "_MAX_RUNS", 2)
    paths = [examination_path(folder, number) for number in range(4)]
    for path in paths:
        keep_examination(path, "{}")
    assert len([path for path in paths if read_examination(path) is not None]) == 2


def test_what_cannot_be_kept_is_no_error(folder, monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("no folder")
    path = examination_path(folder)
    keep_examination(path, "{}")
    assert read_examination(path) is None
    monkeypatch.setattr(examined_run_cache, "_MAX_FILES", 0)
    assert examination_path(folder) is None
    keep_examination(None, "{}")
    assert read_examination(None) is None
