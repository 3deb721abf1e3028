"""The built-in calling format: tool calls of chat completions."""

from __future__ import annotations

import json
from collections.abc import Sequence

from envs.calls import Call
from runner.models.calling_formats.format_types import NativeFormat, Tool
from runner.models.model_types import ChatMessage, ToolCall


def show(tools: Sequence[Tool]) -> list[Tool]:
    """Return all tools unchanged."""
    return list(tools)


def write(calls: Sequence[Call], text: str = "") -> ChatMessage:
    """Return a server's message with calls."""
    return message([(call.name, json.dumps(dict(call.kwargs))) for call in calls], text)


def message(made: Sequence[tuple[str, str]], text: str) -> ChatMessage:
    """Return a message with calls; each call is given by name and JSON arguments."""
    entries = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": given}}
        for number, (name, given) in enumerate(made, 1)
    ]
    said: ChatMessage = {"role": "assistant", "content": text or None}
    return {**said, "tool_calls": entries} if entries else said


def answer(calls: Sequence[ToolCall], results: Sequence[str]) -> list[ChatMessage]:
    """Return one message per call with its id and result."""
    return [
        {"role": "tool", "tool_call_id": call.id, "content": result}
        for call, result in zip(calls, results, strict=True)
    ]


def read(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return calls unchanged."""
    return list(calls)


TOOLS = NativeFormat(
    "tools", "chat", parallel=True, show=show, write=write, answer=answer, read=read
)
