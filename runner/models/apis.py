"""The APIs of OpenAI's: what a request and an answer look like in each.

Everything else speaks chat completions. For the Responses API, a conversation is turned into items,
and an answer into a chat completion, with its items in it as they came: the thoughts in them are
encrypted, and the server keeps none. The older two are for protocols: functions of chat completions
before there were tools, and completions of one text.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from runner.models.base import ChatMessage, FatalError, ToolForm, Wire, unchanged
from runner.models.caching import MARK

_CUT_OFF = "max_output_tokens"
_JSON = json.JSONEncoder(separators=(",", ":"))


class Speech(NamedTuple):
    """A message in encoded form."""

    speaker: str
    """Who says it, by the name of the role."""
    items: bytes
    """What stands for it in the body, as JSON with commas in between; may be empty."""


Settings = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Api(ABC):
    """How one of the APIs is spoken."""

    path: str
    """Behind the base URL; ``{model}`` stands for the model's name."""
    settings: Callable[[str, Settings], Settings]
    """Makes members of the body of the model's name, and of settings named as chat completions
    name them."""
    tool: ToolForm = unchanged
    tools: tuple[bytes, bytes] = (b',"tools":[', b"]")
    """What stands in the body before and after the tools."""
    calling: Callable[[Settings], Settings] = unchanged
    """Makes what goes with tools, such as tool_choice, of its form in chat completions."""
    completion: Callable[[object], object] = lambda body: body
    """Makes a chat completion of an answer; what is none is left for others to refuse."""

    @abstractmethod
    def speech(self, message: ChatMessage, earlier: Sequence[ChatMessage]) -> Speech:
        """Encode a message that follows others."""

    @abstractmethod
    def members(self, speeches: Sequence[Speech], marked: Collection[int]) -> bytes:
        """Return the members of the body that hold a conversation.

        Args:
            speeches: Its messages.
            marked: Places of messages that end with a mark for the cache.
        """


@dataclass(frozen=True, kw_only=True)
class ItemApi(Api):
    """One of OpenAI's: a conversation is a list of items."""

    items: Callable[[ChatMessage], Sequence[Mapping[str, Any]]] = lambda message: (message,)
    """Makes of one message what stands for it in the body."""
    conversation: str = "messages"
    """Member of the body that holds the conversation."""

    def speech(self, message: ChatMessage, earlier: Sequence[ChatMessage]) -> Speech:
        """Encode a message that follows others."""
        items = ",".join(map(_JSON.encode, self.items(message)))
        return Speech(message["role"], items.encode())

    def members(self, speeches: Sequence[Speech], marked: Collection[int]) -> bytes:
        """Return the member of the body that holds a conversation."""
        items = [speech.items for speech in speeches]
        for place in marked:
            items[place] = _marked(items[place])
        return b'"%b":[%b]' % (self.conversation.encode(), b",".join(filter(None, items)))


def _marked(item: bytes) -> bytes:
    """Return a message that ends with a mark for the cache, as gateways to Anthropic want it."""
    message = json.loads(item)
    content = [{"type": "text", "text": message["content"], **MARK}]
    return _JSON.encode({**message, "content": content}).encode()


def _plain(model: str, given: Settings) -> Settings:
    return {"model": model, **given}


def _settings(model: str, given: Settings) -> Settings:
    """Return settings by their names in the Responses API.

    Raises:
        FatalError: It does not have one of them.
    """
    if "seed" in given:
        raise FatalError("the Responses API takes no seed: leave it out, or try --api chat")
    settings = {"model": model, "store": False, "include": ["reasoning.encrypted_content"], **given}
    if "max_tokens" in settings:
        settings["max_output_tokens"] = settings.pop("max_tokens")
    if "reasoning_effort" in settings:
        settings["reasoning"] = {"effort": settings.pop("reasoning_effort")}
    return settings


def _calling(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what goes with tools; a function that is to be called is named one level higher."""
    choice = given.get("tool_choice")
    if not isinstance(choice, Mapping):
        return given
    return {**given, "tool_choice": {"type": "function", "name": choice["function"]["name"]}}


def _items(message: ChatMessage) -> Sequence[Mapping[str, Any]]:
    """Return the items that stand for a message of the conversation."""
    role, content = message["role"], message["content"]
    if role == "tool":
        call = message["tool_call_id"]
        return [{"type": "function_call_output", "call_id": call, "output": content}]
    calls = [
        {"type": "function_call", "call_id": call["id"], **call["function"]}
        for call in message.get("tool_calls") or ()
    ]
    if "output_items" in message:
        return _with_calls(message["output_items"], calls)
    said = [{"role": role, "content": content or ""}] if content or not calls else []
    return [*said, *calls]


def _with_calls(
    items: Sequence[Any], calls: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Return the items of an answer, its calls with the ids and arguments of the conversation."""
    places = iter(calls)
    return [{**item, **next(places, {})} if _is(item, "function_call") else item for item in items]


def _completion(body: object) -> object:
    """Return an answer of the Responses API as a chat completion."""
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
    choice = {"message": message, "finish_reason": _finish_reason(body)}
    return {"choices": [choice], "usage": _usage(body.get("usage"))}


def _finish_reason(body: Mapping[Any, Any]) -> object:
    """Return why an answer ended, in the words of chat completions for being cut off."""
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    if reason == _CUT_OFF:
        return "length"
    return reason or body.get("status")


def _usage(usage: object) -> object:
    if not isinstance(usage, Mapping):
        return usage
    details = {
        f"{name}_tokens_details": usage.get(f"{theirs}_tokens_details")
        for name, theirs in (("prompt", "input"), ("completion", "output"))
    }
    return {**usage, **details}


def _legacy_message(message: ChatMessage) -> Sequence[Mapping[str, Any]]:
    """Return a message of a chat with tools as one with functions; of several calls, several."""
    if message["role"] == "tool":
        named = {"role": "function", "name": message.get("name", "")}
        return [{**named, "content": message["content"]}]
    calls = message.get("tool_calls")
    if not calls:
        return [message]
    said = {name: value for name, value in message.items() if name != "tool_calls"}
    rest = {"role": "assistant", "content": None}
    return [
        {**(rest if number else said), "function_call": call["function"]}
        for number, call in enumerate(calls)
    ]


def _legacy_calling(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the choice of a function; there are never several at once."""
    choice = given.get("tool_choice")
    if isinstance(choice, Mapping):
        choice = {"name": choice["function"]["name"]}
    return {} if choice is None else {"function_call": choice}


def _completed(body: object) -> object:
    """Return a completed text as a chat completion."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(body, Mapping) or not isinstance(first, Mapping) or "text" not in first:
        return body
    message = {"role": "assistant", "content": first["text"]}
    return {**body, "choices": [{**first, "message": message}]}


def _is(item: object, kind: str) -> bool:
    return isinstance(item, Mapping) and item.get("type") == kind


def _flat(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool for the Responses API; there, strict is what comes unasked."""
    return {"type": "function", "strict": False, **tool["function"]}


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function: Mapping[str, Any] = tool["function"]
    return function


CHAT = ItemApi(path="chat/completions", settings=_plain)
RESPONSES = ItemApi(
    path="responses",
    conversation="input",
    settings=_settings,
    items=_items,
    tool=_flat,
    calling=_calling,
    completion=_completion,
)
FUNCTIONS = replace(
    CHAT,
    items=_legacy_message,
    tool=_function,
    tools=(b',"functions":[', b"]"),
    calling=_legacy_calling,
)
COMPLETIONS = replace(CHAT, path="completions", completion=_completed)

APIS: Mapping[Wire, Api] = {
    "chat": CHAT,
    "responses": RESPONSES,
    "functions": FUNCTIONS,
    "completions": COMPLETIONS,
}
