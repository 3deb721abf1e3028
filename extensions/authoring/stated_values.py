"""Values in a trajectory's config and function documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from envs.registry import backend_class
from envs.schema import make_spec

SECRETS = ("access_token", "password")
"""Config fields that contain secrets."""


def shown(value: Any) -> Any:
    """Return a copy of a config or state without the secret fields."""
    if isinstance(value, Mapping):
        return {key: shown(member) for key, member in value.items() if key not in SECRETS}
    return [shown(member) for member in value] if isinstance(value, list) else value


@cache
def write_documents(backends: tuple[str, ...]) -> str:
    """Return the function documents as JSON, with defaults and allowed values."""
    tools = [tool for name in backends for tool in backend_class(name).TOOLS.values()]
    return json.dumps([make_spec(tool).json_schema() for tool in tools])
