"""Readers of streamed answers, and the time until the first token."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from runner.models.model_types import FatalError, TransientError
from runner.models.streaming import STREAMED, read_chunks, read_stream

FIRST_TOKEN: ContextVar[float | None] = ContextVar("first_token", default=None)
"""Time to the first token of the latest answer, in seconds."""
_MESSAGES = "v1/messages"
"""Path of Anthropic's Messages API."""
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "chat/completions": STREAMED,
    "v1/chat/completions": STREAMED,
    _MESSAGES: {"stream": True},
}
"""Maps the path of an API to the request fields that switch streaming on."""
_GROWING = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""Maps the type of a streamed delta to the field that contains its text."""


class StreamedAnswers:
    """Streamed answers of chat completions and of Anthropic's Messages API."""

    def fields(self, path: str) -> Mapping[str, Any]:
        """Return the fields of a streamed request. Raises FatalError if the API cannot stream."""
        if path not in _FIELDS:
            why = f"--stream: answers of the API {path} cannot be streamed; use --api chat"
            raise FatalError(why)
        return _FIELDS[path]

    def read(self, content: bytes, arrivals: Sequence[tuple[float, int]], address: str) -> object:
        """Combine the events of a streamed answer into the body of an ordinary answer.

        Raises TransientError if the stream is damaged.
        """
        FIRST_TOKEN.set(_find_first_token(content, arrivals))
        if b'"message_start"' in content.partition(b"\n\n")[0]:
            return read_messages(content, address)
        return read_stream(content, address)


def read_messages(content: bytes, address: str) -> object:
    """Combine a stream of Anthropic's Messages API into one message, or return its error event.

    Raises TransientError if an event is not a JSON object, or if the stream breaks off.
    """
    message: dict[str, Any] = {}
    blocks: dict[object, dict[str, Any]] = {}
    for event in read_chunks(content, address):
        kind, index = event.get("type"), str(event.get("index"))
        if kind == "error":
            return event
        if kind == "message_start":
            message |= _object(event.get("message"))
        elif kind == "content_block_start":
            blocks[index] = dict(_object(event.get("content_block")))
        elif kind == "content_block_delta":
            _extend(blocks.setdefault(index, {}), _object(event.get("delta")))
        elif kind == "message_delta":
            message |= _object(event.get("delta"))
            message["usage"] = {**_object(message.get("usage")), **_object(event.get("usage"))}
    if not message.get("stop_reason"):
        raise TransientError(f"{address} ended its stream early", kind="connection")
    return {**message, "content": [_complete(block) for block in blocks.values()]}


def _extend(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    name = _GROWING.get(str(delta.get("type")))
    if name and isinstance(delta.get(name), str):
        block[name] = f"{block.get(name) or ''}{delta[name]}"


def _complete(block: dict[str, Any]) -> dict[str, Any]:
    """Parse the JSON input of a block; malformed JSON stays a string."""
    text = block.pop("partial_json", "")
    if text:
        try:
            block["input"] = json.loads(text)
        except (ValueError, RecursionError):
            block["input"] = text
    return block


def _find_first_token(content: bytes, arrivals: Sequence[tuple[float, int]]) -> float | None:
    size = 0
    for line in content.splitlines(keepends=True):
        size += len(line)
        if line.startswith(b"data:") and any(_list_tokens(line.removeprefix(b"data:"))):
            end = size - len(line) + len(line.rstrip())
            return next((seconds for seconds, received in arrivals if received >= end), None)
    return None


def _list_tokens(data: bytes) -> Iterator[object]:
    """Yield each piece of text, reasoning or call arguments in an event. A piece can be empty."""
    try:
        event = _object(json.loads(data))
    except (ValueError, RecursionError):
        return
    yield _object(event.get("content_block")).get("name")
    deltas = [event.get("delta")] if event.get("type") == "content_block_delta" else []
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        deltas.append(_object(choice).get("delta"))
    for delta in deltas:
        yield from (value for name, value in _object(delta).items() if name not in ("role", "type"))


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
