"""Parser of model names: offline models, replays, Python agents and models on servers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from envs.errors import DataError, find_nearest


class ModelName(str):
    """Name of a model; the subclass tells how the model runs. In files, the name is a string."""

    __slots__ = ()
    is_live: ClassVar[bool] = False
    """True for models on servers and for the user's agent."""
    is_hosted: ClassVar[bool] = False
    is_agent: ClassVar[bool] = False
    is_scripted: ClassVar[bool] = False
    """Whether the model replays the ground truth with planned errors."""
    makes_calls: ClassVar[bool] = True
    takes_features: ClassVar[bool] = False
    """Whether extensions can add features to an offline run of the model."""
    plays_entries: ClassVar[bool] = True
    """Whether the model can play changed entries; a recorded run cannot."""

    @property
    def argument(self) -> str:
        """The part of the name after the first colon, such as ``0.1`` in ``scripted:0.1``."""
        return self.partition(":")[2]

    @property
    def recording(self) -> Path | None:
        """Path of the recorded run that the model replays, or None."""
        return None

    def check(self, base_url: str | None) -> None:
        """Check a name that the user typed; with a base URL, every name is valid.

        Raises DataError for an empty name, or a misspelled name of an offline model.
        """

    def make_refusal(self, flag: str, accepting: str = "live models") -> DataError:
        """Return the error for an option that only the models in ``accepting`` accept."""
        return DataError(flag, f"only {accepting} accept this option; omit it for {self}")


class OracleName(ModelName):
    """Name of the model that replays the ground truth: ``oracle``."""

    __slots__ = ()
    takes_features = True


class NullName(ModelName):
    """Name of the model that never calls a function: ``null``."""

    __slots__ = ()
    makes_calls = False
    takes_features = True


class ScriptedName(ModelName):
    """Name of a model with planned errors: ``scripted:RATE`` or ``scripted:POLICY``."""

    __slots__ = ()
    is_scripted = True


class ReplayName(ModelName):
    """Name of a model that returns the answers of a recorded run: ``replay:PATH``."""

    __slots__ = ()
    plays_entries = False

    @property
    def recording(self) -> Path:
        """Path of the recorded run."""
        return Path(self.argument)


class AgentName(ModelName):
    """Name of the user's agent: ``python:MODULE:FUNCTION``."""

    __slots__ = ()
    is_live = is_agent = True


class LiveName(ModelName):
    """Name of a model on a server."""

    __slots__ = ()
    is_live = is_hosted = True

    def check(self, base_url: str | None) -> None:
        """Refuse a name that is empty, or similar to the name of an offline model."""
        if self in ("", "replay:"):
            raise DataError("--model", f"{self!r} names no model")
        close = find_nearest(self.lower(), _OFFLINE, least=0.7)
        if close and not base_url:
            raise DataError("--model", f"{self!r}: did you mean {close}?")


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


def agent_name(place: str) -> AgentName:
    """Return the model name of an agent, given ``module:function``."""
    return AgentName(f"python:{place}")
