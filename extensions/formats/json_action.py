"""LangChain's structured chat: a fenced object of action and input, also for the last answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from envs.calls import Call, call_from_tool
from envs.errors import MalformedCall
from extensions.formats.reading import add, check_length, json_at
from extensions.formats.showing import answering, before, lines, showing
from extensions.formats.typed_texts import only_parameter
from runner.models.protocols.base import Spoken, Written
from runner.models.tools import Document

_LAST = "Final Answer"
_BEGINNING = re.compile(r"\{\s*+\"action(?:_input)?\"\s*+:")


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls, or the last answer where there are none."""
    if not calls:
        return _fenced(_LAST, text)
    return before(text, "\n".join([_fenced(call.name, dict(call.kwargs)) for call in calls]))


def _fenced(action: str, given: object) -> str:
    shown = json.dumps({"action": action, "action_input": given}, ensure_ascii=False)
    return f"```json\n{shown}\n```"


def read(text: str, documents: Sequence[Document]) -> list[Call]:
    """Read all actions, fenced or not, up to the last answer.

    Raises:
        MalformedCall: One cannot be read.
    """
    calls: list[Call] = []
    for value in _actions(text):
        name, given = value["action"], value.get("action_input")
        if name == _LAST:
            break
        if isinstance(given, str) and not given.lstrip().startswith("{"):
            add(calls, only_parameter(name, given, documents))
        else:
            add(calls, call_from_tool(name, given))
    return calls


def _actions(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects with an action.

    Raises:
        MalformedCall: One is no JSON.
    """
    check_length(text)
    found = _BEGINNING.search(text)
    while found:
        value, end = json_at(text, found.start(), "The action")
        if isinstance(value.get("action"), str):
            yield value
        found = _BEGINNING.search(text, end)


def says(text: str) -> Spoken:
    """Take the last answer."""
    try:
        for value in _actions(text):
            if value["action"] == _LAST and isinstance(value.get("action_input"), str):
                return Spoken(value["action_input"])
    except MalformedCall:
        pass
    return Spoken(text)


JSON_ACTION = Written(
    "json_action",
    "text",
    False,
    showing("json_action", write, lines),
    write,
    answering("Result: {result}"),
    read,
    says=says,
)
