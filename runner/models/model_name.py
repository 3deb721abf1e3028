"""Parser of model names: offline models, replays, Python agents and models on servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from envs.errors import DataError, find_nearest


@dataclass(frozen=True)
class ModelName:
    """Base class of parsed model names."""

    text: str
    is_live: ClassVar[bool] = False
    """True for models on servers and for the user's agent."""
    is_hosted: ClassVar[bool] = False
    plays_entries: ClassVar[bool] = True
    """Whether the model can play changed entries; a recorded run cannot."""

    @property
    def argument(self) -> str:
        """The part of the name after the first colon, such as ``0.1`` in ``scripted:0.1``."""
        return self.text.partition(":")[2]


class OracleName(ModelName):
    """Name of the model that replays the ground truth: ``oracle``."""


class NullName(ModelName):
    """Name of the model that never calls a function: ``null``."""


class ScriptedName(ModelName):
    """Name of a model with planned errors: ``scripted:RATE`` or ``scripted:POLICY``."""


class ReplayName(ModelName):
    """Name of a model that returns the answers of a recorded run: ``replay:PATH``."""

    plays_entries = False

    @property
    def path(self) -> Path:
        """Path of the recorded run."""
        return Path(self.argument)


class AgentName(ModelName):
    """Name of the user's agent: ``python:MODULE:FUNCTION``."""

    is_live = True


class LiveName(ModelName):
    """Name of a model on a server."""

    is_live = is_hosted = True


PREFIXES: Mapping[str, type[ModelName]] = {
    "scripted": ScriptedName,
    "replay": ReplayName,
    "python": AgentName,
}
_WORDS: Mapping[str, type[ModelName]] = {"oracle": OracleName, "null": NullName}
_OFFLINE = ("oracle", "null", "scripted:RATE", "replay:PATH")


def parse_model_name(text: str) -> ModelName:
    """Parse a model name; a name without one of the special forms is a model on a server."""
    prefix, colon, argument = text.partition(":")
    kind = _WORDS.get(text) or (PREFIXES.get(prefix) if colon else None)
    if kind is ReplayName and not argument:
        kind = None
    return (kind or LiveName)(text)


def parse_user_model_name(text: str, base_url: str | None) -> ModelName:
    """Parse the name that the user typed; with a base URL, every name is valid.

    Raises DataError for an empty name, or a misspelled name of an offline model.
    """
    if text in ("", "replay:"):
        raise DataError("--model", f"{text!r} names no model")
    model = parse_model_name(text)
    close = find_nearest(text.lower(), _OFFLINE, least=0.7)
    if isinstance(model, LiveName) and close and not base_url:
        raise DataError("--model", f"{text!r}: did you mean {close}?")
    return model


def agent_name(place: str) -> str:
    """Return the model name of an agent, given ``module:function``."""
    return f"python:{place}"
