"""Gemma 4, and FunctionGemma: ``call:f{a:text,n:3}`` between marks, texts between others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envs.calls import Call, call_from_tool
from envs.errors import MalformedCall
from extensions.formats.gemma_values import ESCAPE, QUOTE, Reader, written
from extensions.formats.raw import RESULT, blocks
from extensions.formats.reading import add, check_length
from extensions.formats.showing import before
from runner.models.base import ChatMessage
from runner.models.protocols.base import Frame, Written
from runner.models.tools import Document

_MARKS = (("<|tool_call>", QUOTE), ("<start_function_call>", ESCAPE))
_HEAD = re.compile(r"\s*+call:([\w.-]{1,200}+)\s*+(?=\{)")


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls, each between marks."""
    each = [f"<|tool_call>call:{c.name}{written(dict(c.kwargs))}<tool_call|>" for c in calls]
    return before(text, "".join(each))


def show(documents: Sequence[Document]) -> list[ChatMessage]:
    """Declare functions."""
    each = [
        f"<|tool>declaration:{document['name']}"
        f"{written({k: v for k, v in document.items() if k != 'name'})}<tool|>"
        for document in documents
    ]
    return [{"role": "system", "content": "".join(each)}]


def read(text: str, _documents: Sequence[Document]) -> list[Call]:
    """Read all calls of either model.

    Raises:
        MalformedCall: One cannot be read.
    """
    check_length(text)
    mark, quote = next((each for each in _MARKS if each[0] in text), _MARKS[0])
    reader = Reader(text, quote)
    calls: list[Call] = []
    position = text.find(mark)
    while position >= 0:
        begin = position + len(mark)
        if head := _HEAD.match(text, begin):
            value, begin = reader.value(head.end())
            add(calls, call_from_tool(head[1], value))
        elif text.startswith("call:", begin):
            raise MalformedCall("A call must be call:NAME{argument:value}.")
        position = text.find(mark, begin)
    return calls


def answer(
    calls: Sequence[Call | MalformedCall], results: Sequence[str], _said: str
) -> list[ChatMessage]:
    """Show results, each behind the name of its function."""
    named = [call.name if isinstance(call, Call) else "unreadable" for call in calls]
    return [
        {"role": RESULT, "content": f"response:{name}{{result:{written(result)}}}"}
        for name, result in zip(named, results, strict=True)
    ]


def _closing(text: str) -> str:
    """Return what stands after a reply: one with calls goes on after their results."""
    return "" if _MARKS[0][0] in text else "<turn|>\n"


GEMMA = Written(
    "gemma",
    "raw",
    True,
    show,
    write,
    answer,
    read,
    ("<turn|>", "<|tool_response>"),
    Frame(
        {
            **blocks("<|turn>{role}\n", "<turn|>\n", "system", "user", "assistant=model"),
            RESULT: ("<|tool_response>", "<tool_response|>"),
        },
        "<|turn>model\n",
        "<bos>",
        closing=_closing,
        joins=frozenset([RESULT]),
    ),
)
