"""Verdicts that were kept beside result files: lines of ours, or score files of BFCL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runner.records.record import Key
from runner.records.result_file import category_of
from trajectories.errors import DataError
from trajectories.jsonl import read_objects

FILE = "verdicts.jsonl"
"""Where verdicts are looked for beside a run."""

_SCORE_NAME = re.compile(r"(?:BFCL_v\d+_)?(\w+)_score\.json")

Verdicts = dict[Key, Mapping[str, Any]]
"""By trajectory and trial, what is known of each: ``valid`` and ``error_type``, and perhaps more of
what a verdict has as JSON."""


def read(path: Path, ids: Iterable[str]) -> Verdicts:
    """Read verdicts.

    Args:
        path: A file of verdict lines, a score file of BFCL, or a folder with such files.
        ids: The entries of the run; a score file lists only those that failed.

    Raises:
        DataError: There are no verdicts, or a line is none.
    """
    if not path.is_dir():
        return _read_file(path, ids)
    verdicts: Verdicts = {}
    for file in sorted(path.rglob("*_score.json")):
        verdicts |= _read_file(file, ids)
    if not verdicts:
        raise DataError(str(path), "holds no *_score.json file")
    return verdicts


def _read_file(path: Path, ids: Iterable[str]) -> Verdicts:
    lines = list(read_objects(path))
    if lines and "total_count" in lines[0][1]:
        return _scored(path, lines[0][1]["total_count"], lines[1:], ids)
    verdicts: Verdicts = {}
    for where, line in lines:
        match line:
            case {"id": str(id), "valid": bool() | None}:
                verdicts[id, line.get("trial", 0)] = line
            case _:
                raise DataError(where, 'is no verdict: there must be "id" and "valid"')
    return verdicts


def _scored(
    path: Path, total: object, lines: Iterable[tuple[str, dict[str, Any]]], ids: Iterable[str]
) -> Verdicts:
    """Return the verdicts of a score file: of the entries listed, and of those that are not."""
    name = _SCORE_NAME.fullmatch(path.name)
    category = category_of(f"{name[1]}_0") if name else None
    if category is None:
        raise DataError(str(path), "a score file is named after its category: CATEGORY_score.json")
    scored = [id for id in ids if category_of(id) is category]
    if len(scored) != total:
        raise DataError(str(path), f"is about {total} entries, and the run has {len(scored)}")
    verdicts: Verdicts = {(id, 0): {"valid": True, "error_type": None} for id in scored}
    for where, line in lines:
        match line:
            case {"id": str(id), "valid": False, "error": {"error_type": str(error)}} | {
                "id": str(id),
                "valid": False,
                "error_type": str(error),
            }:
                verdicts[id, 0] = {"valid": False, "error_type": error}
            case _:
                raise DataError(where, "is no line of a score file")
    return verdicts
