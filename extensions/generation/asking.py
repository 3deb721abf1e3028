"""A model that is asked for something: known answers first, then through the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from extensions.generation.answers import AnswerLog
from runner.live.budget import Budget
from runner.live.engine import Engine, Limits
from runner.live.loop import ModelAnswer
from runner.models.base import Model, Request
from runner.records.record import Key
from runner.records.replies import ReplyCache


class Asker:
    """One model, with all that is known of its answers.

    Args:
        model: Whom to ask.
        asked: Who that is and how it is asked, without secrets.
        limits: How hard to push.
        log: The answers of this command.
        replies: Those of other commands, or None.
        budget: What may be used, by all models together.
        say: Tells the user a line.

    Attributes:
        engine: Puts its requests.
        requests: How many it was asked now.
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
