"""Reader of BFCL's result files and of the verdicts beside them.

A result file has lines ``{"id", "result"}``. The result of a multi-turn entry is a list of turns,
and a turn is a list of steps. The result of a single-turn entry is one step. A step is a list of
calls or a text. Verdicts are Turnwise's verdict lines or BFCL's score files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard

from checkers.profile import Mode
from checkers.replies.decoding import Step
from envs.errors import DataError
from runner.records.episode_record import EpisodeRecord, Key, RecordedEpisode, ServerRejection
from trajectories.jsonl import read_objects
from trajectories.schema import FACTS, SINGLE_TURN, Category

NO_ANSWER = "Error during inference:"
"""Prefix of the string that replaces an answer after a failed request."""
FAULT_MEMBER = "fault"
"""Field with the reason why a request failed."""
VERDICTS_FILE = "verdicts.jsonl"

Verdicts = dict[Key, Mapping[str, Any]]
"""Verdicts as JSON objects with ``valid`` and ``error_type``; the keys are entry id and trial."""

_FILE = re.compile(r"(?:BFCL_v\d+_)?(\w+)_result\.json")
_SCORE_FILE = re.compile(r"(?:BFCL_v\d+_)?(\w+)_score\.json")
_CATEGORIES = {facts.file: category for category, facts in FACTS.items()}
_NO_STEPS = "the result file contains an error in place of steps"
_CALL = frozenset([dict])
_STEP = 'a string, null or a list of {"function": arguments} objects'


def find_result_files(paths: Iterable[Path]) -> list[Path]:
    """Return the result files at paths or in folders.

    Raises DataError if a path does not exist, or if a folder holds no result file.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(filter(_is_known, path.rglob("*_result.json")))
            if not inside:
                why = "is not a run folder and contains no *_result.json file of a known category"
                raise DataError(str(path), why)
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise DataError(str(path), "does not exist")
    return found


def has_result_file(names: Iterable[str]) -> bool:
    """Tell whether ``names`` contains the name of a result file."""
    return any(name.endswith("_result.json") and _is_known(Path(name)) for name in names)


def read(path: Path, mode: Mode | None = None) -> list[RecordedEpisode]:
    """Read a result file; without ``mode``, a file with tool calls has mode ``fc``.

    Raises DataError if a line has no id or no result, or if an id occurs twice.
    """
    entries: dict[str, tuple[EpisodeRecord, str]] = {}
    in_file = _category_of_file(path)
    # An invalid value of a model makes its call invalid, not the file.
    for where, line in read_objects(path, finite=False):
        record = _entry(where, line, in_file)
        if record.id in entries:
            _, earlier = entries[record.id]
            raise DataError(where, f"duplicate id {record.id!r}, first used at {earlier}")
        entries[record.id] = record, where
    if mode is None:
        mode = "fc" if _calls_functions(record for record, _ in entries.values()) else "prompt"
    return [RecordedEpisode(record, mode, where) for record, where in entries.values()]


def category_of(id: str) -> Category | None:
    """Return the category in an id of BFCL's data, or None for another id."""
    name = id.rstrip("0123456789-")
    is_numbered = name.endswith("_") and id[len(name) : len(name) + 1] not in ("", "-")
    return _CATEGORIES.get(name[:-1]) if is_numbered else None


def _is_known(path: Path) -> bool:
    return _category_of_file(path) is not None


def _category_of_file(path: Path) -> Category | None:
    match = _FILE.fullmatch(path.name)
    return _CATEGORIES.get(match[1]) if match else None


def _entry(where: str, line: dict[str, object], in_file: Category | None) -> EpisodeRecord:
    name = line.get("id")
    if not isinstance(name, str):
        message = '$.id: must be a string; a result line is {"id": ..., "result": ...}'
        raise DataError(where, message)
    if "result" not in line:
        kinds = {"valid": "verdicts, not a run", "turns": "entries; use --dataset or --model"}
        hints = [f"; the file contains {kind}" for key, kind in kinds.items() if key in line]
        raise DataError(where, f"$.result: is missing{''.join(hints[:1])}")
    result, category = line["result"], category_of(name) or in_file
    record = partial(EpisodeRecord, name, 0, category or "", None, None)
    kind = line.get(FAULT_MEMBER)
    if isinstance(kind, str) and isinstance(result, str):
        said = result.removeprefix(NO_ANSWER).lstrip()
        return record(_NO_STEPS, fault=ServerRejection(kind, said))
    if category in SINGLE_TURN:
        if not _is_step(result):
            raise DataError(where, f"$.result: must be {_STEP}")
        return record(None, result=[[result]])
    if not isinstance(result, list):
        return record(_NO_STEPS)
    for index, turn in enumerate(result):
        if not isinstance(turn, list):
            raise DataError(where, f"$.result[{index}]: must be a list of steps")
        if not all(map(_is_step, turn)):
            position = [*map(_is_step, turn)].index(False)
            raise DataError(where, f"$.result[{index}][{position}]: must be {_STEP}")
    return record(None, result=result)


def _is_step(step: object) -> TypeGuard[Step]:
    if isinstance(step, list):
        return _CALL.issuperset(map(type, step))
    return step is None or isinstance(step, str)


def _calls_functions(records: Iterable[EpisodeRecord]) -> bool:
    return any(
        isinstance(step, list) and step
        for record in records
        for turn in record.result or ()
        for step in turn
    )


def categories_of(ids: Iterable[str]) -> list[Category]:
    """Return the categories of a result file's entries, according to the entries' ids.

    BFCL's ids contain the category. An id without a category selects all categories.
    """
    named = {category_of(id) for id in ids}
    return list(Category) if None in named else [c for c in Category if c in named]


def read_verdicts(path: Path, ids: Iterable[str]) -> Verdicts:
    """Read verdicts from a file of verdict lines, a score file of BFCL, or a folder of such files.

    A score file lists only failed entries; all other entries of the run (``ids``) passed. Raises
    DataError if no verdicts exist, or a line is invalid.
    """
    if not path.is_dir():
        return _verdicts_in(path, ids)
    verdicts: Verdicts = {}
    for file in sorted(path.rglob("*_score.json")):
        verdicts |= _verdicts_in(file, ids)
    if not verdicts:
        raise DataError(str(path), "holds no *_score.json file")
    return verdicts


def _verdicts_in(path: Path, ids: Iterable[str]) -> Verdicts:
    lines = list(read_objects(path))
    if lines and "total_count" in lines[0][1]:
        return _scored(path, lines[0][1]["total_count"], lines[1:], ids)
    verdicts: Verdicts = {}
    for where, line in lines:
        match line:
            case {"id": str(id), "valid": bool() | None}:
                trial = line.get("trial", 0)
                if type(trial) is not int or trial < 0:
                    raise DataError(where, f"$.trial: must be at least 0, but is {trial!r:.60}")
                verdicts[id, trial] = line
            case _:
                raise DataError(where, 'is not a verdict: it must have "id" and "valid"')
    return verdicts


def _scored(
    path: Path, total: object, lines: Iterable[tuple[str, dict[str, Any]]], ids: Iterable[str]
) -> Verdicts:
    name = _SCORE_FILE.fullmatch(path.name)
    category = category_of(f"{name[1]}_0") if name else None
    if category is None:
        raise DataError(str(path), "a score file is named after its category: CATEGORY_score.json")
    scored = [id for id in ids if category_of(id) is category]
    if len(scored) != total:
        raise DataError(str(path), f"covers {total} entries, but the run has {len(scored)}")
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
                raise DataError(where, "is not a line of a score file")
    return verdicts
