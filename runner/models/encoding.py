"""Conversations in encoded form: each message is encoded once, since a conversation only grows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from runner.models.apis import Speech
from runner.models.base import ChatMessage

_MOST_CONVERSATIONS = 512
"""How many conversations are kept."""


class PerMessage:
    """The messages of some conversations in encoded form.

    Args:
        piece: Encodes the message at a place of a conversation.
    """

    def __init__(self, piece: Callable[[Sequence[ChatMessage], int], Speech]) -> None:
        self._piece = piece
        self._known: OrderedDict[int, _Known] = OrderedDict()

    def of(self, messages: Sequence[ChatMessage]) -> Sequence[Speech]:
        """Return the messages of a conversation; the list is not to be changed."""
        known = self._known.pop(id(messages), None)
        pieces = known.pieces if known and known.begins(messages) else []
        for place in range(len(pieces), len(messages)):
            pieces.append(self._piece(messages, place))
        if messages:
            self._known[id(messages)] = _Known(messages, messages[-1], pieces)
        if len(self._known) > _MOST_CONVERSATIONS:
            self._known.popitem(last=False)
        return pieces


class _Known(NamedTuple):
    """What was made of a conversation."""

    messages: Sequence[ChatMessage]
    """Kept, so that no other list gets its number."""
    last: ChatMessage
    pieces: list[Speech]

    def begins(self, messages: Sequence[ChatMessage]) -> bool:
        """Tell whether a conversation begins with what was encoded."""
        size = len(self.pieces)
        return size <= len(messages) and messages[size - 1] is self.last
