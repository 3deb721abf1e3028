"""The files of a run folder: their names, and how their lines are read."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, TypeVar

from runner.records.files import FileLine
from runner.records.record import FORMAT
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

RUN_FILE = "run.json"
"""What defines the run, and what else is worth knowing of its start."""
EPISODES_FILE = "episodes.jsonl"
"""One line per finished episode, in the order in which they finished; none twice."""
TOOLS_FILE = "tools.jsonl"
"""One line per tool list: its ``digest`` and the ``tools``."""
SUPERSEDED_FILE = "superseded.jsonl"
"""Lines that were taken out of the episodes so that these could be done again."""

UNDERWAY_FILE = "underway.jsonl"
"""One line per answered request of the episodes that are not finished, each with what the run has
used by then; those of finished ones go when the run is closed or opened."""

LIVES_FILE = "lives.jsonl"
"""One line per sitting that ended of itself or was interrupted: how long it took."""

_Unique = TypeVar("_Unique")


def read_run_file(folder: Path) -> dict[str, Any]:
    """Return what a run's file holds, of which only the format has been checked.

    Raises:
        DataError: There is none, or it is of another format.
    """
    path = folder / RUN_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(str(folder), f"holds no run: there is no {RUN_FILE}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(str(path), f"cannot be read: {error}") from None
    run = parse_object(text, str(path))
    if run.get("format") != FORMAT:
        found = run.get("format")
        raise DataError(str(path), f"is of format {found!r}; this turnwise reads format {FORMAT}")
    if not (isinstance(run.get("definition"), dict) and isinstance(run.get("note"), dict)):
        raise DataError(str(path), 'must hold the objects "definition" and "note"')
    _group_extensions(run["definition"])
    return run


_GROUPED = {"prompt_format": "formats", "protocol": "formats", "retrieve": "retrieval"} | {
    "vary": "experiments",
    "search": "search",
}
"""Members of a definition that earlier revisions wrote, and the extensions that have them now."""
_GROUPED_SETTINGS = {"compress": "compression", "tokenizer": "compression"}


def _group_extensions(definition: dict[str, Any]) -> None:
    """Put the members that earlier revisions wrote beside the core's below their extensions."""
    settings = definition.get("settings")
    holders = [(definition, _GROUPED)]
    if isinstance(settings, dict):
        holders.append((settings, _GROUPED_SETTINGS))
    for holder, known in holders:
        for member in sorted(known.keys() & holder.keys()):
            extensions = definition.setdefault("extensions", {})
            extensions.setdefault(known[member], {})[member] = holder.pop(member)


def tools_of(line: FileLine) -> tuple[str, list[dict[str, Any]]]:
    """Return digest and tools of a line.

    Raises:
        DataError: It holds none.
    """
    match line.value:
        case {"digest": str(digest), "tools": list(tools)}:
            return digest, tools
    raise DataError(line.where, 'no tool list with "digest" and "tools"')


def once(key: _Unique, seen: Collection[_Unique], line: FileLine) -> _Unique:
    """Return a line's key, which must not have been seen.

    Raises:
        DataError: It has.
    """
    if key in seen:
        raise DataError(line.where, f"{key!r} is in the file twice")
    return key
