"""Log of a command's model answers; the command can be resumed from the log.

A resumed command uses these answers in place of new requests, and computes the results again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from extensions.judges.ledger import Ledger, LedgerFiles
from runner.live.budget import Budget
from runner.live.engine import JobEngine, RequestLimits
from runner.live.episode_player import ModelAnswer
from runner.models.model_types import Model, Reply, Request
from runner.records.episode_record import Key, RunSpending
from runner.records.json_codec import members_of
from runner.records.reply_cache import ReplyCache, request_digest
from runner.records.run_file_mask import SecretMask

DEFINITION_FILE = "definition.json"
"""Name of the file with the command's definition, the start time and the command line."""
ANSWERS_FILE = "answers.jsonl"
"""File with one line per answer."""


class AnswerRecord(NamedTuple):
    """One answer: a line of ``answers.jsonl``."""

    asked: str
    """Hexadecimal hash of the model, its settings and the request."""
    about: str
    """Purpose of the request, such as a task and ``write``."""
    draw: int
    """Index of the request among all requests with this purpose."""
    reply: Reply
    spent: RunSpending
    """Budget spent up to this answer."""


class AnswerLog(Ledger[AnswerRecord]):
    """Log of the model answers of one command, across all resumes.

    ``found`` counts the stored answers that replaced a request. An answer with a secret is not
    stored.

    Raises:
        DataError: The folder belongs to another command, is in use, or cannot be read or written.
    """

    def __init__(
        self,
        folder: Path,
        definition: Mapping[str, Any],
        note: Mapping[str, Any],
        secrets: SecretMask,
    ) -> None:
        self.found = 0
        self._secrets = secrets
        self._replies: dict[str, Reply] = {}
        files = LedgerFiles(DEFINITION_FILE, ANSWERS_FILE)
        super().__init__(folder, files, AnswerRecord, definition, note)

    def find(self, asked: Mapping[str, Any], about: Key, request: Request) -> Reply | None:
        """Return the stored answer to a request, or None."""
        reply = self._replies.get(request_digest(asked, about, request))
        self.found += reply is not None
        return reply

    def keep(
        self,
        asked: Mapping[str, Any],
        about: Key,
        request: Request,
        reply: Reply,
        spent: RunSpending,
    ) -> None:
        """Write an answer to the file.

        Raises DataError if the file cannot be written.
        """
        answered = AnswerRecord(request_digest(asked, about, request), *about, reply, spent)
        self._add(answered, self._secrets.of_step(members_of(answered)))

    def _take(self, line: AnswerRecord) -> None:
        self.spent = line.spent
        reply = line.reply
        self._replies[line.asked] = reply._replace(tool_calls=tuple(reply.tool_calls))


class CachedModel:
    """Model that sends a request only if the log and the shared cache do not have the answer.

    ``asked`` contains the model's name and settings, without secrets. ``requests`` counts the new
    requests. All models of a command share one budget.
    """

    def __init__(
        self,
        model: Model,
        asked: Mapping[str, Any],
        limits: RequestLimits,
        log: AnswerLog,
        replies: ReplyCache | None,
        budget: Budget,
        say: Callable[[str], object],
    ) -> None:
        self._model = model
        self._asked = asked
        self._log = log
        self._replies = replies
        self.engine: JobEngine[Any, Any] = JobEngine(model, limits, Random(0), budget, say=say)
        self.requests = 0

    async def ask(self, about: Key, request: Request) -> ModelAnswer:
        """Return the answer to a request, from a cache if possible.

        Raises:
            RunStopped: The command is being stopped.
            ModelError: The request failed.
            DataError: The answer cannot be written.
        """
        known = self._log.find(self._asked, about, request)
        if known is None and self._replies is not None:
            known = self._replies.find(about, request)
        if known is not None:
            await asyncio.sleep(0)
            return ModelAnswer(known, 0)
        answer = await self.engine.ask(request._replace(trial=about[1]))
        self.requests += answer.attempts
        self._log.keep(self._asked, about, request, answer.reply, self.engine.budget.spent)
        if self._replies is not None:
            self._replies.keep(about, request, answer.reply)
        return answer

    async def close(self) -> None:
        """Close the connection."""
        await self._model.close()
