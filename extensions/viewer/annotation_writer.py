"""Writer of tags and notes on a run and its episodes."""

from __future__ import annotations

import json
from pathlib import Path

from envs.errors import DataError
from runner.records.annotations import ANNOTATIONS_FILE, TagsAndNote, read_annotations
from runner.records.durable_files import write_whole
from runner.records.episode_record import Key

MAX_TAGS, MAX_TAG_CHARS, MAX_NOTE_CHARS = 20, 40, 4_000


def write_annotation(folder: Path, key: Key | None, changed: TagsAndNote) -> None:
    """Set the annotation of an episode, or of the run if ``key`` is None.

    Raises DataError if a tag or the note is too long or unprintable, or if a file cannot be read
    or written.
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
