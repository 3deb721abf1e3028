"""Execution of the agent's and the user's tool calls by tau2's rules, including solo mode."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from envs.errors import ToolError
from envs.state import copy_json
from envs.tool import Tool, parameter_names
from extensions.tau.desk import Desk

SIDES = ("assistant", "user")


class CallOutcome(NamedTuple):
    """Result of a call."""

    text: str
    """Result as the caller (the agent or the user) reads it."""
    failed: bool
    value: Any = None
    """Value of a success."""


def write_text(value: Any) -> str:
    """Return a string unchanged, and another value as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def call(
    desk: Desk,
    name: str,
    arguments: Mapping[str, Any],
    side: str = "assistant",
    *,
    solo: bool = False,
    syncs: bool = True,
) -> CallOutcome:
    """Execute a call on a desk; a failed call changes the state as in tau2.

    Args:
        desk: World of the domain.
        name: Name of the function.
        arguments: Arguments by name.
        side: Caller, assistant or user.
        solo: Whether the agent has the user's tools, and the user has no tools.
        syncs: Whether a sync follows; gold actions run without.
    """
    refusal = _find_refusal(desk, name, side, solo)
    if refusal is not None:
        return CallOutcome(f"Error: {refusal}", True)
    tool = desk.TOOLS[name]
    wrong = _find_wrong_argument(desk, tool, arguments)
    if wrong is not None:
        return CallOutcome(f"Error: {wrong}", True)
    state = desk.__dict__.copy()
    function = tool.function if syncs else inspect.unwrap(tool.function)
    try:
        value = function(desk, **copy_json(dict(arguments)))
        return CallOutcome(write_text(value), False, value)
    except Exception as error:
        if tool.keeps_on_refusal is None:
            desk.__dict__.update(state)
        said = error.message if isinstance(error, ToolError) else str(error)
        return CallOutcome(f"Error: {said}", True)


def _find_refusal(desk: Desk, name: str, side: str, solo: bool) -> str | None:
    if side == "user" and solo:
        return "User tool calls are not allowed in solo mode"
    if side == "user" and not desk.USER_TOOLS:
        return "User tools not available"
    names = desk.USER_TOOLS if side == "user" else desk.AGENT_TOOLS
    if solo:
        names = desk.AGENT_TOOLS + desk.USER_TOOLS
    return None if name in names else f"Tool '{name}' not found."


def _find_wrong_argument(desk: Desk, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """Return Python's error message for unknown or missing arguments, or None."""
    names, needed = parameter_names(tool)
    title = f"{desk.CLASSES['user' if tool.name in desk.USER_TOOLS else 'assistant']}.{tool.name}"
    for name in arguments:
        if name not in names:
            return f"{title}() got an unexpected keyword argument '{name}'"
    missing = [repr(name) for name in needed if name not in arguments]
    if not missing:
        return None
    plural = "s" if len(missing) > 1 else ""
    listed = missing[0]
    if len(missing) == 2:
        listed = " and ".join(missing)
    elif len(missing) > 2:
        listed = f"{', '.join(missing[:-1])}, and {missing[-1]}"
    return f"{title}() missing {len(missing)} required positional argument{plural}: {listed}"
