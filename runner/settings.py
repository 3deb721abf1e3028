"""What a live run is asked for: a TOML file, overridden by flags, checked key by key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_type_hints

from checkers.profile import Mode
from runner.conversation import ReasoningPolicy
from trajectories.errors import DataError

FunctionDocs = Literal["own", "bfcl"]
"""Whose function documents the model is shown."""


@dataclass(frozen=True)
class Settings:
    """How a model is reached, asked and paid for.

    Attributes:
        base_url: An OpenAI-compatible server, or None for the provider's own.
        mode: Function calling, or calls in text.
        reasoning: What happens to a reasoning model's thoughts in the conversation.
        function_docs: Whose function documents are shown; None for those of the data set.
        prompts: File with the texts put to the model, or None for ours.
        temperature: Sampling parameter; like those below, only sent when given.
        top_p: Sampling parameter.
        seed: Sampling parameter.
        max_tokens: Longest answer, in tokens.
        timeout: Longest time for one request, in seconds.
        extra_headers: Further HTTP headers.
        extra_body: Further members of every request.
        price: US dollars per million tokens, as prompt and completion; None to look it up.
        concurrency: Episodes at once.
        attempts: How often one request is tried.
        max_requests: Stop the run after so many requests.
        max_cost: Stop the run after so many US dollars.
    """

    base_url: str | None = None
    mode: Mode = "fc"
    reasoning: ReasoningPolicy = "drop"
    function_docs: FunctionDocs | None = None
    prompts: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    timeout: float = 120.0
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    price: tuple[float, float] | None = None
    concurrency: int = 16
    attempts: int = 8
    max_requests: int | None = None
    max_cost: float | None = None

    def sampling(self) -> dict[str, Any]:
        """Return the sampling parameters that were given, by the name the server knows."""
        given = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
        }
        return {name: value for name, value in given.items() if value is not None}

    def defining(self) -> dict[str, Any]:
        """Return what defines a run's result: all but how hard it pushes and what it may cost.

        Of headers only the names are given, since their values may be secret.
        """
        pushing = {"concurrency", "attempts", "max_requests", "max_cost", "price", "timeout"}
        kept = {name: value for name, value in asdict(self).items() if name not in pushing}
        return {**kept, "extra_headers": sorted(self.extra_headers)}


def read_settings(path: Path | None, flags: Mapping[str, Any]) -> Settings:
    """Return the settings of a file, overridden by flags.

    Args:
        path: A TOML file with the members of Settings as keys, or None.
        flags: Members by name; None where a flag was not given.

    Raises:
        DataError: The file cannot be read, or a key is unknown or of the wrong type.
    """
    settings = Settings() if path is None else _from_file(path)
    return replace(settings, **{name: value for name, value in flags.items() if value is not None})


def _from_file(path: Path) -> Settings:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(str(path), f"is not valid TOML: {error}") from None
    hints = get_type_hints(Settings)
    names = [member.name for member in fields(Settings)]
    for key, value in given.items():
        if key not in names:
            close = get_close_matches(key, names, n=1)
            advice = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
            raise DataError(f"{path}: {key}", f"unknown key; {advice}")
        given[key] = _checked(value, hints[key], f"{path}: {key}")
    return Settings(**given)


def _checked(value: Any, hint: Any, where: str) -> Any:
    """Return a value that fits a type hint of Settings.

    Raises:
        DataError: It does not fit.
    """
    # pydantic is imported where a file is checked, and a run without a file has none.
    from pydantic import TypeAdapter, ValidationError

    try:
        checked = TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        detail = error.errors()[0]
        raise DataError(where, f"{detail['msg'].lower()}, got {value!r:.60}") from None
    if isinstance(checked, (int, float)) and not isinstance(checked, bool) and checked < 0:
        raise DataError(where, f"must not be negative, got {value!r}")
    return checked
