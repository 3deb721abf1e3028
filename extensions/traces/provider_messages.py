"""Conversion of Gemini's contents and of Amazon Bedrock's messages to Anthropic's blocks.

Each item becomes one message, so that an error can name the place of the item.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from runner.models.recorded_messages import MalformedMessage

_BEDROCK_KEYS = ("toolUse", "toolResult", "reasoningContent")
_WRAPPERS = ("result", "output")
"""Names under which Gemini's libraries send a result that is not an object."""

Json = Mapping[str, Any]


class _OpenCall(NamedTuple):
    name: str
    id: str


def convert_messages(items: Sequence[object]) -> list[object]:
    """Return messages; those of Gemini and Bedrock in Anthropic's form, others unchanged.

    Raises MalformedMessage with the path of an item that cannot be converted.
    """
    converter = _Converter()
    found: list[object] = []
    for index, item in enumerate(items):
        try:
            found.append(converter.message(item))
        except MalformedMessage as error:
            raise error.below(f"[{index}]") from None
    return found


class _Converter:
    """Converter of a conversation; Gemini's results have the function's name in place of an id."""

    def __init__(self) -> None:
        self._open: list[_OpenCall] = []
        self._number = 0

    def message(self, item: object) -> object:
        if not isinstance(item, Mapping) or "type" in item:
            return item
        parts, content = item.get("parts"), item.get("content")
        if isinstance(parts, list) and "content" not in item:
            return self._gemini(item, parts)
        if isinstance(content, list) and any(map(_is_bedrock, content)):
            return {**item, "content": [_bedrock_block(part) for part in content]}
        return item

    def _gemini(self, item: Json, parts: Sequence[object]) -> Json:
        is_answer = item.get("role") == "model"
        blocks: list[Json] = []
        thoughts = []
        for place, part in enumerate(parts):
            if not isinstance(part, Mapping):
                raise MalformedMessage("must be an object", f".parts[{place}]")
            call = part.get("functionCall", part.get("function_call"))
            result = part.get("functionResponse", part.get("function_response"))
            if part.get("thought") is True:
                thoughts.append(str(part.get("text") or ""))
            elif isinstance(call, Mapping):
                blocks.append(self._call(call, f".parts[{place}].functionCall"))
            elif isinstance(result, Mapping):
                blocks.append(self._result(result))
            elif isinstance(part.get("text"), str):
                blocks.append({"type": "text", "text": part["text"]})
        message = {"role": "assistant" if is_answer else "user", "content": blocks}
        return {**message, "reasoning": "\n".join(thoughts)} if thoughts else message

    def _call(self, call: Json, path: str) -> Json:
        name = call.get("name")
        if not isinstance(name, str) or not name:
            raise MalformedMessage("must be a function's name", f"{path}.name")
        self._number += 1
        id = str(call.get("id") or f"call_{self._number}")
        self._open.append(_OpenCall(name, id))
        return {"type": "tool_use", "id": id, "name": name, "input": call.get("args") or {}}

    def _result(self, result: Json) -> Json:
        name, id = str(result.get("name")), result.get("id")
        fitting = [each for each in self._open if each.id == id or (not id and each.name == name)]
        if fitting:
            self._open.remove(fitting[0])
        value = result.get("response")
        if isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in _WRAPPERS:
            value = next(iter(value.values()))
        text = value if isinstance(value, str) else json.dumps(value)
        known = fitting[0].id if fitting else str(id or name)
        return {"type": "tool_result", "tool_use_id": known, "content": text}


def _is_bedrock(part: object) -> bool:
    return (
        isinstance(part, Mapping) and "type" not in part and any(k in part for k in _BEDROCK_KEYS)
    )


def _bedrock_block(part: object) -> object:
    if not isinstance(part, Mapping):
        return part
    if isinstance(call := part.get("toolUse"), Mapping):
        named = {"name": call.get("name"), "input": call.get("input")}
        return {"type": "tool_use", "id": call.get("toolUseId"), **named}
    if isinstance(result := part.get("toolResult"), Mapping):
        given = result.get("content")
        texts = [_bedrock_text(each) for each in given] if isinstance(given, list) else given
        return {"type": "tool_result", "tool_use_id": result.get("toolUseId"), "content": texts}
    if "reasoningContent" in part:
        return {"type": "text", "text": ""}
    return part


def _bedrock_text(part: object) -> object:
    if isinstance(part, Mapping) and "json" in part:
        return {"type": "text", "text": json.dumps(part["json"])}
    return part
