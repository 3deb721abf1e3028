"""Kimi K2: a section of calls, each with an id of function and number."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from envs.calls import Call
from envs.errors import MalformedCall
from extensions.formats.raw import RESULT
from extensions.formats.reading import calls_behind
from extensions.formats.showing import before
from runner.models.base import ChatMessage
from runner.models.protocols.base import Frame, Written
from runner.models.tools import Document

_SECTION, _END_SECTION = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
_CALL, _ARGUMENTS, _END = (
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
)
_HEAD = re.compile(
    r"\s*+(?P<id>(?:functions\.)?+(?P<name>[\w.-]{1,200}+)(?::[0-9]{1,9}+)?+)"
    r"\s*+<\|tool_call_argument_begin\|>"
)


def show(documents: Sequence[Document]) -> list[ChatMessage]:
    """Declare functions."""
    tools = [{"type": "function", "function": document} for document in documents]
    return [{"role": "tool_declare", "content": json.dumps(tools, ensure_ascii=False)}]


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls as a section."""
    each = [
        f"{_CALL}functions.{call.name}:{number}{_ARGUMENTS}"
        f"{json.dumps(dict(call.kwargs), ensure_ascii=False)}{_END}"
        for number, call in enumerate(calls)
    ]
    return before(text, "".join([_SECTION, *each, _END_SECTION]) if each else "")


def read(text: str, _documents: Sequence[Document]) -> list[Call]:
    """Read all calls.

    Raises:
        MalformedCall: One cannot be read.
    """
    form = "A call must be functions.NAME:NUMBER and JSON between the marks."
    return calls_behind(_CALL, _HEAD, text, form)


def answer(
    calls: Sequence[Call | MalformedCall], results: Sequence[str], said: str
) -> list[ChatMessage]:
    """Show results by the ids of their calls, as the reply has them."""
    ids = [head["id"] for part in said.split(_CALL)[1:] if (head := _HEAD.match(part))]
    if len(ids) != len(calls):
        named = [call.name if isinstance(call, Call) else "unreadable" for call in calls]
        ids = [f"functions.{name}:{number}" for number, name in enumerate(named)]
    shown = zip(ids, results, strict=True)
    return [{"role": RESULT, "content": f"## Return of {id}\n{result}"} for id, result in shown]


def _mark(role: str, name: str) -> tuple[str, str]:
    return f"<|im_{role}|>{name}<|im_middle|>", "<|im_end|>"


KIMI = Written(
    "kimi",
    "raw",
    True,
    show,
    write,
    answer,
    read,
    ("<|im_end|>",),
    Frame(
        {
            "system": _mark("system", "system"),
            "tool_declare": _mark("system", "tool_declare"),
            RESULT: _mark("system", "tool"),
            "user": _mark("user", "user"),
            "assistant": _mark("assistant", "assistant"),
        },
        "<|im_assistant|>assistant<|im_middle|>",
    ),
)
