"""Conversion of conversations to the messages of Anthropic and Google, which consist of blocks.

The system prompt is a separate field. Later requests repeat an answer's blocks unchanged and in
order, because the server checks the signatures of reasoning and calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.models.apis import Api, EncodedMessage
from runner.models.model_types import ChatMessage
from runner.models.prompt_cache import with_mark

VERBATIM = "output_items"
SYSTEM = "system"

Said = tuple[str, Sequence[Mapping[str, Any]]]
"""Speaker (``SYSTEM`` or a role) and blocks."""


@dataclass(frozen=True, kw_only=True)
class BlockApi(Api):
    """An API whose conversation is a list of turns; each turn is a list of blocks."""

    blocks: Callable[[ChatMessage, Iterable[ChatMessage]], Said]
    """Function that gets a message and the earlier messages; it returns the speaker and blocks."""
    conversation: str
    content: str
    system: tuple[bytes, bytes]
    """Bytes of the body before and after the blocks of the system prompt."""
    roles: Mapping[str, str]
    """Role of each speaker."""

    def speech(self, message: ChatMessage, earlier: Iterable[ChatMessage]) -> EncodedMessage:
        """Encode a message; ``earlier`` yields the messages before it, the last one first."""
        speaker, blocks = self.blocks(message, earlier)
        return EncodedMessage(speaker, b",".join([_encode(block) for block in blocks]))

    def members(self, speeches: Sequence[EncodedMessage], marked: Collection[int]) -> list[bytes]:
        """Return the parts of the body fields that hold the conversation and the system prompt."""
        system, speaker, turns = b"", "", list[list[bytes]]()
        heads = {
            who: f'{{"role":"{role}","{self.content}":['.encode()
            for who, role in self.roles.items()
        }
        for place, (who, blocks) in enumerate(speeches):
            if not blocks:
                continue
            if place in marked:
                blocks = with_mark(blocks)
            if who == SYSTEM and SYSTEM not in self.roles:
                system += b",%b" % blocks if system else blocks
            elif who == speaker:
                turns[-1].append(blocks)
            else:
                speaker = who
                turns.append([heads[who] + blocks])
        encoded = b",".join([b",".join(blocks) + b"]}" for blocks in turns])
        more = [b",", self.system[0], system, self.system[1]] if system else []
        return [b'"%b":[%b]' % (self.conversation.encode(), encoded), *more]


def _encode(block: Mapping[str, Any]) -> bytes:
    return json.dumps(block, separators=(",", ":")).encode()


def object_in(text: object) -> dict[str, Any] | None:
    """Return the JSON object in a string, or None for another string."""
    if isinstance(text, Mapping):
        return dict(text)
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def object_within(text: str) -> dict[str, Any] | None:
    """Find a JSON object within a string, for example in a code fence."""
    begin, end = text.find("{"), text.rfind("}")
    return object_in(text[begin : end + 1]) if 0 <= begin < end else None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def sum_token_counts(*counts: object) -> int | None:
    """Add up the valid token counts. Return None if the sum is 0."""
    known = [n for n in counts if isinstance(n, int) and not isinstance(n, bool) and n >= 0]
    return sum(known) or None
