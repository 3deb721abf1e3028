"""Tags and notes that people put on a run and its episodes, stored in ``annotations.json``.

A resumed run keeps the file, and no score depends on the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from runner.records.durable_files import write_whole
from runner.records.episode_record import Key
from runner.records.json_codec import read
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

ANNOTATIONS_FILE = "annotations.json"
MAX_TAGS, MAX_TAG_CHARS, MAX_NOTE_CHARS = 20, 40, 4_000
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
"""Annotations by episode; the key None holds the run's annotation."""


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


def write_annotation(folder: Path, key: Key | None, changed: TagsAndNote) -> None:
    """Set the annotation of an episode, or of the run if ``key`` is None.

    Raises DataError if tags or note are too long or unprintable, or a file cannot be read or
    written.
    """
    _check(changed)
    known = {**read_annotations(folder), key: changed}
    lines = [
        {"id": place and place[0], "trial": place[1] if place else 0, **each.to_json()}
        for place, each in known.items()
        if any(each)
    ]
    text = json.dumps({"format": 1, "annotations": lines}, indent=1)
    write_whole(folder / ANNOTATIONS_FILE, [f"{text}\n".encode()])


def _check(annotation: TagsAndNote) -> None:
    for tag in annotation.tags:
        if not tag.isprintable() or not tag.strip() or len(tag) > MAX_TAG_CHARS or "," in tag:
            limit = f"1 to {MAX_TAG_CHARS} printable characters without a comma"
            raise DataError("tag", f"{tag!r:.60} must have {limit}")
    if len(annotation.tags) > MAX_TAGS:
        raise DataError("tag", f"at most {MAX_TAGS} tags, not {len(annotation.tags)}")
    if len(annotation.note) > MAX_NOTE_CHARS:
        raise DataError("note", f"at most {MAX_NOTE_CHARS:,} characters")
