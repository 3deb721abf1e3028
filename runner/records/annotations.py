"""Tags and notes that people put on a run and its episodes, stored in ``annotations.json``.

A resumed run keeps this file. Scores do not depend on tags and notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from envs.errors import DataError
from runner.records.episode_record import Key
from runner.records.json_codec import read
from trajectories.jsonl import parse_object

ANNOTATIONS_FILE = "annotations.json"
_MAX_FILE_BYTES = 64_000_000


class TagsAndNote(NamedTuple):
    """Tags and a note on a run or an episode."""

    tags: tuple[str, ...] = ()
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {"tags": [*self.tags], "note": self.note}


NOTHING = TagsAndNote()

Annotations = Mapping[Key | None, TagsAndNote]
"""Maps the key of each episode to its annotations. The key None is for the whole run."""


class _AnnotationLine(NamedTuple):
    id: str | None
    trial: int
    tags: tuple[str, ...]
    note: str


class _AnnotationFile(NamedTuple):
    annotations: tuple[_AnnotationLine, ...]


def read_annotations(folder: Path) -> Annotations:
    """Return the annotations in a run folder. Raises DataError if the file cannot be read."""
    path = folder / ANNOTATIONS_FILE
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise DataError(str(path), f"is larger than {_MAX_FILE_BYTES:,} bytes")
        if not (path.is_file() or path.is_dir()):
            raise DataError(str(path), "the path is not a regular file")
        text = path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise DataError(str(path), str(error.strerror)) from None
    lines = read(_AnnotationFile, parse_object(text, str(path)), str(path)).annotations
    return {
        None if each.id is None else (each.id, each.trial): TagsAndNote(tuple(each.tags), each.note)
        for each in lines
    }
