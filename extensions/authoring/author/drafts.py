"""Drafts of entries; each draft is a JSON file that is rewritten whenever the draft changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from envs.errors import DataError
from runner.records.durable_files import write_whole
from trajectories.jsonl import parse_object, read_text
from trajectories.record_validation import validate_record

_KEY = re.compile(r"[0-9a-f]{16}")
_MAX_DRAFTS = 500


class Draft(NamedTuple):
    """Entry that a person is writing."""

    entry: dict[str, Any]
    """The entry as a JSON object, which may still be invalid."""
    base: str | None = None
    """Version that the saved entry had when this draft was created; None if the entry is new."""
    revision: int = 0
    """Number of changes so far. A change that starts from an older revision is refused."""

    @property
    def id(self) -> str:
        """Id of the entry; empty if the draft has no id."""
        id = self.entry.get("id")
        return id if isinstance(id, str) else ""


_ADAPTER = TypeAdapter(Draft)


class DraftFolder:
    """Folder of drafts; a draft's key is its file name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def is_full(self) -> bool:
        """Whether the folder has the maximum number of drafts."""
        return sum(1 for _ in self._folder.glob("*.json")) >= _MAX_DRAFTS

    def all(self) -> Iterator[tuple[str, Draft]]:
        """Yield each draft with its key; skip damaged files."""
        for path in sorted(self._folder.glob("*.json")):
            if _KEY.fullmatch(path.stem):
                try:
                    yield path.stem, self.read(path.stem)
                except DataError:
                    continue

    def read(self, key: str) -> Draft:
        """Return a draft. Raises DataError if the draft does not exist or is damaged."""
        path = self._path(key)
        if not path.is_file():
            raise DataError("draft", f"{key} does not exist; open the entry again")
        return validate_record(_ADAPTER, parse_object(read_text(path), str(path)), str(path))

    def create(self, entry: dict[str, Any], base: str | None = None) -> str:
        """Store a new draft and return its key. Raises DataError if there are too many drafts."""
        if self.is_full:
            raise DataError(str(self._folder), f"has {_MAX_DRAFTS} drafts; discard some of them")
        key = token_hex(8)
        self._write(key, Draft(entry, base))
        return key

    def change(self, key: str, revision: int, entry: dict[str, Any], base: str | None) -> Draft:
        """Replace a draft. Raises DataError if ``revision`` is not the draft's newest revision."""
        before = self.read(key)
        if before.revision != revision:
            raise DataError("draft", "another window has changed this draft; reload the page")
        after = Draft(entry, base, revision + 1)
        self._write(key, after)
        return after

    def discard(self, key: str) -> None:
        """Delete a draft, if it exists."""
        self._path(key).unlink(missing_ok=True)

    def _write(self, key: str, draft: Draft) -> None:
        write_whole(self._path(key), [json.dumps(draft._asdict()).encode()])

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise DataError("draft", f"{key!r:.40} is not the key of a draft")
        return self._folder / f"{key}.json"
