"""All answers that a command got of models, in one file, so that it goes on without asking twice.

Everything else is worked out anew from them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from runner.live.budget import Budget
from runner.live.engine import Engine, Limits
from runner.live.loop import ModelAnswer
from runner.models.base import Model, Reply, Request
from runner.records.codec import members_of
from runner.records.ledger import Ledger, LedgerFiles
from runner.records.masking import Secrets
from runner.records.record import Key, Spent
from runner.records.replies import ReplyCache, asked_digest

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

    ``found`` counts the answers that were there already when they were needed. An answer that holds
    a secret is not kept.

    Raises:
        DataError: The folder is another command's, is in use, or cannot be read or written.
    """

    def __init__(
        self, folder: Path, definition: Mapping[str, Any], note: Mapping[str, Any], secrets: Secrets
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


class Asker:
    """One model: known answers first, of this command and of others, then through the engine.

    ``asked`` says without secrets who the model is and how it is asked; ``requests`` counts what it
    was asked now. All models share one budget.
    """

    def __init__(
        self,
        model: Model,
        asked: Mapping[str, Any],
        limits: Limits,
        log: AnswerLog,
        replies: ReplyCache | None,
        budget: Budget,
        say: Callable[[str], object],
    ) -> None:
        self._model = model
        self._asked = asked
        self._log = log
        self._replies = replies
        self.engine: Engine[Any, Any] = Engine(model, limits, Random(0), budget, say=say)
        self.requests = 0

    async def ask(self, about: Key, request: Request) -> ModelAnswer:
        """Return the answer to a request; none is asked for twice.

        Raises:
            Stopped: The command is being stopped.
            ModelError: There is no answer to be had.
            DataError: It cannot be kept.
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
        """Let go of the connection."""
        await self._model.close()
