"""All answers that a command got of models, in one file, so that it goes on without asking twice.

Everything else is worked out anew from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from runner.models.base import Reply, Request
from runner.records.codec import members_of
from runner.records.ledger import Ledger, LedgerFiles
from runner.records.masking import Secrets
from runner.records.record import Key, Spent
from runner.records.replies import asked_digest

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


class AnswerLog(Ledger[Answered]):
    """The answers of one command, in all its lives.

    Args:
        folder: Where they are kept; made if need be.
        definition: What defines the command, as a JSON object.
        note: What else to keep of the start.
        secrets: What stands in no file: an answer that holds a secret is not kept.

    Attributes:
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
        self.found = 0
        self._secrets = secrets
        self._replies: dict[str, Reply] = {}
        files = LedgerFiles(DEFINITION_FILE, ANSWERS_FILE)
        super().__init__(folder, files, Answered, definition, note)

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
        self._add(answered, self._secrets.of_step(members_of(answered)))

    def _take(self, line: Answered) -> None:
        self.spent = line.spent
        reply = line.reply
        self._replies[line.asked] = reply._replace(tool_calls=tuple(reply.tool_calls))
