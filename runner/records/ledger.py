"""Lines of one kind in a folder of their own, beside a file that says what defines them.

A line is added in one piece as the lines of a run are: a killed process leaves at most an
unfinished last line, which the next one cuts off.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from runner.records.codec import read
from runner.records.files import HeldFolder, LineFile, locked, sync_folder, write_whole, writing
from runner.records.record import Spent
from trajectories.errors import DataError
from trajectories.jsonl import parse_object, read_text

FORMAT = 1

AnyLine = TypeVar("AnyLine")


class LedgerFiles(NamedTuple):
    """How the two files of a ledger are named."""

    head: str
    """What defines it, and what else is worth knowing of its start."""
    lines: str


class Ledger(HeldFolder, ABC, Generic[AnyLine]):
    """The lines of one folder, in all its lives; written by one process at a time.

    Args:
        folder: Where they are kept; made if need be.
        files: How its files are named.
        kind: What a line is.
        definition: What defines the lines, as a JSON object.
        note: What else to keep of the start.

    Attributes:
        folder: Where they are kept.
        spent: What has been used for them.

    Raises:
        DataError: The folder was begun otherwise, is in use, or cannot be read or written.
    """

    def __init__(
        self,
        folder: Path,
        files: LedgerFiles,
        kind: type[AnyLine],
        definition: Mapping[str, Any],
        note: Mapping[str, Any],
    ) -> None:
        self.folder = folder
        self.spent = Spent()
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            opened.enter_context(locked(folder))
            _begin(folder / files.head, definition, note)
            self._file = LineFile(folder / files.lines)
            opened.callback(self._file.close)
            for line in self._file.mended():
                self._take(read(kind, line.value, line.where))
            sync_folder(folder)
            opened.callback(self._file.sync)
            self._opened = opened.pop_all()

    @abstractmethod
    def _take(self, line: AnyLine) -> None:
        """Take note of a line that is kept, and of what had been used by then."""

    def _add(self, line: AnyLine, raw: bytes | None) -> None:
        """Add a line as it is to be written, or only take note of it where it is not to be.

        Raises:
            DataError: The file cannot be written.
        """
        if raw is not None:
            self._file.append(raw)
        self._take(line)


def read_definition(path: Path) -> dict[str, Any]:
    """Return what defines a ledger, of the file that says it, as JSON.

    Raises:
        DataError: The file cannot be read.
    """
    head = parse_object(read_text(path), str(path))
    if head.get("format") != FORMAT or not isinstance(head.get("definition"), dict):
        raise DataError(str(path), f'must be of format {FORMAT} and hold an object "definition"')
    definition: dict[str, Any] = head["definition"]
    return definition


def _begin(path: Path, definition: Mapping[str, Any], note: Mapping[str, Any]) -> None:
    """Write what defines a ledger, or see that the same began it.

    Raises:
        DataError: Another one did.
    """
    whole = {"format": FORMAT, "definition": definition, "note": note}
    if not path.exists():
        write_whole(path, [f"{json.dumps(whole, indent=2, allow_nan=False)}\n".encode()])
        return
    begun = read_definition(path)
    mine = json.loads(json.dumps(definition))
    for name in {**mine, **begun}:
        if begun.get(name) != mine.get(name):
            told = f"{begun.get(name)!r:.60}, now {mine.get(name)!r:.60}"
            raise DataError(str(path.parent), f"was begun otherwise: {name} was {told}")
