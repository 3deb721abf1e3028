"""Conversations as Anthropic and Google have them: turns of blocks, and the system prompt apart.

A provider's module makes blocks of a message and a chat completion of an answer. What came of an
answer goes back block by block as it came, in its order: thoughts and calls are signed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.models.apis import Api, Speech
from runner.models.base import ChatMessage
from runner.models.caching import with_mark

VERBATIM = "output_items"
"""Member of a message in which the blocks of an answer are kept."""
SYSTEM = "system"

Said = tuple[str, Sequence[Mapping[str, Any]]]
"""Who speaks, ``SYSTEM`` or one of the roles, and the blocks."""


@dataclass(frozen=True, kw_only=True)
class BlockApi(Api):
    """How one of the providers is talked to about a conversation."""

    blocks: Callable[[ChatMessage, Sequence[ChatMessage]], Said]
    """Makes of a message, and of those before it, who speaks and the blocks."""
    conversation: str
    """Member of the body that holds the turns."""
    content: str
    """Member of a turn that holds its blocks."""
    system: tuple[bytes, bytes]
    """What stands in the body before and after the blocks of the system prompt."""
    roles: Mapping[str, str]
    """Of the speakers; where ``SYSTEM`` has none it is apart. What follows of one is one turn."""

    def speech(self, message: ChatMessage, earlier: Sequence[ChatMessage]) -> Speech:
        """Encode a message that follows others."""
        speaker, blocks = self.blocks(message, earlier)
        return Speech(speaker, b",".join([_encoded(block) for block in blocks]))

    def members(self, speeches: Sequence[Speech], marked: Collection[int]) -> bytes:
        """Return the members of the body that hold a conversation."""
        system, speaker, said = b"", "", list[list[bytes]]()
        heads = {who: self._head(role) for who, role in self.roles.items()}
        for place, (who, blocks) in enumerate(speeches):
            if not blocks:
                continue
            if place in marked:
                blocks = with_mark(blocks)
            if who == SYSTEM and SYSTEM not in self.roles:
                system += b",%b" % blocks if system else blocks
            elif who == speaker:
                said[-1].append(blocks)
            else:
                speaker = who
                said.append([heads[who] + blocks])
        turned = b",".join([b",".join(blocks) + b"]}" for blocks in said])
        members = b'"%b":[%b]' % (self.conversation.encode(), turned)
        if system:
            before, after = self.system
            members += b",%b%b%b" % (before, system, after)
        return members

    def _head(self, role: str) -> bytes:
        return f'{{"role":"{role}","{self.content}":['.encode()


def _encoded(block: Mapping[str, Any]) -> bytes:
    return json.dumps(block, separators=(",", ":")).encode()


def object_in(text: object) -> dict[str, Any] | None:
    """Return the object that a text is the JSON of, None where it is none."""
    if isinstance(text, Mapping):
        return dict(text)
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def object_within(text: str) -> dict[str, Any] | None:
    """Return the JSON object in a text, which may stand in a fence; None where there is none."""
    begin, end = text.find("{"), text.rfind("}")
    return object_in(text[begin : end + 1]) if 0 <= begin < end else None


def _refuse(name: str) -> None:
    raise ValueError(name)


def total(*counts: object) -> int | None:
    """Return the sum of the numbers of tokens that are some, None for none or nothing."""
    known = [n for n in counts if isinstance(n, int) and not isinstance(n, bool) and n >= 0]
    return sum(known) or None
