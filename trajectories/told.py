"""What a trajectory tells by itself: the user's words, the config and the function documents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from envs.lazy import lazily
from envs.registry import backend_class
from trajectories.schema import Turn

if TYPE_CHECKING:
    from envs import schema
else:
    # It brings pydantic, which takes longer to load than most runs take to begin.
    schema = lazily("envs.schema")

SECRETS = ("access_token", "password")
"""Members of a config that no function shows."""


def shown(value: Any) -> Any:
    """Return a config or state without what no function shows."""
    if isinstance(value, Mapping):
        return {key: shown(member) for key, member in value.items() if key not in SECRETS}
    return [shown(member) for member in value] if isinstance(value, list) else value


@cache
def documents(backends: tuple[str, ...]) -> str:
    """Return what the function documents tell, defaults and allowed values among it."""
    tools = [tool for name in backends for tool in backend_class(name).TOOLS.values()]
    return json.dumps([schema.spec(tool).json_schema() for tool in tools])


def words(turns: Sequence[Turn]) -> list[str]:
    """Return what the user says in some turns."""
    return [message.content for turn in turns for message in turn.messages]
