"""Mistral: calls behind a mark, as a JSON list or, since v11, name by name."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from envs.calls import Call, call_from_tool
from envs.errors import MalformedCall
from extensions.formats.raw import RESULT
from extensions.formats.reading import add, after_blanks, check_length, json_at, listed_calls
from extensions.formats.showing import before
from runner.models.base import ChatMessage
from runner.models.protocols.base import Frame, Written
from runner.models.tools import Document

_CALLS, _ARGS = "[TOOL_CALLS]", "[ARGS]"
_HEAD = re.compile(r"\s*+([\w.-]{1,200}+)(?:\[CALL_ID\][A-Za-z0-9]{1,40}+)?+(\[ARGS\])?+")
_CALL_ID = re.compile(r"\[CALL_ID\]([A-Za-z0-9]{1,40}+)")


def show(documents: Sequence[Document]) -> list[ChatMessage]:
    """Show functions as JSON."""
    tools = [{"type": "function", "function": document} for document in documents]
    return [{"role": "tools", "content": json.dumps(tools, ensure_ascii=False)}]


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls, each with its name and then its arguments."""
    each = [
        f"{_CALLS}{call.name}{_ARGS}{json.dumps(dict(call.kwargs), ensure_ascii=False)}"
        for call in calls
    ]
    return before(text, "".join(each))


def answer(
    calls: Sequence[Call | MalformedCall], results: Sequence[str], said: str
) -> list[ChatMessage]:
    """Show results, by the ids of their calls where the reply had some, as JSON after a list."""
    ids = _CALL_ID.findall(said)
    if len(ids) == len(calls):
        results = [f"{id}[TOOL_CONTENT]{text}" for id, text in zip(ids, results, strict=True)]
    elif (named := _listed(said)) and len(named) == len(calls):
        results = [
            json.dumps({"content": text, **name}, ensure_ascii=False)
            for text, name in zip(results, named, strict=True)
        ]
    return [{"role": RESULT, "content": text} for text in results]


def _listed(said: str) -> list[dict[str, str]]:
    """Return of each call in a JSON list its id, if it has one."""
    begin = said.find(_CALLS) + len(_CALLS)
    if not said.startswith("[", after_blanks(said, begin)):
        return []
    try:
        value, _ = json_at(said, begin)
    except MalformedCall:
        return []
    given = [member.get("id") if isinstance(member, dict) else None for member in value]
    return [{"call_id": id} if isinstance(id, str) else {} for id in given]


def read(text: str, _documents: Sequence[Document]) -> list[Call]:
    """Read calls of either form; a mark that neither follows is prose.

    Raises:
        MalformedCall: A call cannot be read.
    """
    check_length(text)
    calls: list[Call] = []
    position = text.find(_CALLS)
    while position >= 0:
        begin = end = position + len(_CALLS)
        if text.startswith(("[", "{"), after_blanks(text, begin)):
            value, end = json_at(text, begin)
            for call in listed_calls(value):
                add(calls, call)
        elif head := _HEAD.match(text, begin):
            end = head.end()
            place = after_blanks(text, end)
            if text.startswith(("{", '"') if head[2] else "{", place):
                value, end = json_at(text, place, f"What follows {head[1]}")
                add(calls, call_from_tool(head[1], value))
            elif head[2] or head.start(1) == begin:
                raise MalformedCall(f"After {head[1]} must stand a JSON object of its arguments.")
        position = text.find(_CALLS, end)
    return calls


MISTRAL = Written(
    "mistral",
    "raw",
    True,
    show,
    write,
    answer,
    read,
    ("</s>",),
    Frame(
        {
            "system": ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
            "tools": ("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
            "user": ("[INST]", "[/INST]"),
            "assistant": ("", "</s>"),
            RESULT: ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
        },
        "",
        "<s>",
    ),
)
