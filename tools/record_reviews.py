"""Add a reviewer's findings to the record of reviews beside the data.

``python -m tools.record_reviews FILE --reader A`` takes a JSON lines file. Each line has ``entry``,
``class`` (sound, arguable or wrong), ``reason``, and ``mend``, a proposal that is not recorded.
``--mended FILE`` is a file with the results of reviews. Each line has ``entry`` and ``mended``. The
value of ``mended`` is the correction, "not changed: REASON" or "withdrawn: REASON". If the data has
changed since the review, ``--data FOLDER`` is the folder of the reviewed data. A new review
replaces an earlier review of the same version of the entry by the same reviewer.
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

from envs.errors import DataError, suggest_name
from extensions.authoring.review_status import (
    RECORD,
    Review,
    ReviewOutcome,
    problems,
    read_record,
    to_json,
)
from trajectories.dataset import DATA, load_path
from trajectories.fingerprint import fingerprint
from trajectories.jsonl import read_objects
from trajectories.record_validation import validate_record
from trajectories.schema import Category, StrictRecord, Trajectory

_KEPT, _WITHDRAWN = "not changed: ", "withdrawn: "


@dataclass(frozen=True)
class _ReviewFinding(StrictRecord):
    """A line of a reviewer's file."""

    entry: str
    found: Annotated[ReviewOutcome, Field(alias="class")]
    reason: str = ""
    mend: str = ""


@dataclass(frozen=True)
class _ReviewResult(StrictRecord):
    """A line of the file with the results of reviews."""

    entry: str
    mended: str


_FOUND, _MENDED = TypeAdapter(_ReviewFinding), TypeAdapter(_ReviewResult)


def read_findings(
    path: Path, reader: str, trajectories: Mapping[str, Trajectory]
) -> dict[str, Review]:
    """Read a reviewer's findings on ``trajectories``; return reviews by entry id.

    Raises:
        DataError: A line is invalid, repeats an entry, or names an unknown entry.
    """
    readings: dict[str, Review] = {}
    for where, line in read_objects(path):
        found = validate_record(_FOUND, line, where)
        if found.entry not in trajectories:
            near = suggest_name(found.entry, trajectories)
            raise DataError(where, f"$.entry: unknown entry {found.entry}{near}")
        if found.entry in readings:
            raise DataError(where, f"$.entry: {found.entry} is on an earlier line")
        read = fingerprint(trajectories[found.entry])
        reading = Review(found.entry, reader, found.found, read, found.reason)
        for problem in problems(reading):
            raise DataError(where, problem)
        readings[found.entry] = reading
    return readings


def with_mends(readings: Mapping[str, Review], path: Path) -> dict[str, Review]:
    """Add the results in a file to the reviews, and return all reviews.

    Raises:
        DataError: A line is invalid, repeats an entry, or names an entry without a review.
    """
    mended = dict(readings)
    for where, line in read_objects(path):
        what = validate_record(_MENDED, line, where)
        if what.entry not in readings:
            raise DataError(where, f"$.entry: {what.entry} is not one of the reviewed entries")
        if mended[what.entry] != readings[what.entry]:
            raise DataError(where, f"$.entry: {what.entry} is on an earlier line")
        mended[what.entry] = _with(readings[what.entry], what.mended)
    return mended


def _with(reading: Review, text: str) -> Review:
    if text.startswith(_KEPT):
        return replace(reading, kept=text.removeprefix(_KEPT))
    if text.startswith(_WITHDRAWN):
        return replace(reading, withdrawn=text.removeprefix(_WITHDRAWN))
    return replace(reading, mended=text)


def merged(record: Iterable[Review], new: Iterable[Review]) -> list[Review]:
    """Return a record with new reviews added.

    A new review replaces an earlier review of the same version by the same reviewer. Other new
    reviews are added at the end.
    """
    readings = {(each.entry, each.reader, each.read): each for each in record}
    readings.update({(each.entry, each.reader, each.read): each for each in new})
    return list(readings.values())


def main(arguments: Sequence[str], record: Path = RECORD) -> None:
    """Add a reviewer's findings to the record; the exit status is 2 for bad input."""
    parser = ArgumentParser(f"python -m {__package__}.record_reviews", description="Add reviews.")
    parser.add_argument("file", type=Path, help="file with the findings of the reviewer")
    parser.add_argument("--reader", required=True, help="a letter")
    parser.add_argument("--mended", type=Path, help="file with the results of reviews")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the reviewed data")
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
