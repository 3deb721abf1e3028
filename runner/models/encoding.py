"""Conversations in encoded form: each message is encoded once, since a conversation only grows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from runner.models.base import ChatMessage

Piece = TypeVar("Piece")

_MOST_CONVERSATIONS = 512
"""How many conversations are kept."""


class PerMessage(Generic[Piece]):
    """What stands for each message of some conversations.

    Args:
        piece: Makes it of the message at a place of a conversation.
    """

    def __init__(self, piece: Callable[[Sequence[ChatMessage], int], Piece]) -> None:
        self._piece = piece
        self._known: OrderedDict[int, _Known[Piece]] = OrderedDict()

    def of(self, messages: Sequence[ChatMessage]) -> Sequence[Piece]:
        """Return what stands for the messages of a conversation, which is not to be changed."""
        known = self._known.pop(id(messages), None)
        pieces = known.pieces if known and known.begins(messages) else []
        for place in range(len(pieces), len(messages)):
            pieces.append(self._piece(messages, place))
        if messages:
            self._known[id(messages)] = _Known(messages, messages[-1], pieces)
        if len(self._known) > _MOST_CONVERSATIONS:
            self._known.popitem(last=False)
        return pieces


class _Known(NamedTuple, Generic[Piece]):
    """What was made of a conversation."""

    messages: Sequence[ChatMessage]
    """Kept, so that no other list gets its number."""
    last: ChatMessage
    pieces: list[Piece]

    def begins(self, messages: Sequence[ChatMessage]) -> bool:
        """Tell whether a conversation begins with what was encoded."""
        size = len(self.pieces)
        return size <= len(messages) and messages[size - 1] is self.last
