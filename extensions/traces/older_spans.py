"""Reader of older GenAI spans, which store a message as an event or as several attributes.

Until 2025, a span had one event per message. In OpenLLMetry and OpenInference, a span has one
attribute per field of a message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

CHOICE = "gen_ai.choice"
EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    CHOICE: "assistant",
}
"""Maps the name of an event to the role of the message in the event."""
USAGE = {
    "gen_ai.usage.prompt_tokens": "prompt_tokens",
    "gen_ai.usage.completion_tokens": "completion_tokens",
    "llm.token_count.prompt": "prompt_tokens",
    "llm.token_count.completion": "completion_tokens",
}
_CONTENT = "gen_ai.event.content"
"""Attribute that contains the whole message of an event as JSON."""
_WHOLE = ("gen_ai.prompt", "gen_ai.completion")
"""Attributes that contain the whole request and the whole answer of an event as JSON."""
_INDEXED = re.compile(
    r"(?:gen_ai\.(?P<side>prompt|completion)|llm\.(?P<way>input|output)_messages)"
    r"\.(?P<path>\d{1,5}\..+)"
)
_FIRST_ROLES = (("gen_ai.prompt", "role"), ("llm.input_messages", "message.role"))
_MAX_PARTS = 12

Json = Mapping[str, Any]


class OlderMessages(NamedTuple):
    """Messages of a request and of its answer."""

    inputs: list[Any]
    outputs: list[Any]


def find_messages(attributes: Json, events: Sequence[tuple[str, Json]]) -> OlderMessages:
    """Return the messages in a span's events or attributes."""
    found = OlderMessages([], [])
    for name, fields in events:
        if name in EVENT_ROLES:
            (found.outputs if name == CHOICE else found.inputs).append(_event_message(name, fields))
        for key, messages in zip(_WHOLE, found, strict=True):
            value = _parsed(fields.get(key))
            messages.extend(value if isinstance(value, list) else ())
    if found.inputs or found.outputs:
        return found
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    for name, value in attributes.items():
        match = _INDEXED.fullmatch(name)
        if match:
            is_input = match["side"] == "prompt" or match["way"] == "input"
            _put(inputs if is_input else outputs, match["path"].split("."), value)
    return OlderMessages(
        [_indexed_message(each, "user") for each in _values(inputs)],
        [_indexed_message(each, "assistant") for each in _values(outputs)],
    )


def is_cut(attributes: Json, messages: OlderMessages) -> bool:
    """Tell whether a span's attributes lack the first message or the answer."""
    has_first = any(f"{side}.0.{role}" in attributes for side, role in _FIRST_ROLES)
    return not (has_first and messages.outputs)


def _event_message(name: str, fields: Json) -> Json:
    """Return the message of an event; fields of the event may be JSON text."""
    body = _parsed(fields.get(_CONTENT))
    body = body if isinstance(body, dict) else fields
    message = _parsed(body.get("message")) if name == CHOICE else body
    held = message if isinstance(message, dict) else {"content": message}
    content = _parsed(held.get("content"))
    return {
        "role": EVENT_ROLES[name],
        "content": content if isinstance(content, list) else held.get("content"),
        "tool_calls": _parsed(held.get("tool_calls")),
        "tool_call_id": body.get("id"),
        "finish_reason": body.get("finish_reason"),
    }


def _indexed_message(fields: object, role: str) -> Json:
    """Convert a message of OpenLLMetry or OpenInference."""
    held = fields if isinstance(fields, dict) else {}
    inner = held.get("message")
    held = inner if isinstance(inner, dict) else held
    calls = [
        each.get("tool_call", each) if isinstance(each, dict) else each
        for each in _values(held.get("tool_calls"))
    ]
    parts = [
        {"type": "text", **each["message_content"]}
        for each in _values(held.get("contents"))
        if isinstance(each, dict) and isinstance(each.get("message_content"), dict)
    ]
    content = _parsed(held.get("content"))
    more = {name: held[name] for name in ("finish_reason", "tool_call_id") if name in held}
    given = content if isinstance(content, list) else held.get("content")
    return {"role": held.get("role", role), "content": parts or given, "tool_calls": calls, **more}


def _put(tree: dict[str, Any], path: Sequence[str], value: object) -> None:
    """Store an attribute such as ``a.b.c`` in nested objects."""
    for part in path[: min(len(path), _MAX_PARTS) - 1]:
        inner = tree.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree[path[-1]] = value


def _values(tree: object) -> Iterator[object]:
    """Yield the items of a list; the list can be an object with the keys "0", "1" and so on."""
    if isinstance(tree, dict):
        for key in sorted((each for each in tree if each.isdecimal()), key=int):
            yield tree[key]
    parsed = _parsed(tree)
    yield from parsed if isinstance(parsed, list) else ()


def _parsed(value: object) -> Any:
    """Return the value of JSON text; return other values unchanged."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value
