"""Stamps of run folders. A run's stamp changes when a file of the run changes."""

from __future__ import annotations

import os
from pathlib import Path

from runner.records.annotations import ANNOTATIONS_FILE
from runner.records.durable_files import RUN_FILE
from runner.records.run_files import EPISODES_FILE

Stamp = tuple[int, ...]


def stamp_of(folder: Path) -> Stamp:
    """Return the inodes, sizes and times of a run's files, which change with each write."""
    # Paths as strings, because thousands of folders are checked several times a minute.
    found = _stamp(f"{folder}/{RUN_FILE}") + _stamp(f"{folder}/{EPISODES_FILE}")
    annotated = _stamp(f"{folder}/{ANNOTATIONS_FILE}")
    if found:
        return found + annotated
    files = sorted(folder.rglob("*_result.json"))
    return (*(part for file in files for part in _stamp(str(file))), *annotated)


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
