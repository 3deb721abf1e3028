"""Values in a trajectory's user messages, config and function documents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from envs.registry import backend_class
from trajectories.schema import Turn

if TYPE_CHECKING:
    from envs import schema
else:
    # Imports pydantic, which is slow to load.
    schema = lazy_module("envs.schema")

SECRETS = ("access_token", "password")
"""Config fields with secrets, which no function returns."""


def shown(value: Any) -> Any:
    """Return a copy of a config or state without the secret fields."""
    if isinstance(value, Mapping):
        return {key: shown(member) for key, member in value.items() if key not in SECRETS}
    return [shown(member) for member in value] if isinstance(value, list) else value


@cache
def write_documents(backends: tuple[str, ...]) -> str:
    """Return the function documents as JSON, with defaults and allowed values."""
    tools = [tool for name in backends for tool in backend_class(name).TOOLS.values()]
    return json.dumps([schema.make_spec(tool).json_schema() for tool in tools])


def list_messages(turns: Sequence[Turn]) -> list[str]:
    """Return the messages of the given turns."""
    return [message.content for turn in turns for message in turn.messages]
