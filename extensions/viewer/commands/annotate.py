"""Command ``turnwise annotate``: sets tags and notes on a run or an episode."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.errors import DataError
from extensions.viewer.annotation_writer import write_annotation
from runner.commands import DONE
from runner.commands.common_options import JsonOption
from runner.commands.options import argument, index, option
from runner.records.annotations import (
    NOTHING,
    TagsAndNote,
    read_annotations,
)
from runner.records.episode_record import Key
from runner.records.recorded_run import read_run
from runner.show.terminal import say, say_json

EXAMPLE = "turnwise annotate runs/a base_files_band_setlist --tag 'bad data'"


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """Changes to the annotation of a run or episode. Without changes, annotations are listed."""

    run: Path = argument("run folder", "RUN")
    id: str | None = argument("entry to annotate (default: the run itself)", "ID", required=False)
    trial: int = option("trial number, starting at 0 (default: 0)", "N", default=0, read=index)
    tag: tuple[str, ...] = option("add a tag; repeatable", "TAG", default=())
    untag: tuple[str, ...] = option("remove a tag; repeatable", "TAG", default=())
    note: str | None = option("set the note; an empty note removes it", "TEXT")


def run(options: Options) -> int:
    """Apply the tag and note options, then list all annotations of the run."""
    source = read_run(options.run)
    key = None if options.id is None else (options.id, options.trial)
    if options.id is not None:
        source.episode(options.id, options.trial)
    known = read_annotations(options.run)
    if options.tag or options.untag or options.note is not None:
        changed = with_tags(known.get(key, NOTHING), options.tag, options.untag)
        if options.note is not None:
            changed = changed._replace(note=options.note)
        write_annotation(options.run, key, changed)
    shown = read_annotations(options.run)
    wanted = shown.items() if key is None else [(key, shown.get(key, NOTHING))]
    if options.json:
        say_json({"annotations": [_json(*each) for each in wanted]})
        return DONE
    for place, each in wanted:
        say(_line(place, each))
    return DONE


def _line(key: Key | None, annotation: TagsAndNote) -> str:
    name = "run" if key is None else f"{key[0]} trial {key[1]}"
    tags = "".join(f" [{tag}]" for tag in annotation.tags)
    return f"{name}:{tags}{annotation.note and f' {annotation.note}'}"


def _json(key: Key | None, annotation: TagsAndNote) -> dict[str, Any]:
    id, trial = key or (None, None)
    return {"id": id, "trial": trial, **annotation.to_json()}


def with_tags(known: TagsAndNote, add: Iterable[str], remove: Iterable[str]) -> TagsAndNote:
    """Return the annotation with tags added and removed.

    Raises DataError if a removed tag is missing.
    """
    tags = dict.fromkeys([*known.tags, *add])
    for tag in remove:
        if tag not in tags:
            raise DataError("--untag", f"there is no tag {tag!r:.60}")
        del tags[tag]
    return known._replace(tags=tuple(tags))
