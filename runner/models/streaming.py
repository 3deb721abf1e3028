"""Reader of streamed answers, for servers that always stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from runner.models.model_types import TransientError

STREAMED: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
"""Fields that a request must contain to get a streamed answer."""


def read_stream(content: bytes, address: str) -> object:
    """Return a streamed answer as one chat completion. If a chunk is an error, return the chunk.

    Raises TransientError if a chunk is not a JSON object, or if the stream breaks off.
    """
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[object, dict[str, Any]] = {}
    reason = usage = None
    for chunk in read_chunks(content, address):
        if chunk.get("error"):
            return chunk
        usage = chunk.get("usage") or usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            continue
        reason = choice.get("finish_reason") or reason
        delta = choice.get("delta")
        for name, value in delta.items() if isinstance(delta, dict) else ():
            if name == "tool_calls":
                _add_calls(calls, value)
            else:
                message[name] = _joined(name, message.get(name), value)
    if reason is None:
        raise TransientError(f"{address} ended its stream early", kind="connection")
    if calls:
        message["tool_calls"] = [*calls.values()]
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def read_chunks(content: bytes, address: str) -> Iterator[dict[str, Any]]:
    """Yield the events of a stream. Raises TransientError if an event is not a JSON object."""
    # Not splitlines(): a JSON text may contain other line separators, such as U+2028.
    for line in content.decode(errors="replace").replace("\r", "\n").split("\n"):
        text = line.removeprefix("data:").strip()
        if not line.startswith("data:") or text in ("", "[DONE]"):
            continue
        try:
            chunk = json.loads(text)
        except (ValueError, RecursionError):
            chunk = None
        if not isinstance(chunk, dict):
            raise TransientError(f"{address} sent a part of a stream that is not a JSON object")
        yield chunk


def _add_calls(calls: dict[object, dict[str, Any]], parts: object) -> None:
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict):
            continue
        number = part.get("index")
        if not isinstance(number, int):
            # Without an index, a part without id and name continues the latest call.
            named = isinstance(part.get("function"), dict) and part["function"].get("name")
            number = len(calls) - bool(calls and not part.get("id") and not named)
        call = calls.setdefault(number, {})
        for name, value in part.items():
            if name == "function" and isinstance(value, dict):
                function = call.setdefault("function", {})
                for member, text in value.items():
                    function[member] = _joined(member, function.get(member), text)
            elif value is not None and name != "index":
                call[name] = value


def _joined(name: str, before: Any, after: Any) -> Any:
    if after is None:
        return before
    parts = any(isinstance(before, kind) and isinstance(after, kind) for kind in (str, list))
    is_repeated = before == after and name in ("role", "name")
    return before + after if parts and not is_repeated else after
