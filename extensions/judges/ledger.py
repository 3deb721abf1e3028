"""Ledger: a folder with a JSON Lines file and its settings.

If a process is killed, the last line can be unfinished; the next process removes such a line.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from envs.errors import DataError
from runner.records.durable_files import (
    LineFile,
    LockedFolder,
    lock_folder,
    report_write_errors,
    sync_folder,
    write_whole,
)
from runner.records.episode_record import RunSpending
from runner.records.json_codec import read
from trajectories.jsonl import parse_object, read_text

FORMAT = 1

AnyLine = TypeVar("AnyLine")


class LedgerFiles(NamedTuple):
    """Names of a ledger's two files."""

    head: str
    """File with the settings of the judging, its start time and its command."""
    lines: str


class Ledger(LockedFolder, ABC, Generic[AnyLine]):
    """File of lines in a folder. One process at a time writes; a later process can continue.

    Args:
        folder: Created if missing.
        files: Names of the ledger's files.
        kind: Type of a line.
        definition: Settings that define the lines, as a JSON object.
        note: Other facts about the start.

    Raises:
        DataError: The folder has another definition, is in use, or cannot be read or written.
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
        self.spent = RunSpending()
        """Requests, tokens and cost of the lines in the file."""
        with report_write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            opened.enter_context(lock_folder(folder))
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
        """Register a line, and set the ledger's total spending to the total in the line."""

    def _add(self, line: AnyLine, raw: bytes | None) -> None:
        """Append ``raw``, the line's JSON, to the file, and register the line.

        If the line contains a secret, ``raw`` is None and the line is not written. Raises DataError
        if the file cannot be written.
        """
        if raw is not None:
            self._file.append(raw)
        self._take(line)


def read_definition(path: Path) -> dict[str, Any]:
    """Return the definition in a ledger's file as JSON.

    Raises DataError if the file cannot be read.
    """
    head = parse_object(read_text(path), str(path))
    if head.get("format") != FORMAT or not isinstance(head.get("definition"), dict):
        raise DataError(str(path), f'must have format {FORMAT} and contain an object "definition"')
    definition: dict[str, Any] = head["definition"]
    return definition


def _begin(path: Path, definition: Mapping[str, Any], note: Mapping[str, Any]) -> None:
    """Write the definition of a new ledger; check that an existing ledger has the same definition.

    Raises DataError if the definitions differ.
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
            raise DataError(str(path.parent), f"has other settings: {name} was {told}")
