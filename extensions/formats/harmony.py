"""Calling format Harmony of the model gpt-oss.

A message has a header, a mark and a body. Functions are types in a TypeScript namespace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from envs.calls import Call, make_call_from_tool
from envs.errors import MalformedCall
from extensions.formats.prompt_text import RESULT, Documents, answering, arguments_json
from extensions.formats.reply_parsing import check_length, json_at, reading
from runner.models.calling_formats.format_types import PromptFrame, ReplyContent, TextFormat
from runner.models.model_types import ChatMessage
from runner.models.toolbox import Document

_START, _CHANNEL, _MESSAGE = "<|start|>", "<|channel|>", "<|message|>"
_END, _CALL, _RETURN = "<|end|>", "<|call|>", "<|return|>"
_RECIPIENT = re.compile(r"\bto=functions\.([\w.-]{1,200}+)")
_ENDS = re.compile(r"<\|(?:end|call|return|start)\|>")


def _recipient(header: str) -> str | None:
    found = _RECIPIENT.search(header)
    return found and found[1]


class _HarmonyMessage(NamedTuple):
    header: str
    body: str
    begin: int
    """Position of the body in the reply."""

    @property
    def channel(self) -> str:
        named = self.header.partition(_CHANNEL)[2].split()
        return named[0].partition("<")[0] if named else ""


def _parts_of(text: str) -> Iterator[_HarmonyMessage]:
    """Yield the messages of a reply. The body of a call ends where its JSON arguments end."""
    check_length(text)
    position = 0
    while (middle := text.find(_MESSAGE, position)) >= 0:
        header, begin = text[position:middle], middle + len(_MESSAGE)
        end = begin
        if _recipient(header):
            _, end = json_at(text, begin)
        closed = _ENDS.search(text, end)
        position = closed.end() if closed else len(text)
        yield _HarmonyMessage(header, text[begin : closed.start() if closed else len(text)], begin)


_TYPES = {"integer": "number", "number": "number", "boolean": "boolean", "string": "string"}


def _show(documents: Documents) -> list[ChatMessage]:
    types = "\n\n".join(map(_type_of_function, documents))
    space = (
        f"# Tools\n\n## functions\n\nnamespace functions {{\n\n{types}\n\n}} // namespace functions"
    )
    return [{"role": "developer", "content": space}]


def _type_of_function(document: Document) -> str:
    schema = document["parameters"]
    about = "\n".join(f"// {line}" for line in document["description"].splitlines())
    if not schema.get("properties"):
        return f"{about}\ntype {document['name']} = () => any;"
    required = schema.get("required", ())
    members = [
        f"// {' '.join(str(value.get('description', '')).split())}\n"
        f"{name}{'' if name in required else '?'}: {_type(value)},"
        for name, value in schema["properties"].items()
    ]
    return "\n".join([about, f"type {document['name']} = (_: {{", *members, "}) => any;"])


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"{_type(schema.get('items', {}))}[]"
    return _TYPES.get(str(schema.get("type")), "any")


def _write(calls: Sequence[Call], text: str, _documents: Documents) -> str:
    """Write an answer: calls go to the commentary channel, a final text to the final channel."""
    if not calls:
        return f"{_CHANNEL}final{_MESSAGE}{text}"
    parts = [f"{_CHANNEL}analysis{_MESSAGE}{text}{_END}"] if text else []
    parts += [
        f"{_CHANNEL}commentary to=functions.{call.name} <|constrain|>json{_MESSAGE}"
        f"{arguments_json(call)}{_CALL}"
        for call in calls
    ]
    return f"{_START}assistant".join(parts)


@reading
def _read(text: str, _documents: Documents) -> Iterator[Call]:
    """Read the calls from messages to a function; skip messages to a built-in tool.

    Raises MalformedCall if the arguments of a call cannot be parsed.
    """
    for part in _parts_of(text):
        if name := _recipient(part.header):
            yield make_call_from_tool(name, json_at(text, part.begin)[0])


def _says(text: str) -> ReplyContent:
    """Split a reply into answer and thoughts. Thoughts are in the analysis channel."""
    if _MESSAGE not in text:
        return ReplyContent(text)
    try:
        parts = [*_parts_of(text)]
    except MalformedCall:
        return ReplyContent(text)
    thoughts = "\n".join(part.body for part in parts if part.channel == "analysis")
    final = "\n".join(part.body for part in parts if part.channel != "analysis")
    return ReplyContent(final, thoughts or None)


def _closing(text: str) -> str:
    """Return the control token that ends a reply; servers remove this token from the reply."""
    last = text[text.rfind(_MESSAGE, 0, text.rfind(_MESSAGE)) + 1 :]
    return _CALL if _recipient(last.rpartition(_MESSAGE)[0]) else _END


HARMONY = TextFormat(
    "harmony",
    "raw",
    parallel=False,
    show=_show,
    write=_write,
    answer=answering(
        f"{{name}} to=assistant{_CHANNEL}commentary{_MESSAGE}{{result}}", RESULT, together=False
    ),
    read=_read,
    stops=(_CALL, _RETURN),
    frame=PromptFrame(
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
    says=_says,
)
