"""Data file that several people edit, with the version and the reviews of each entry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import sleep
from typing import IO, Any, NamedTuple

from envs.errors import DataError
from extensions.authoring.review_status import (
    EntryReviewStatus,
    Review,
    ReviewOutcome,
    contradictions,
    read_record,
    to_json,
)
from runner.records.durable_files import LOCK_FILE, WriteError, lock_folder, write_whole
from trajectories.dataset import read_trajectory
from trajectories.jsonl import parse_object, read_text
from trajectories.record_validation import to_json as entry_json
from trajectories.schema import Trajectory

REVIEWS = "reviews.jsonl"
LOCK_ATTEMPTS = 60
_LOCK_PAUSE = 0.05
"""Seconds between two attempts to lock the file."""
_MAX_NAME_CHARS = 60


def author_folder(path: Path) -> Path:
    """Return the folder for a data file's drafts and reviews; the folder is next to the file."""
    return path.with_name(f"{path.name}.author")


def entry_version(trajectory: Trajectory) -> str:
    """Return the version of an entry: 16 hex digits of a hash of all fields."""
    text = json.dumps(entry_json(trajectory), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def check_name(name: str) -> str:
    """Return the name of an author or reviewer. Raises DataError if the name is invalid."""
    found = name.strip()
    if not found.isprintable() or not 1 <= len(found) <= _MAX_NAME_CHARS:
        raise DataError("name", f"must have 1 to {_MAX_NAME_CHARS} printable characters")
    return found


class _Line(NamedTuple):
    text: str
    trajectory: Trajectory


class EntryFile:
    """JSON lines file of entries; every change replaces the file as a whole.

    The lines of unchanged entries keep their exact text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = author_folder(path)
        self._writing = Lock()

    def entries(self) -> dict[str, Trajectory]:
        """Return the entries by id; without a file, return an empty dict.

        Raises DataError if the file is invalid.
        """
        return {line.trajectory.id: line.trajectory for line in self._lines()}

    def save(self, trajectory: Trajectory, base: str | None) -> str:
        """Add or replace an entry and return its version.

        ``base`` is the version to replace; None adds a new entry. Raises DataError if the file has
        another version of the entry, or cannot be written.
        """
        line = _Line(json.dumps(entry_json(trajectory), ensure_ascii=False), trajectory)
        with self._alone():
            lines = list(self._lines())
            found = [n for n, each in enumerate(lines) if each.trajectory.id == trajectory.id]
            now = entry_version(lines[found[0]].trajectory) if found else None
            if found and now != base:
                why = "was changed by somebody else" if base else "already exists"
                advice = "save this draft under another id, or open the saved entry"
                raise DataError(str(self.path), f"the entry {trajectory.id} {why}; {advice}")
            if found:
                lines[found[0]] = line
            else:
                lines.append(line)
            write_whole(self.path, (f"{each.text}\n".encode() for each in lines), named=True)
        return entry_version(trajectory)

    def reviews(self) -> list[Review]:
        """Return the reviews of the entries. Raises DataError if the file of reviews is damaged."""
        path = self.folder / REVIEWS
        return read_record(path, contradictions) if path.is_file() else []

    def review(self, id: str, version: str, reviewer: str, found: str, reason: str = "") -> None:
        """Store a review. It replaces the reviewer's earlier review of the same version.

        Raises DataError if the file has another version of the entry, or the review is invalid.
        """
        if found not in list(ReviewOutcome):
            raise DataError("class", f"{found!r:.40} must be {', '.join(ReviewOutcome)}")
        new = Review(id, check_name(reviewer), ReviewOutcome(found), version, reason.strip())
        for problem in contradictions(new):
            raise DataError("review", problem)
        with self._alone():
            saved = self.entries().get(id)
            if saved is None or entry_version(saved) != version:
                raise DataError("review", f"{id} has unsaved changes; save the entry first")
            key = (new.entry, new.reader, new.read)
            kept = [each for each in self.reviews() if (each.entry, each.reader, each.read) != key]
            lines = [json.dumps(to_json(each), ensure_ascii=False) for each in (*kept, new)]
            write_whole(self.folder / REVIEWS, (f"{line}\n".encode() for line in lines))

    def statuses(self, entries: Mapping[str, Trajectory]) -> dict[str, EntryReviewStatus]:
        """Map the ids of entries to their review statuses."""
        found: dict[str, list[Review]] = {id: [] for id in entries}
        for review in self.reviews():
            found.get(review.entry, []).append(review)
        return {
            id: EntryReviewStatus(id, entry_version(entries[id]), tuple(reviews))
            for id, reviews in found.items()
        }

    def _lines(self) -> Iterator[_Line]:
        if not self.path.exists():
            return
        known: set[str] = set()
        for number, text in enumerate(read_text(self.path).split("\n"), start=1):
            if not text.strip():
                continue
            where = f"{self.path}:{number}"
            trajectory = read_trajectory(parse_object(text, where), where)
            if trajectory.id in known:
                raise DataError(where, f"the id {trajectory.id!r} is used twice")
            known.add(trajectory.id)
            yield _Line(text, trajectory)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the file against changes by other threads and processes."""
        self.folder.mkdir(exist_ok=True)
        with self._writing, self._lock():
            yield

    def _lock(self) -> IO[str]:
        for _ in range(LOCK_ATTEMPTS):
            try:
                return lock_folder(self.folder)
            except WriteError:
                raise
            except DataError:
                sleep(_LOCK_PAUSE)
        raise DataError(str(self.folder), f"another process has locked {LOCK_FILE}; save later")


def review_json(status: EntryReviewStatus) -> dict[str, Any]:
    """Return the review status of an entry for a page."""
    return {
        "state": status.state.value,
        "changed": bool(status.readings) and not status.is_read_as_it_is,
        "reviews": [
            {"reviewer": r.reader, "class": r.found.value, "reason": r.reason, "current": now}
            for r in status.readings
            for now in [r.read == status.now]
        ],
    }
