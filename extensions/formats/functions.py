"""Functions of chat completions, before there were tools: one call a step, answered by name.

The chat is kept as with tools, and becomes one of functions where it is sent
(``runner.models.apis``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from envs.calls import Call
from runner.models.base import ChatMessage, ToolCall
from runner.models.protocols.base import Native
from runner.models.protocols.tools import read, show


def write(calls: Sequence[Call], text: str = "") -> ChatMessage:
    """Write the message of a server, which has room for the first call."""
    said: ChatMessage = {"role": "assistant", "content": text or None}
    made = [{"name": call.name, "arguments": json.dumps(dict(call.kwargs))} for call in calls[:1]]
    return {**said, "function_call": made[0]} if made else said


def answer(calls: Sequence[ToolCall], results: Sequence[str]) -> list[ChatMessage]:
    """Answer each call by its id, and name its function."""
    return [
        {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": result}
        for call, result in zip(calls, results, strict=True)
    ]


FUNCTIONS = Native("functions", "functions", False, show, write, answer, read)
