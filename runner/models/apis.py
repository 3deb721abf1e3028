"""The APIs of OpenAI's: what a request and an answer look like in each.

Everything else speaks chat completions. For the Responses API, a conversation is turned into items,
and an answer into a chat completion, with its items in it as they came: the thoughts in them are
encrypted, and the server keeps none. The older two are for protocols: functions of chat completions
before there were tools, and completions of one text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from runner.models.base import ChatMessage, FatalError, ToolList, Wire

_CUT_OFF = "max_output_tokens"


class Api(NamedTuple):
    """How one of the APIs is spoken."""

    path: str
    conversation: str
    """Member of the body that holds the conversation."""
    settings: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """Makes members of the body of settings by their names in chat completions."""
    items: Callable[[ChatMessage], Sequence[Mapping[str, Any]]]
    """Makes of one message what stands for it in the body."""
    tools: Callable[[ToolList], bytes]
    """Encodes the tools."""
    calling: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """Makes what goes with tools, such as tool_choice, of its form in chat completions."""
    completion: Callable[[object], object]
    """Makes a chat completion of an answer; what is none is left for others to refuse."""
    offers: bytes = b"tools"
    """Member of the body that holds the tools."""


def _settings(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings by their names in the Responses API.

    Raises:
        FatalError: It does not have one of them.
    """
    if "seed" in given:
        raise FatalError("the Responses API takes no seed: leave it out, or try --api chat")
    settings = {"store": False, "include": ["reasoning.encrypted_content"], **given}
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


CHAT = Api(
    "chat/completions",
    "messages",
    lambda settings: settings,
    lambda message: (message,),
    lambda tools: tools.encoded,
    lambda calling: calling,
    lambda body: body,
)
RESPONSES = Api(
    "responses", "input", _settings, _items, lambda tools: tools.flat, _calling, _completion
)

FUNCTIONS = CHAT._replace(
    items=_legacy_message,
    tools=lambda tools: tools.functions,
    offers=b"functions",
    calling=_legacy_calling,
)
COMPLETIONS = CHAT._replace(path="completions", conversation="prompt", completion=_completed)

APIS: Mapping[Wire, Api] = {
    "chat": CHAT,
    "responses": RESPONSES,
    "functions": FUNCTIONS,
    "completions": COMPLETIONS,
}
