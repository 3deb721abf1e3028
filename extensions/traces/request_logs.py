"""Fields of a logged conversation: the messages of a request, and the answer to the request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from extensions.traces.documents import JsonNode
from extensions.traces.provider_messages import convert_messages
from runner.models.recorded_messages import MalformedMessage, chat_messages, text_of

_REQUESTS = ("messages", "input", "contents")
"""Fields with the messages of a request: chat completions, Responses, Gemini."""


class LoggedRequest(NamedTuple):
    """The messages of a conversation, with the answer to the last request if it is beside them."""

    node: JsonNode
    """JSON value with the metadata of the conversation."""
    place: JsonNode
    """JSON value of the messages."""
    messages: Sequence[Any]
    answer: Sequence[Any]


def find_request(node: JsonNode) -> LoggedRequest | None:
    """Return the messages in an object, or None if it has none.

    Raises DataError if a field has a wrong type.
    """
    place = _messages(node)
    if place is None:
        return None
    if isinstance(place.value, str) and place.path.endswith(".input"):
        messages = [{"role": "user", "content": place.value}]
    else:
        messages = [item.value for item in place.items()]
    answer = _answer(node)
    if answer and messages and is_same(messages[-1], answer[0]):
        answer = []
    return LoggedRequest(node, place, messages, answer)


def is_same(message: object, other: object) -> bool:
    """Tell whether two values have the same role, text and calls; other fields may differ."""
    return message == other or _outline(message) == _outline(other) != []


def _outline(message: object) -> list[object]:
    try:
        chats = [*chat_messages(convert_messages([message])[0])]
        return [
            (
                chat["role"],
                text_of(chat.get("content"), ""),
                [(call["id"], call["function"]["name"]) for call in chat.get("tool_calls") or ()],
            )
            for chat in chats
        ]
    except MalformedMessage:
        return []


def last_requests(requests: Sequence[LoggedRequest]) -> list[LoggedRequest]:
    """Return the last request of each conversation; a request repeats the messages before it."""
    if not any(request.answer for request in requests):
        return [*requests]
    found: list[LoggedRequest] = []
    places: dict[bytes, list[int]] = {}
    for request in requests:
        *earlier, whole = _digests(request.messages) or [b""]
        place = _find_earlier(request, earlier, found, places)
        if place is None:
            place = len(found)
            found.append(request)
        found[place] = request
        if request.answer:
            places.setdefault(whole, []).append(place)
    return found


def _find_earlier(
    request: LoggedRequest,
    digests: Sequence[bytes],
    found: Sequence[LoggedRequest],
    places: Mapping[bytes, list[int]],
) -> int | None:
    """Remove and return the place of the request that ``request`` continues, or return None."""
    for digest in reversed(digests):
        for place in places.get(digest, ()):
            earlier = found[place]
            if is_same(request.messages[len(earlier.messages)], earlier.answer[0]):
                places[digest].remove(place)
                return place
    return None


def _digests(messages: Sequence[object]) -> list[bytes]:
    """Return the digest of the first message, of the first two messages, and so on."""
    running, found = sha256(), []
    for message in messages:
        running.update(json.dumps(message, sort_keys=True).encode())
        found.append(running.digest())
    return found


def _messages(node: JsonNode, depth: int = 1) -> JsonNode | None:
    if not isinstance(node.value, dict):
        return None
    for name in _REQUESTS:
        held = node.get(name)
        if held is not None:
            # Some logs have the body of the request in a field ``input``.
            inner = _messages(held, depth - 1) if depth and isinstance(held.value, dict) else None
            return inner or held
    request = node.get("request")
    return _messages(request, depth - 1) if depth and request is not None else None


def _answer(node: JsonNode) -> list[Any]:
    response = node.get("response")
    for holder in (node, response):
        if holder is None or not isinstance(holder.value, dict):
            continue
        if choices := holder.items("choices"):
            return [choices[0].object("message")]
        if candidates := holder.items("candidates"):
            return [{"role": "model", **candidates[0].object("content")}]
        if (output := holder.get("output")) is not None:
            value = output.value
            said = {"role": "assistant", "content": value} if isinstance(value, str) else value
            return said if isinstance(said, list) else [said]
    is_message = response is not None and isinstance(response.value, dict)
    return [response.value] if response and is_message and "role" in response.value else []
