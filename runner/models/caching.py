"""Marks of Anthropic's prompt cache: up to where a request is kept for those that go on from it.

What is read from the cache costs a tenth, what is written to it a quarter more, so that marks pay
from the second request on that begins alike. A provider's other models cache by themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.models.base import ChatMessage, Request, RequestOptions
from trajectories.errors import DataError

_MARKED = re.compile(r"anthropic/|(?:bedrock|vertex_ai)/.*claude|openrouter/anthropic/")
MARKED = "Claude at anthropic/, bedrock/, vertex_ai/ and openrouter/"
"""Who wants marks, in words."""
MEMBER = "cache_control"
MARK = {MEMBER: {"type": "ephemeral"}}
_ENCODED_MARK = json.dumps(MARK, separators=(",", ":")).encode().replace(b"{", b",", 1)


def wants_marks(name: str) -> bool:
    """Tell whether the cache of a model, ``provider/model``, wants marks."""
    return bool(_MARKED.match(name))


def refuse_marks(name: str, options: RequestOptions) -> None:
    """Refuse to mark prompts for a model whose cache wants no marks.

    Raises:
        DataError: That was asked for.
    """
    if options.provider.get("prompt_caching") and (options.base_url or not wants_marks(name)):
        raise DataError("--prompt-caching", f"on is for {MARKED}; others cache by themselves")


def is_marked(name: str, request: Request, options: RequestOptions) -> bool:
    """Tell whether a request is marked for the provider's cache.

    Of four marks there may be no fifth: who sends one in the body wants no others.
    """
    chosen = options.provider.get("prompt_caching")
    wanted = request.grows if chosen is None else chosen
    return bool(wanted) and MEMBER not in options.extra_body and wants_marks(name)


def with_mark(items: bytes) -> bytes:
    """Return encoded objects with a mark on the last of them."""
    return items[:-1] + _ENCODED_MARK


def marked_places(messages: Sequence[ChatMessage]) -> frozenset[int]:
    """Return after which messages marks go, three at most: the system prompt, and this request.

    The third is where the request before ended, which is certain to be found again: the provider
    looks only some blocks back, and one answer may call many functions.
    """
    return frozenset(_ends(messages))


def marked_messages(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return a conversation with its marks."""
    marks = marked_places(messages)
    return [
        {**message, **MARK} if place in marks else message for place, message in enumerate(messages)
    ]


def marked_tools(tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return tools with one mark, after the last of them."""
    return [*tools[:-1], *({**tool, **MARK} for tool in tools[-1:])]


def _ends(messages: Sequence[ChatMessage]) -> Iterator[int]:
    last = len(messages) - 1
    answered = next((n for n in range(last, -1, -1) if messages[n]["role"] == "assistant"), None)
    for place in (0, last if answered is None else answered - 1, last):
        message = messages[place]
        wanted = ("system",) if place == 0 < last else ("user", "tool")
        # The provider refuses a mark on a text that is empty.
        if message["role"] in wanted and str(message["content"] or "").strip():
            yield place
