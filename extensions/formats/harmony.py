"""gpt-oss: messages in channels; one whose recipient is ``functions.f`` is a call."""

from __future__ import annotations

import json
from collections.abc import Sequence

from envs.calls import Call, call_from_tool
from envs.errors import MalformedCall
from extensions.formats.channels import (
    CALL,
    CHANNEL,
    END,
    MESSAGE,
    RETURN,
    START,
    parts_of,
    recipient,
)
from extensions.formats.raw import RESULT
from extensions.formats.reading import add, json_at
from extensions.formats.typescript import show
from runner.models.base import ChatMessage
from runner.models.protocols.base import Frame, Spoken, Written
from runner.models.tools import Document


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls in the commentary channel; without any, the text in the final one."""
    if not calls:
        return f"{CHANNEL}final{MESSAGE}{text}"
    parts = [f"{CHANNEL}analysis{MESSAGE}{text}{END}"] if text else []
    parts += [
        f"{CHANNEL}commentary to=functions.{call.name} <|constrain|>json{MESSAGE}"
        f"{json.dumps(dict(call.kwargs), ensure_ascii=False)}{CALL}"
        for call in calls
    ]
    return f"{START}assistant".join(parts)


def read(text: str, _documents: Sequence[Document]) -> list[Call]:
    """Read the messages to functions; built-in tools are none.

    Raises:
        MalformedCall: The arguments of one cannot be read.
    """
    calls: list[Call] = []
    for part in parts_of(text):
        if name := recipient(part.header):
            add(calls, call_from_tool(name, json_at(text, part.begin)[0]))
    return calls


def answer(
    calls: Sequence[Call | MalformedCall], results: Sequence[str], _said: str
) -> list[ChatMessage]:
    """Show each result as a message of its function."""
    named = [call.name if isinstance(call, Call) else "unreadable" for call in calls]
    header = f" to=assistant{CHANNEL}commentary{MESSAGE}"
    shown = zip(named, results, strict=True)
    return [{"role": RESULT, "content": f"{name}{header}{result}"} for name, result in shown]


def says(text: str) -> Spoken:
    """Take what is in the final channel, and what is thought in the one for analysis."""
    if MESSAGE not in text:
        return Spoken(text)
    try:
        parts = [*parts_of(text)]
    except MalformedCall:
        return Spoken(text)
    thoughts = "\n".join(part.body for part in parts if part.channel == "analysis")
    final = "\n".join(part.body for part in parts if part.channel != "analysis")
    return Spoken(final, thoughts or None)


def _closing(text: str) -> str:
    """Return what a reply ended with, which the server left out."""
    last = text[text.rfind(MESSAGE, 0, text.rfind(MESSAGE)) + 1 :]
    return CALL if recipient(last.rpartition(MESSAGE)[0]) else END


HARMONY = Written(
    "harmony",
    "raw",
    False,
    show,
    write,
    answer,
    read,
    (CALL, RETURN),
    Frame(
        {
            "system": (f"{START}system{MESSAGE}", END),
            "developer": (f"{START}developer{MESSAGE}", END),
            "user": (f"{START}user{MESSAGE}", END),
            "assistant": (f"{START}assistant", END),
            RESULT: (f"{START}functions.", END),
        },
        f"{START}assistant",
        closing=_closing,
    ),
    says=says,
)
