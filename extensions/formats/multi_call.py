"""One tool for all: an object with a nullable member per function, for models that call one tool.

Its members are called in the order in which they were written. A list stands for several calls of
one function.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from envs.calls import Call, read_json
from runner.models.base import ChatMessage, ToolCall
from runner.models.protocols.base import Native, Tool
from runner.models.protocols.tools import message

NAME = "multi_call"
_ABOUT = (
    "Call any of these functions, in the order of the members; null, or left out, where a function "
    "is not called, a list of objects where it is called more than once. The result has a member "
    "for each function."
)


def show(tools: Sequence[Tool]) -> list[Tool]:
    """Send one tool with a member per function."""
    functions = [tool["function"] for tool in tools]
    members = {
        each["name"]: {
            "description": each["description"],
            "anyOf": [
                each["parameters"],
                {"type": "array", "items": each["parameters"]},
                {"type": "null"},
            ],
        }
        for each in functions
    }
    parameters = {"type": "object", "properties": members, "required": []}
    function = {"name": NAME, "description": _ABOUT, "parameters": parameters}
    return [{"type": "function", "function": function}] if functions else []


def write(calls: Sequence[Call], text: str = "") -> ChatMessage:
    """Write the message of a server: another call of the tool where the order asks for it."""
    groups: list[dict[str, Any]] = []
    for call in calls:
        given = dict(call.kwargs)
        if not groups or (call.name in groups[-1] and next(reversed(groups[-1])) != call.name):
            groups.append({})
        group = groups[-1]
        if call.name not in group:
            group[call.name] = given
        elif isinstance(group[call.name], list):
            group[call.name].append(given)
        else:
            group[call.name] = [group[call.name], given]
    return message([(NAME, json.dumps(group)) for group in groups], text)


def read(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the calls of all members; what cannot be read stays as it is, for the model to see."""
    return [inner for call in calls for inner in _members(call)]


def _members(call: ToolCall) -> list[ToolCall]:
    given = _object(call.arguments)
    if call.name != NAME or given is None:
        return [call]
    return [
        ToolCall(call.id, name, json.dumps(one) if isinstance(one, dict) else one)
        for name, value in given.items()
        if value is not None
        for one in (value if isinstance(value, list) else [value])
    ]


def _object(arguments: object) -> dict[str, Any] | None:
    try:
        given = read_json(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def answer(calls: Sequence[ToolCall], results: Sequence[str]) -> list[ChatMessage]:
    """Answer each call of the tool with an object of results by function."""
    rest = iter(results)
    return [
        {"role": "tool", "tool_call_id": call.id, "content": _answer(call, rest)} for call in calls
    ]


def _answer(call: ToolCall, results: Any) -> str:
    inner = _members(call)
    if inner == [call]:
        return str(next(results))
    shown: dict[str, Any] = {}
    given = _object(call.arguments) or {}
    for name, value in given.items():
        if value is not None:
            several = isinstance(value, list)
            found = [_as_json(next(results)) for _ in (value if several else [value])]
            shown[name] = found if several else found[0]
    return json.dumps(shown)


def _as_json(text: str) -> Any:
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text


MULTI_CALL = Native(NAME, "chat", True, show, write, answer, read)
