"""gpt-oss: messages in channels; one whose recipient is ``functions.f`` is a call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from envs.calls import Call, call_from_tool
from envs.errors import MalformedCall
from runner.models.base import ChatMessage
from runner.models.protocols.base import Spoken, Written
from runner.models.protocols.raw import RESULT, Frame
from runner.models.protocols.reading import add, check_length, json_at
from runner.models.protocols.typescript import show
from runner.models.tools import Document

_START, _CHANNEL, _MESSAGE = "<|start|>", "<|channel|>", "<|message|>"
_END, _CALL, _RETURN = "<|end|>", "<|call|>", "<|return|>"
_RECIPIENT = re.compile(r"\bto=functions\.([\w.-]{1,200}+)")
_ENDS = re.compile(r"<\|(?:end|call|return|start)\|>")


class _Part(NamedTuple):
    """One message of a reply."""

    header: str
    body: str
    begin: int
    """Where the body begins in the reply."""

    @property
    def channel(self) -> str:
        """The channel that it is in."""
        named = self.header.partition(_CHANNEL)[2].split()
        return named[0].partition("<")[0] if named else ""


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls in the commentary channel; without any, the text in the final one."""
    if not calls:
        return f"{_CHANNEL}final{_MESSAGE}{text}"
    parts = [f"{_CHANNEL}analysis{_MESSAGE}{text}{_END}"] if text else []
    parts += [
        f"{_CHANNEL}commentary to=functions.{call.name} <|constrain|>json{_MESSAGE}"
        f"{json.dumps(dict(call.kwargs), ensure_ascii=False)}{_CALL}"
        for call in calls
    ]
    return f"{_START}assistant".join(parts)


def _parts(text: str) -> Iterator[_Part]:
    """Yield the messages of a reply; the body of a call ends with its JSON."""
    check_length(text)
    position = 0
    while (middle := text.find(_MESSAGE, position)) >= 0:
        header, begin = text[position:middle], middle + len(_MESSAGE)
        end = begin
        if _RECIPIENT.search(header):
            _, end = json_at(text, begin)
        closed = _ENDS.search(text, end)
        position = closed.end() if closed else len(text)
        yield _Part(header, text[begin : closed.start() if closed else len(text)], begin)


def read(text: str, _documents: Sequence[Document]) -> list[Call]:
    """Read the messages to functions; built-in tools are none.

    Raises:
        MalformedCall: The arguments of one cannot be read.
    """
    calls: list[Call] = []
    for part in _parts(text):
        if recipient := _RECIPIENT.search(part.header):
            add(calls, call_from_tool(recipient[1], json_at(text, part.begin)[0]))
    return calls


def answer(
    calls: Sequence[Call | MalformedCall], results: Sequence[str], _said: str
) -> list[ChatMessage]:
    """Show each result as a message of its function."""
    named = [call.name if isinstance(call, Call) else "unreadable" for call in calls]
    header = f" to=assistant{_CHANNEL}commentary{_MESSAGE}"
    shown = zip(named, results, strict=True)
    return [{"role": RESULT, "content": f"{name}{header}{result}"} for name, result in shown]


def says(text: str) -> Spoken:
    """Take what is in the final channel, and what is thought in the one for analysis."""
    if _MESSAGE not in text:
        return Spoken(text)
    try:
        parts = [*_parts(text)]
    except MalformedCall:
        return Spoken(text)
    thoughts = "\n".join(part.body for part in parts if part.channel == "analysis")
    final = "\n".join(part.body for part in parts if part.channel != "analysis")
    return Spoken(final, thoughts or None)


def _closing(text: str) -> str:
    """Return what a reply ended with, which the server left out."""
    last = text[text.rfind(_MESSAGE, 0, text.rfind(_MESSAGE)) + 1 :]
    return _CALL if _RECIPIENT.search(last.rpartition(_MESSAGE)[0]) else _END


HARMONY = Written(
    "harmony",
    "raw",
    False,
    show,
    write,
    answer,
    read,
    (_CALL, _RETURN),
    Frame(
        {
            "system": (f"{_START}system{_MESSAGE}", _END),
            "developer": (f"{_START}developer{_MESSAGE}", _END),
            "user": (f"{_START}user{_MESSAGE}", _END),
            "assistant": (f"{_START}assistant", _END),
            RESULT: (f"{_START}functions.", _END),
        },
        f"{_START}assistant",
        closing=_closing,
    ),
    says=says,
)
