"""Adds what a reader found to the record of readings beside the data.

``python -m tools.readings FILE --reader A`` takes a file of JSON objects, one a line:
``entry``, ``class`` (sound, arguable or wrong), ``reason``, and ``mend``, a proposal that is not
recorded. ``--mended FILE`` says what came of it: ``entry`` and ``mended``, where a text that begins
with "not changed: " or "withdrawn: " says why. ``--data FOLDER`` is the data as it was read, where
it has changed since. A reading of the same entry, as it was, by the same reader is written anew.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from extensions.authoring.standing import RECORD, Opinion, Reading, problems, read_record, to_json
from trajectories.dataset import DATA, load_path
from trajectories.errors import DataError, did_you_mean
from trajectories.fingerprint import fingerprint
from trajectories.jsonl import read_objects
from trajectories.schema import Category, Strict, Trajectory
from trajectories.validation import validated

_KEPT, _WITHDRAWN = "not changed: ", "withdrawn: "


@dataclass(frozen=True)
class _Found(Strict):
    """A line of a reader's file."""

    entry: str
    found: Annotated[Opinion, Field(alias="class")]
    reason: str = ""
    mend: str = ""


@dataclass(frozen=True)
class _Mended(Strict):
    """A line of the file that says what came of it."""

    entry: str
    mended: str


_FOUND, _MENDED = TypeAdapter(_Found), TypeAdapter(_Mended)


def read_findings(
    path: Path, reader: str, trajectories: Mapping[str, Trajectory]
) -> dict[str, Reading]:
    """Return a reader's readings by entry, of the trajectories as they were read.

    Raises:
        DataError: A line is no finding, repeats an entry, or names one that there is not.
    """
    readings: dict[str, Reading] = {}
    for where, line in read_objects(path):
        found = validated(_FOUND, line, where)
        if found.entry not in trajectories:
            near = did_you_mean(found.entry, trajectories)
            raise DataError(where, f"$.entry: there is no {found.entry}{near}")
        if found.entry in readings:
            raise DataError(where, f"$.entry: {found.entry} is on an earlier line")
        read = fingerprint(trajectories[found.entry])
        reading = Reading(found.entry, reader, found.found, read, found.reason)
        for problem in problems(reading):
            raise DataError(where, problem)
        readings[found.entry] = reading
    return readings


def with_mends(readings: Mapping[str, Reading], path: Path) -> dict[str, Reading]:
    """Return readings with what came of them.

    Raises:
        DataError: A line is none, repeats an entry, or names one that was not read.
    """
    mended = dict(readings)
    for where, line in read_objects(path):
        what = validated(_MENDED, line, where)
        if what.entry not in readings:
            raise DataError(where, f"$.entry: {what.entry} is not among what was read")
        if mended[what.entry] != readings[what.entry]:
            raise DataError(where, f"$.entry: {what.entry} is on an earlier line")
        mended[what.entry] = _with(readings[what.entry], what.mended)
    return mended


def _with(reading: Reading, text: str) -> Reading:
    if text.startswith(_KEPT):
        return replace(reading, kept=text.removeprefix(_KEPT))
    if text.startswith(_WITHDRAWN):
        return replace(reading, withdrawn=text.removeprefix(_WITHDRAWN))
    return replace(reading, mended=text)


def merged(record: Iterable[Reading], new: Iterable[Reading]) -> list[Reading]:
    """Return a record with new readings: in the place of the same ones, else at the end."""
    readings = {(each.entry, each.reader, each.read): each for each in record}
    readings.update({(each.entry, each.reader, each.read): each for each in new})
    return list(readings.values())


def main(arguments: Sequence[str], record: Path = RECORD) -> None:
    """Write the record with a reader's findings in it; bad input ends with status 2."""
    parser = ArgumentParser(f"python -m {__package__}.readings", description="Adds readings.")
    parser.add_argument("file", type=Path, help="what the reader found")
    parser.add_argument("--reader", required=True, help="a letter")
    parser.add_argument("--mended", type=Path, help="what came of it")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data as it was read")
    options = parser.parse_args(arguments)
    try:
        there = load_path(options.data, list(Category)).trajectories
        readings = read_findings(options.file, options.reader, there)
        if options.mended is not None:
            readings = with_mends(readings, options.mended)
        before = read_record(record) if record.exists() else []
    except DataError as error:
        parser.error(str(error))
    lines = [to_json(each) for each in merged(before, readings.values())]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    record.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
