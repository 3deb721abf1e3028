"""Cache of encoded messages.

A conversation only grows, so each message is encoded once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from runner.models.apis import EncodedMessage
from runner.models.model_types import ChatMessage

_MAX_CONVERSATIONS = 512


class MessageEncoder:
    """Cache of the encoded messages of recent conversations."""

    def __init__(self, encode: Callable[[Sequence[ChatMessage], int], EncodedMessage]) -> None:
        self._encode = encode
        self._known: OrderedDict[int, _EncodedMessages] = OrderedDict()

    def of(self, messages: Sequence[ChatMessage]) -> Sequence[EncodedMessage]:
        """Return the encoded messages of a conversation; the caller must not change the list."""
        known = self._known.pop(id(messages), None)
        pieces = known.pieces if known and known.is_start_of(messages) else []
        for place in range(len(pieces), len(messages)):
            pieces.append(self._encode(messages, place))
        if messages:
            self._known[id(messages)] = _EncodedMessages(messages, messages[-1], pieces)
        if len(self._known) > _MAX_CONVERSATIONS:
            self._known.popitem(last=False)
        return pieces


class _EncodedMessages(NamedTuple):
    messages: Sequence[ChatMessage]
    """The list, kept alive so that no other list gets the same ``id``."""
    last: ChatMessage
    pieces: list[EncodedMessage]

    def is_start_of(self, messages: Sequence[ChatMessage]) -> bool:
        size = len(self.pieces)
        return size <= len(messages) and messages[size - 1] is self.last
