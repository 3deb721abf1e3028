"""Tool calls of chat completions: the server's own, and what all others are compared with."""

from __future__ import annotations

import json
from collections.abc import Sequence

from envs.calls import Call
from runner.models.base import ChatMessage, ToolCall
from runner.models.protocols.base import Native, Tool


def show(tools: Sequence[Tool]) -> list[Tool]:
    """Send all tools as they are."""
    return list(tools)


def write(calls: Sequence[Call], text: str = "") -> ChatMessage:
    """Write the message of a server."""
    made = [(call.name, json.dumps(dict(call.kwargs))) for call in calls]
    return message(made, text)


def message(made: Sequence[tuple[str, str]], text: str) -> ChatMessage:
    """Return the message with calls by name and JSON of their arguments."""
    entries = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": given}}
        for number, (name, given) in enumerate(made, 1)
    ]
    said: ChatMessage = {"role": "assistant", "content": text or None}
    return {**said, "tool_calls": entries} if entries else said


def answer(calls: Sequence[ToolCall], results: Sequence[str]) -> list[ChatMessage]:
    """Answer each call by its id."""
    return [
        {"role": "tool", "tool_call_id": call.id, "content": result}
        for call, result in zip(calls, results, strict=True)
    ]


def read(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Take calls as they are."""
    return list(calls)


TOOLS = Native("tools", "chat", parallel=True, show=show, write=write, answer=answer, read=read)
