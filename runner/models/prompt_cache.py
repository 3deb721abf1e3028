"""Marks for Anthropic's prompt cache; later requests with the same beginning read the cache.

A token that is read from the cache costs a tenth of the input price. A token that is written to the
cache costs 125% of the input price. Marks usually reduce the cost of a conversation with two or
more requests. Other providers need no cache marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from envs.errors import DataError
from runner.models.model_types import ChatMessage, Request, RequestOptions

_MARKED = re.compile(r"anthropic/|(?:bedrock|vertex_ai)/.*claude|openrouter/anthropic/")
MARKED = "Claude models of anthropic/, bedrock/, vertex_ai/ and openrouter/"
MEMBER = "cache_control"
MARK = {MEMBER: {"type": "ephemeral"}}
_ENCODED_MARK = json.dumps(MARK, separators=(",", ":")).encode().replace(b"{", b",", 1)


def wants_marks(name: str) -> bool:
    """Tell whether a model (``provider/model``) caches only prompts with explicit cache marks."""
    return bool(_MARKED.match(name))


def refuse_marks(name: str, options: RequestOptions) -> None:
    """Raise DataError if ``--prompt-caching`` is on for a model that does not use cache marks."""
    if options.provider.get("prompt_caching") and (options.base_url or not wants_marks(name)):
        why = f"`on` works only with {MARKED}; other models need no marks"
        raise DataError("--prompt-caching", why)


def is_marked(name: str, request: Request, options: RequestOptions) -> bool:
    """Tell whether a request gets cache marks."""
    chosen = options.provider.get("prompt_caching")
    wanted = request.grows if chosen is None else chosen
    return bool(wanted) and MEMBER not in options.extra_body and wants_marks(name)


def with_mark(items: bytes) -> bytes:
    """Return an encoded list of objects with a cache mark in the last object."""
    return items[:-1] + _ENCODED_MARK


def marked_places(messages: Sequence[ChatMessage]) -> frozenset[int]:
    """Return the indices of the messages that get a cache mark.

    These are the system prompt and the last messages of the current and the previous request.
    """
    places, last = set[int](), len(messages) - 1
    answered = next((n for n in range(last, -1, -1) if messages[n]["role"] == "assistant"), None)
    for place in (0, last if answered is None else answered - 1, last):
        message = messages[place]
        wanted = ("system",) if place == 0 < last else ("user", "tool")
        # The provider refuses a mark on an empty text.
        if message["role"] in wanted and str(message["content"] or "").strip():
            places.add(place)
    return frozenset(places)


def marked_messages(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages, with cache marks at the indices from ``marked_places``."""
    marks = marked_places(messages)
    return [{**each, **MARK} if place in marks else each for place, each in enumerate(messages)]


def marked_tools(tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the tools, with a cache mark on the last tool."""
    return [*tools[:-1], *({**tool, **MARK} for tool in tools[-1:])]
