"""The strict check of the types of initial configs: unknown keys, missing ones, wrong values."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import ConfigDict, Discriminator, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from envs.errors import ConfigProblem
from envs.state import brief

BY_TYPE = Discriminator("type")
"""Has a union of objects checked as what their ``type`` says, not as any of them."""


@cache
def _adapter(config: type) -> TypeAdapter[Any]:
    config.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[attr-defined]
    return TypeAdapter(config)


def config_schema(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of a backend's initial config.

    Args:
        kind: The config's type.
    """
    return _adapter(kind).json_schema()


def check(backend: str, kind: type, config: object) -> list[ConfigProblem]:
    """Return what does not fit the type of one backend's initial config, in the config's order.

    Args:
        backend: Name of the backend.
        kind: The config's type.
        config: What was given.
    """
    try:
        _adapter(kind).validate_python(config)
    except ValidationError as error:
        return [_problem(f"$.{backend}", kind, config, detail) for detail in error.errors()]
    return []


def _problem(root: str, kind: type, config: object, detail: ErrorDetails) -> ConfigProblem:
    path = root + _path(config, detail["loc"])
    if detail["type"] == "extra_forbidden":
        key = str(detail["loc"][-1])
        known = list(kind.__annotations__) if len(detail["loc"]) == 1 else []
        close = get_close_matches(key, known, n=1)
        advice = f"did you mean {close[0]}?" if close else "remove it"
        return ConfigProblem(path, f"unknown key; {advice}")
    message = detail["msg"][0].lower() + detail["msg"][1:]
    if detail["type"] == "missing":
        return ConfigProblem(path, "is missing")
    return ConfigProblem(path, f"{message}, got {brief(detail['input'], 60)}")


def _path(config: object, location: tuple[int | str, ...]) -> str:
    """Write a pydantic location as a JSON path, without the names of union members in it."""
    path, here = "", config
    for position, step in enumerate(location):
        last = position == len(location) - 1
        if isinstance(here, dict) and (step in here or last):
            path += f".{step}" if str(step).isidentifier() else f"[{step!r}]"
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int):
            path += f"[{step}]"
            here = here[step] if step < len(here) else None
    return path
