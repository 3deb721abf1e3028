"""Names of the files in a run folder, and functions that read them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, TypeVar

from envs.errors import DataError
from runner.records.durable_files import RUN_FILE, FileLine, read_run_text
from runner.records.episode_record import FORMAT
from trajectories.jsonl import parse_object

EPISODES_FILE = "episodes.jsonl"
"""One line per finished episode, in order of completion."""
TOOLS_FILE = "tools.jsonl"
"""One line per tool list, with ``digest`` and ``tools``."""
SUPERSEDED_FILE = "superseded.jsonl"
"""Lines of ``EPISODES_FILE`` that were replaced because the episode was run again."""

UNDERWAY_FILE = "underway.jsonl"
"""One line per answered request of an unfinished episode, with the budget spent so far."""

LIVES_FILE = "lives.jsonl"
"""One line per finished or interrupted segment of the run, with its duration."""

_Unique = TypeVar("_Unique")


def read_run_file(folder: Path) -> dict[str, Any]:
    """Read ``run.json``; check only its format version.

    Raises DataError if the file is missing or has an unknown format version.
    """
    path = folder / RUN_FILE
    try:
        text = read_run_text(path)
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(str(folder), f"contains no run: {RUN_FILE} is missing") from None
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error.reason}") from None
    run = parse_object(text, str(path))
    if run.get("format") != FORMAT:
        found = run.get("format")
        raise DataError(str(path), f"has format {found!r}; this turnwise reads format {FORMAT}")
    if not (isinstance(run.get("definition"), dict) and isinstance(run.get("note"), dict)):
        raise DataError(str(path), 'must contain the objects "definition" and "note"')
    if not isinstance(run["definition"].get("extensions", {}), dict):
        raise DataError(str(path), "$.definition.extensions: must be an object")
    _upgrade(run["definition"])
    return run


_GROUPED = {"prompt_format": "formats", "protocol": "formats", "retrieve": "retrieval"} | {
    "vary": "experiments",
    "search": "search",
}
"""Maps fields of old run definitions to extensions."""
_GROUPED_SETTINGS = {"compress": "compression", "tokenizer": "compression"}


def _upgrade(definition: dict[str, Any]) -> None:
    settings, selection = definition.get("settings"), definition.get("selection")
    if isinstance(selection, dict) and "split" in selection:
        selection["subset"] = selection.pop("split")
    holders = [(definition, _GROUPED)]
    if isinstance(settings, dict):
        holders.append((settings, _GROUPED_SETTINGS))
    for holder, known in holders:
        for member in sorted(known.keys() & holder.keys()):
            extensions = definition.setdefault("extensions", {})
            extensions.setdefault(known[member], {})[member] = holder.pop(member)


def tools_of(line: FileLine) -> tuple[str, list[dict[str, Any]]]:
    """Read a line of the tools file. Raises DataError if the line has other fields."""
    match line.value:
        case {"digest": str(digest), "tools": list(tools)} if all(
            isinstance(tool, dict) for tool in tools
        ):
            return digest, tools
    raise DataError(line.where, 'must have a string in "digest" and a list of objects in "tools"')


def require_unseen(key: _Unique, seen: Collection[_Unique], line: FileLine) -> _Unique:
    """Return a line's key. Raises DataError if an earlier line has the same key."""
    if key in seen:
        raise DataError(line.where, f"{key!r} occurs twice in the file")
    return key
