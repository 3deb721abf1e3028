"""Cache of encoded messages.

A conversation only grows, so each message is encoded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from runner.models.apis import EncodedMessage
from runner.models.model_types import ChatMessage


class MessageEncoder:
    """Cache of encoded messages; the cache removes a conversation when the conversation ends."""

    def __init__(self, encode: Callable[[Sequence[ChatMessage], int], EncodedMessage]) -> None:
        self._encode = encode
        self._known: WeakKeyDictionary[object, _EncodedMessages] = WeakKeyDictionary()

    def of(self, messages: Sequence[ChatMessage], owner: object) -> Sequence[EncodedMessage]:
        """Return a conversation's encoded messages; without an ``owner``, nothing is cached."""
        known = None if owner is None else self._known.get(owner)
        pieces = known.pieces if known and known.is_start_of(messages) else []
        for place in range(len(pieces), len(messages)):
            pieces.append(self._encode(messages, place))
        if messages and owner is not None:
            self._known[owner] = _EncodedMessages(messages, messages[-1], pieces)
        return pieces


class _EncodedMessages(NamedTuple):
    messages: Sequence[ChatMessage]
    last: ChatMessage
    pieces: list[EncodedMessage]

    def is_start_of(self, messages: Sequence[ChatMessage]) -> bool:
        size = len(self.pieces)
        same = messages is self.messages and size <= len(messages)
        return same and messages[size - 1] is self.last
