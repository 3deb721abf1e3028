"""Conversion of requests and answers for OpenAI's APIs.

OpenAI-compatible servers use chat completions. In the Responses API, a conversation is a list of
items. The answers are converted to chat completions. The items are kept unchanged, because their
reasoning is encrypted and not stored on the server. The two older APIs (text completions, and chat
completions with the field ``functions``) are used for calling formats only.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple

from envs.state import make_encoder
from runner.models.model_types import ChatMessage, FatalError, ToolForm, Wire, separate, unchanged
from runner.models.prompt_cache import MARK

_encode = make_encoder((",", ":"))


class EncodedMessage(NamedTuple):
    """A message in encoded form."""

    speaker: str
    items: bytes


Settings = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Api(ABC):
    """Conversion of requests and answers for one API."""

    path: str
    """URL path after the base URL; ``{model}`` is the model's name."""
    settings: Callable[[str, Settings], Settings]
    """Function that gets the model's name and settings; it returns fields of the request body."""
    tool: ToolForm = unchanged
    tools: tuple[bytes, bytes] = (b',"tools":[', b"]")
    calling: Callable[[Settings], Settings] = unchanged
    completion: Callable[[object], object] = lambda body: body
    """Function that converts an answer's body to a chat completion. Other bodies stay unchanged."""

    @abstractmethod
    def speech(self, message: ChatMessage, earlier: Iterable[ChatMessage]) -> EncodedMessage:
        """Encode a message; ``earlier`` yields the messages before it, the last one first."""

    @abstractmethod
    def members(self, speeches: Sequence[EncodedMessage], marked: Collection[int]) -> list[bytes]:
        """Return the encoded fields of the request body, such as ``"messages": [...]``.

        Each message whose index is in ``marked`` gets a cache mark at its end.
        """


@dataclass(frozen=True, kw_only=True)
class ItemApi(Api):
    """An API of OpenAI; a conversation is a list of items."""

    items: Callable[[ChatMessage], Sequence[Mapping[str, Any]]] = lambda message: (message,)
    conversation: str = "messages"

    def speech(self, message: ChatMessage, earlier: Iterable[ChatMessage]) -> EncodedMessage:
        """Encode a message; ``earlier`` yields the messages before it, the last one first."""
        items = ",".join(map(_encode, self.items(message)))
        return EncodedMessage(message["role"], items.encode())

    def members(self, speeches: Sequence[EncodedMessage], marked: Collection[int]) -> list[bytes]:
        """Return the parts of the body field that holds the conversation."""
        items = [speech.items for speech in speeches]
        for place in marked:
            # Gateways to Anthropic expect the mark on a content part.
            message = json.loads(items[place])
            content = [{"type": "text", "text": message["content"], **MARK}]
            items[place] = _encode({**message, "content": content}).encode()
        return [b'"%b":[' % self.conversation.encode(), *separate(filter(None, items)), b"]"]


def _convert_settings(model: str, given: Settings) -> Settings:
    if "seed" in given:
        raise FatalError("the Responses API takes no seed; leave out --seed, or use --api chat")
    settings = {"model": model, "store": False, "include": ["reasoning.encrypted_content"], **given}
    if "max_tokens" in settings:
        settings["max_output_tokens"] = settings.pop("max_tokens")
    if "reasoning_effort" in settings:
        settings["reasoning"] = {"effort": settings.pop("reasoning_effort")}
    return settings


def _convert_choice(given: Mapping[str, Any]) -> Mapping[str, Any]:
    choice = given.get("tool_choice")
    if not isinstance(choice, Mapping):
        return given
    return {**given, "tool_choice": {"type": "function", "name": choice["function"]["name"]}}


def _convert_message(message: ChatMessage) -> Sequence[Mapping[str, Any]]:
    role, content = message["role"], message["content"]
    if role == "tool":
        call = message["tool_call_id"]
        return [{"type": "function_call_output", "call_id": call, "output": content}]
    calls = [
        {"type": "function_call", "call_id": call["id"], **call["function"]}
        for call in message.get("tool_calls") or ()
    ]
    if "output_items" in message:
        # The calls keep the ids and arguments of the conversation.
        left = iter(calls)
        return [
            {**item, **next(left, {})} if _is(item, "function_call") else item
            for item in message["output_items"]
        ]
    said = [{"role": role, "content": content or ""}] if content or not calls else []
    return [*said, *calls]


def _read_completion(body: object) -> object:
    items = body.get("output") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(items, list) or body.get("error"):
        return body
    parts = [
        part
        for item in items
        if _is(item, "message") and isinstance(item.get("content"), list)
        for part in item["content"]
    ]
    message = {
        "role": "assistant",
        "content": [part for part in parts if _is(part, "output_text")] or None,
        "refusal": next((part.get("refusal") for part in parts if _is(part, "refusal")), None),
        "tool_calls": [
            {
                "id": item.get("call_id"),
                "function": {"name": item.get("name"), "arguments": item.get("arguments")},
            }
            for item in items
            if _is(item, "function_call")
        ],
        "output_items": items,
    }
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    reason = "length" if reason == "max_output_tokens" else reason or body.get("status")
    choice = {"message": message, "finish_reason": reason}
    return {"choices": [choice], "usage": _read_usage(body.get("usage"))}


def _read_usage(usage: object) -> object:
    if not isinstance(usage, Mapping):
        return usage
    details = {
        f"{name}_tokens_details": usage.get(f"{theirs}_tokens_details")
        for name, theirs in (("prompt", "input"), ("completion", "output"))
    }
    return {**usage, **details}


def _convert_legacy_message(message: ChatMessage) -> Sequence[Mapping[str, Any]]:
    """Convert a message to the format of OpenAI's older ``functions`` API."""
    if message["role"] == "tool":
        named = {"role": "function", "name": message.get("name", "")}
        return [{**named, "content": message["content"]}]
    calls = message.get("tool_calls")
    if not calls:
        return [message]
    first = {name: value for name, value in message.items() if name != "tool_calls"}
    other = {"role": "assistant", "content": None}
    return [
        {**(other if number else first), "function_call": call["function"]}
        for number, call in enumerate(calls)
    ]


def _convert_legacy_choice(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tool choice in the form of the older API, as the field ``function_call``."""
    choice = given.get("tool_choice")
    if isinstance(choice, Mapping):
        choice = {"name": choice["function"]["name"]}
    return {} if choice is None else {"function_call": choice}


def _read_text_completion(body: object) -> object:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(body, Mapping) or not isinstance(first, Mapping) or "text" not in first:
        return body
    message = {"role": "assistant", "content": first["text"]}
    return {**body, "choices": [{**first, "message": message}]}


def _is(item: object, kind: str) -> bool:
    return isinstance(item, Mapping) and item.get("type") == kind


def _flatten_tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "function", "strict": False, **tool["function"]}


CHAT = ItemApi(path="chat/completions", settings=lambda model, given: {"model": model, **given})
RESPONSES = ItemApi(
    path="responses",
    conversation="input",
    settings=_convert_settings,
    items=_convert_message,
    tool=_flatten_tool,
    calling=_convert_choice,
    completion=_read_completion,
)
FUNCTIONS = replace(
    CHAT,
    items=_convert_legacy_message,
    tool=itemgetter("function"),
    tools=(b',"functions":[', b"]"),
    calling=_convert_legacy_choice,
)
COMPLETIONS = replace(CHAT, path="completions", completion=_read_text_completion)

APIS: Mapping[Wire, Api] = {
    "chat": CHAT,
    "responses": RESPONSES,
    "functions": FUNCTIONS,
    "completions": COMPLETIONS,
}
