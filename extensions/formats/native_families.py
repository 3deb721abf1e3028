"""Native calling formats: the server parses the calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from envs.calls import Call, read_json
from runner.models.calling_formats import tools as chat_tools
from runner.models.calling_formats.format_types import NativeFormat, Tool
from runner.models.model_types import ChatMessage, ToolCall

RESPONSES = chat_tools.TOOLS._replace(name="responses", wire="responses")
"""OpenAI's Responses API (see ``runner.models.apis``); reasoning is sent back as items."""

# The older functions of chat completions: one call per step, answered by name. The conversation is
# stored with tools; ``runner.models.apis`` converts it for the request.


def _write_function(calls: Sequence[Call], text: str = "") -> ChatMessage:
    said: ChatMessage = {"role": "assistant", "content": text or None}
    made = [{"name": call.name, "arguments": json.dumps(dict(call.kwargs))} for call in calls[:1]]
    return {**said, "function_call": made[0]} if made else said


def _answer_by_name(calls: Sequence[ToolCall], results: Sequence[str]) -> list[ChatMessage]:
    return [
        {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": result}
        for call, result in zip(calls, results, strict=True)
    ]


FUNCTIONS = chat_tools.TOOLS._replace(
    name="functions",
    wire="functions",
    parallel=False,
    write=_write_function,
    answer=_answer_by_name,
)

# One tool for all functions, for models that call a single tool. Its argument has a nullable member
# per function; members are called in their order, a list calls its function several times.

_NAME = "multi_call"
_ABOUT = (
    "Call any of these functions, in the order of the members. If a function is not called, its "
    "member is null or left out. If a function is called more than once, its member is a list of "
    "objects. The result has a member for each function."
)


def _show_members(tools: Sequence[Tool]) -> list[Tool]:
    """Return a single tool; each function is a parameter of this tool."""
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
    function = {"name": _NAME, "description": _ABOUT, "parameters": parameters}
    return [{"type": "function", "function": function}] if functions else []


def _write_members(calls: Sequence[Call], text: str = "") -> ChatMessage:
    """Return calls in the form of a server's message.

    A group holds several calls. A new group starts if it is needed to keep the order of the calls.
    """
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
    return chat_tools.message([(_NAME, json.dumps(group)) for group in groups], text)


def _read_members(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the calls inside the single tool's arguments; keep calls that cannot be read."""
    return [inner for call in calls for inner in _members(call)]


def _members(call: ToolCall) -> list[ToolCall]:
    given = _object(call.arguments)
    if call.name != _NAME or given is None:
        return [call]
    return [
        ToolCall(call.id, name, json.dumps(one) if isinstance(one, dict) else one)
        for name, value in given.items()
        if value is not None
        for one in (value if isinstance(value, list) else [value])
    ]


def _object(arguments: object) -> dict[str, Any] | None:
    given = _as_json(arguments) if isinstance(arguments, str) else arguments
    return given if isinstance(given, dict) else None


def _answer_members(calls: Sequence[ToolCall], results: Sequence[str]) -> list[ChatMessage]:
    """Return a tool message for each call."""
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


MULTI_CALL = NativeFormat(
    _NAME,
    "chat",
    parallel=True,
    show=_show_members,
    write=_write_members,
    answer=_answer_members,
    read=_read_members,
)
