"""Messages in channels, as gpt-oss writes them: a header, and a body behind a mark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from extensions.formats.reading import check_length, json_at

START, CHANNEL, MESSAGE = "<|start|>", "<|channel|>", "<|message|>"
END, CALL, RETURN = "<|end|>", "<|call|>", "<|return|>"
_RECIPIENT = re.compile(r"\bto=functions\.([\w.-]{1,200}+)")
_ENDS = re.compile(r"<\|(?:end|call|return|start)\|>")


def recipient(header: str) -> str | None:
    """Return the function that a message is to, None where it is to none."""
    found = _RECIPIENT.search(header)
    return found and found[1]


class ChannelMessage(NamedTuple):
    """One message of a reply."""

    header: str
    body: str
    begin: int
    """Where the body begins in the reply."""

    @property
    def channel(self) -> str:
        """The channel that it is in."""
        named = self.header.partition(CHANNEL)[2].split()
        return named[0].partition("<")[0] if named else ""


def parts_of(text: str) -> Iterator[ChannelMessage]:
    """Yield the messages of a reply; the body of a call ends with its JSON."""
    check_length(text)
    position = 0
    while (middle := text.find(MESSAGE, position)) >= 0:
        header, begin = text[position:middle], middle + len(MESSAGE)
        end = begin
        if recipient(header):
            _, end = json_at(text, begin)
        closed = _ENDS.search(text, end)
        position = closed.end() if closed else len(text)
        yield ChannelMessage(header, text[begin : closed.start() if closed else len(text)], begin)
