"""All answers that a command got of models, in one file, so that it goes on without asking twice.

The folder has what defines the command, and a line per answer, added in one piece as the lines of a
run are. Everything else is worked out anew from them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from runner.models.base import Reply, Request
from runner.records.codec import members_of, read
from runner.records.files import LineFile, locked, sync_folder, write_whole, writing
from runner.records.masking import Secrets
from runner.records.record import Key, Spent
from runner.records.replies import asked_digest
from trajectories.errors import DataError
from trajectories.jsonl import parse_object, read_text

FORMAT = 1
DEFINITION_FILE = "definition.json"
"""What defines the command, and what else is worth knowing of its start."""
ANSWERS_FILE = "answers.jsonl"
"""One line per answer."""


class Answered(NamedTuple):
    """One answer: a line of ``answers.jsonl``."""

    asked: str
    """Hash of whom and what was asked, in hex."""
    about: str
    """For what."""
    draw: int
    """Which time, from 0."""
    reply: Reply
    spent: Spent
    """What had been used by then."""


class AnswerLog:
    """The answers of one command, in all its lives; written by one process at a time.

    Args:
        folder: Where they are kept; made if need be.
        definition: What defines the command, as a JSON object.
        note: What else to keep of the start.
        secrets: What stands in no file: an answer that holds a secret is not kept.

    Attributes:
        spent: What has been used for them.
        found: How many answers were there already when they were needed.

    Raises:
        DataError: The folder is another command's, is in use, or cannot be read or written.
    """

    def __init__(
        self,
        folder: Path,
        definition: Mapping[str, Any],
        note: Mapping[str, Any],
        secrets: Secrets,
    ) -> None:
        self.spent = Spent()
        self.found = 0
        self._secrets = secrets
        self._replies: dict[str, Reply] = {}
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            opened.enter_context(locked(folder))
            _begin(folder, definition, note)
            self._file = LineFile(folder / ANSWERS_FILE)
            opened.callback(self._file.close)
            for line in self._file.mended():
                self._take(read(Answered, line.value, line.where))
            sync_folder(folder)
            opened.callback(self._file.sync)
            self._opened = opened.pop_all()

    def find(self, asked: Mapping[str, Any], about: Key, request: Request) -> Reply | None:
        """Return the answer to a request, where there is one."""
        reply = self._replies.get(asked_digest(asked, about, request))
        self.found += reply is not None
        return reply

    def keep(
        self, asked: Mapping[str, Any], about: Key, request: Request, reply: Reply, spent: Spent
    ) -> None:
        """Add an answer, which from then on survives the end of this process.

        Raises:
            DataError: The file cannot be written.
        """
        answered = Answered(asked_digest(asked, about, request), *about, reply, spent)
        raw = self._secrets.of_step(members_of(answered))
        if raw is not None:
            self._file.append(raw)
        self._take(answered)

    def __enter__(self) -> AnswerLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened.close()

    def _take(self, answered: Answered) -> None:
        self.spent = answered.spent
        reply = answered.reply
        self._replies[answered.asked] = reply._replace(tool_calls=tuple(reply.tool_calls))


def _begin(folder: Path, definition: Mapping[str, Any], note: Mapping[str, Any]) -> None:
    """Write what defines a command, or see that it is the same that began it.

    Raises:
        DataError: It is another one.
    """
    path = folder / DEFINITION_FILE
    whole = {"format": FORMAT, "definition": definition, "note": note}
    if not path.exists():
        write_whole(path, [f"{json.dumps(whole, indent=2, allow_nan=False)}\n".encode()])
        return
    begun = parse_object(read_text(path), str(path))
    mine = json.loads(json.dumps(definition))
    if begun.get("format") != FORMAT or not isinstance(begun.get("definition"), dict):
        raise DataError(str(path), f'must be of format {FORMAT} and hold an object "definition"')
    for name in {**mine, **begun["definition"]}:
        if begun["definition"].get(name) != mine.get(name):
            told = f"{begun['definition'].get(name)!r:.60}, now {mine.get(name)!r:.60}"
            raise DataError(str(folder), f"was begun otherwise: {name} was {told}")
