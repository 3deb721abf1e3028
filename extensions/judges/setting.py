"""Who judges and how: a live model or a scripted one, what defines it, and where its votes go."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from extensions.judges.ask import REPORT, JudgePrompts, Questions
from extensions.judges.brief import Show
from extensions.judges.judging import Criterion
from extensions.judges.scripted import ScriptedJudge
from extensions.judges.sitting import AnyJudge, LiveJudge
from extensions.judges.votes import JudgeDefinition
from runner.data.cache import replies_folder
from runner.live.conduct import secrets_of
from runner.live.settings import Settings
from runner.models.base import Model
from runner.models.connect import connect
from runner.models.model_name import parsed
from runner.records.masking import Secrets
from runner.records.replies import ReplyCache
from runner.records.secret import command_without
from runner.records.store import server_meant
from trajectories.errors import DataError

NOBODY = ("oracle", "null", "replay:", "python:")
"""Models of runs that judge nothing."""


@dataclass(frozen=True)
class JudgeSetting:
    """Who judges, and how.

    Attributes:
        name: The judge's.
        settings: How a live one is reached and asked.
        prompts: What it is told.
        show: What it is shown.
        seed: Of a scripted one.
        by_turn: Whether a scripted one takes each turn by itself.
    """

    name: str
    settings: Settings
    prompts: JudgePrompts
    show: Show
    seed: int = 0
    by_turn: bool = False

    @property
    def is_live(self) -> bool:
        """Whether a model is asked."""
        return parsed(self.name).is_live

    @property
    def secrets(self) -> Secrets:
        """What stands in no file."""
        return Secrets(secrets_of(self.name, self.settings, os.environ))

    def judge(self, criteria: Sequence[Criterion] = ()) -> AnyJudge:
        """Return the judge; of two episodes at a time where there are criteria.

        Raises:
            DataError: The name of a scripted one makes no sense.
        """
        if not self.is_live:
            return ScriptedJudge.named(self.name, self.seed, by_turn=self.by_turn)
        questions = Questions(self.prompts, self.settings.mode, criteria)
        return LiveJudge(questions, self._replies(questions.tool))

    def model(self, tool: str) -> Model | None:
        """Return a client that has to call a function where it can; None of a scripted judge.

        Raises:
            DataError: It cannot be reached that way.
        """
        if not self.is_live:
            return None
        options = self.settings.request_options()
        if self.settings.mode == "fc":
            forced = {"type": "function", "function": {"name": tool}}
            options = replace(options, calling={"tool_choice": forced})
        with _as_judge():
            return connect(self.name, options)

    def check(self) -> None:
        """See that there is such a judge, before anything is made of it.

        Raises:
            DataError: There is none, or it cannot be reached that way.
        """
        self.judge()

        async def connected() -> None:
            model = self.model(REPORT)
            if model is not None:
                await model.close()

        asyncio.run(connected())

    def definition(self, **of: Any) -> JudgeDefinition:
        """Return what defines the votes; ``of`` are members of the definition."""
        if not self.is_live:
            asked: Mapping[str, Any] = {"seed": self.seed, "by_turn": self.by_turn}
            return JudgeDefinition(self.name, asked, "", self.show, **of)
        asked = dict(self.settings.defining().to_json())
        if asked["base_url"] is not None:
            asked["base_url"] = [*server_meant(asked["base_url"])]
        return JudgeDefinition(self.name, asked, self.prompts.sha256, self.show, **of)

    def note(self, command: Sequence[str]) -> Mapping[str, Any]:
        """Return what else to keep of the start."""
        now = datetime.now().isoformat(timespec="seconds")
        return {"created": now, "command": command_without(command)}

    def _replies(self, tool: str) -> ReplyCache | None:
        settings = self.settings
        if settings.reply_cache is None:
            return None
        folder = Path(settings.reply_cache) if settings.reply_cache else replies_folder()
        asked = {"model": self.name, **settings.of_requests(), "forced": tool}
        return ReplyCache(folder, asked, self.secrets)


@contextmanager
def _as_judge() -> Iterator[None]:
    """Name the option that is meant where a model cannot be used."""
    try:
        yield
    except DataError as error:
        text = str(error)
        if not text.startswith("--model: "):
            raise
        raise DataError("--judge", text.removeprefix("--model: ")) from None


def check_name(name: str) -> None:
    """Refuse names that stand for something else elsewhere.

    Raises:
        DataError: It is one.
    """
    for other in NOBODY:
        if name == other or (other.endswith(":") and name.startswith(other)):
            raise DataError("--judge", f"{name!r} judges nothing; name a model or scripted:SHARE")
