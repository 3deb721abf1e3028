"""The name of a model, parsed once: what it stands for, and how it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from trajectories.errors import DataError, nearest


@dataclass(frozen=True)
class ModelName:
    """What the user typed, as one of the types below."""

    text: str
    """The whole name."""
    is_live: ClassVar[bool] = False
    """Whether it is asked over a connection, or is the user's own agent."""
    is_hosted: ClassVar[bool] = False
    """Whether a server is asked, so that options on servers apply."""
    plays_entries: ClassVar[bool] = True
    """Whether it answers whatever it is asked, so that entries can be varied."""

    @property
    def argument(self) -> str:
        """What stands behind the first colon."""
        return self.text.partition(":")[2]


class Oracle(ModelName):
    """Plays the ground truth."""


class Null(ModelName):
    """Never calls a function."""


class Scripted(ModelName):
    """Knows the ground truth and falls short of it: ``scripted:RATE`` or ``scripted:POLICY``."""


class Replay(ModelName):
    """Gives the answers of a recorded run: ``replay:PATH``."""

    plays_entries = False

    @property
    def path(self) -> Path:
        """The recorded run."""
        return Path(self.argument)


class Agent(ModelName):
    """The user's own agent: ``python:MODULE:FUNCTION``."""

    is_live = True


class Live(ModelName):
    """A model on a server."""

    is_live = is_hosted = True


PREFIXES: Mapping[str, type[ModelName]] = {"scripted": Scripted, "replay": Replay, "python": Agent}
"""What stands before the colon of names that are not those of live models."""
_WORDS: Mapping[str, type[ModelName]] = {"oracle": Oracle, "null": Null}
_OFFLINE = ("oracle", "null", "scripted:RATE", "replay:PATH")


def parsed(text: str) -> ModelName:
    """Return what a name stands for; any other text is the name of a live model."""
    prefix, colon, argument = text.partition(":")
    kind = _WORDS.get(text) or (PREFIXES.get(prefix) if colon else None)
    if kind is Replay and not argument:
        kind = None
    return (kind or Live)(text)


def chosen(text: str, base_url: str | None) -> ModelName:
    """Return the model that the user named.

    Args:
        text: What the user typed.
        base_url: The server that was named, or None; a server may have a model of any name.

    Raises:
        DataError: The name is empty, or nearly that of a model that needs no server.
    """
    if text in ("", "replay:"):
        raise DataError("--model", f"{text!r} names no model")
    model = parsed(text)
    close = nearest(text.lower(), _OFFLINE, least=0.7)
    if isinstance(model, Live) and close and not base_url:
        raise DataError("--model", f"{text!r}: did you mean {close}?")
    return model


def agent_name(place: str) -> str:
    """Return the name of the user's own agent, given its module and function."""
    return f"python:{place}"
