"""Settings of a live or scripted judge model, and checks of the model's name."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from envs.errors import DataError
from extensions.judges.episode_brief import Show
from extensions.judges.judge_questions import REPORT, JudgePrompts, JudgeQuestions
from extensions.judges.label_rules import Criterion
from extensions.judges.scripted_judge import ScriptedJudge
from extensions.judges.vote_collection import AnyJudge, LiveJudge
from extensions.judges.votes import JudgeDefinition
from runner.live.run_control import open_replies, secrets_of
from runner.live.run_settings import Settings
from runner.models.model_connection import connect
from runner.models.model_name import ModelName
from runner.models.model_types import Model
from runner.records.run_file_mask import SecretMask
from runner.records.run_store import server_meant


@dataclass(frozen=True)
class JudgeSetting:
    """A judge model with its settings."""

    name: ModelName
    settings: Settings
    """Connection and request settings of a live judge model."""
    prompts: JudgePrompts
    show: Show
    seed: int = 0
    by_turn: bool = False
    """Whether a scripted judge model labels turns instead of episodes."""

    @property
    def is_live(self) -> bool:
        """Whether votes need requests."""
        return self.name.is_live

    @property
    def secrets(self) -> SecretMask:
        """Secrets to mask in files."""
        return SecretMask(secrets_of(self.name, self.settings, os.environ))

    def judge(self, criteria: Sequence[Criterion] = ()) -> AnyJudge:
        """Return the judge model. A judge model with criteria compares two episodes.

        Raises DataError if the name of a scripted judge model is malformed.
        """
        if not self.is_live:
            return ScriptedJudge.named(self.name, self.seed, by_turn=self.by_turn)
        questions = JudgeQuestions(self.prompts, self.settings.mode, criteria)
        asked = {"model": self.name, "forced": questions.tool}
        return LiveJudge(questions, open_replies(self.settings, asked, self.secrets))

    def model(self, tool: str) -> Model | None:
        """Return a client that forces the model to call ``tool``; None for a scripted model.

        Raises DataError if the model cannot be reached with these settings.
        """
        if not self.is_live:
            return None
        options = self.settings.request_options()
        if self.settings.mode == "fc":
            forced = {"type": "function", "function": {"name": tool}}
            options = replace(options, calling={"tool_choice": forced})
        with report_as("--judge"):
            return connect(self.name, options)

    def check(self) -> None:
        """Check the judge model's name and settings before any file is written.

        Raises:
            DataError: The model does not exist, or cannot be reached with these settings.
        """
        self.judge()

        async def connected() -> None:
            model = self.model(REPORT)
            if model is not None:
                await model.close()

        asyncio.run(connected())

    def definition(self, **of: Any) -> JudgeDefinition:
        """Return a record of the judge's settings; ``of`` adds more fields to the record."""
        if not self.is_live:
            asked: Mapping[str, Any] = {"seed": self.seed, "by_turn": self.by_turn}
            return JudgeDefinition(self.name, asked, "", self.show, **of)
        asked = dict(self.settings.defining().to_json())
        if asked["base_url"] is not None:
            asked["base_url"] = [*server_meant(asked["base_url"])]
        return JudgeDefinition(self.name, asked, self.prompts.sha256, self.show, **of)


@contextmanager
def report_as(option: str) -> Iterator[None]:
    """Within this context, error messages begin with ``option``, not with ``--model``."""
    try:
        yield
    except DataError as error:
        text = str(error)
        if not text.startswith("--model: "):
            raise
        raise DataError(option, text.removeprefix("--model: ")) from None


def check_name(name: ModelName, option: str = "--judge", task: str = "judge") -> None:
    """Refuse model names that only ``eval`` supports, such as ``replay:runs/a``.

    Raises DataError for a refused model.
    """
    if not (name.is_hosted or name.is_scripted):
        message = f"{name!r:.80} cannot {task}; use a live model or scripted:SHARE"
        raise DataError(option, message)
