"""Execution of AgentDojo's tools: arguments are read as AgentDojo reads them; results are text."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from envs.lazy_modules import lazy_module
from extensions.injection.dojo import agentdojo_package

yaml = lazy_module("yaml")

_MAX_LIST_CHARS = 100_000


class ToolResult(NamedTuple):
    """Result of a tool as text, or the tool's error message."""

    text: str
    is_error: bool


def call(suite: str, environment: Any, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Call a tool on an environment. An error does not undo the changes of the call."""
    if name not in known_tools(suite):
        return ToolResult(f"Invalid tool {name[:100]} provided.", is_error=True)
    given = {key: _as_list(value) for key, value in arguments.items()}
    value, error = agentdojo_package.run_tool(suite, environment, name, given)
    if error is not None:
        return ToolResult(error, is_error=True)
    try:
        return ToolResult(_text(value), is_error=False)
    except TypeError as fault:
        return ToolResult(f"TypeError: {fault}", is_error=True)


def known_tools(suite: str) -> Mapping[str, Any]:
    """Return the tools of a suite by name."""
    return {tool.name: tool for tool in agentdojo_package.suite(suite).tools}


def _as_list(value: Any) -> Any:
    """Convert a string that contains a Python list to the list; return other values unchanged."""
    if (
        not isinstance(value, str)
        or not value.lstrip().startswith("[")
        or len(value) > _MAX_LIST_CHARS
    ):
        return value
    try:
        found = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return value
    return found if isinstance(found, list) else value


def _text(value: Any) -> str:
    if hasattr(value, "model_dump"):
        return _yaml(value.model_dump())
    if not isinstance(value, list):
        return str(value)
    if not value:
        return "[]"
    plain = []
    for member in value:
        if hasattr(member, "model_dump"):
            plain.append(member.model_dump())
        elif type(member) in (str, int):
            plain.append(member)
        else:
            raise TypeError(f"a list with {type(member).__name__} cannot be shown")
    return _yaml(plain)


def _yaml(value: Any) -> str:
    found: str = yaml.safe_dump(value, default_flow_style=False).strip()
    return found
