"""Gemini's own API: what a request and an answer look like there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from runner.models.apis import Settings
from runner.models.base import ChatMessage, FatalError
from runner.models.blocks import SYSTEM, VERBATIM, BlockApi, Said, object_in, total

_SIGNATURE = "thoughtSignature"
_PLAIN = ({"text"}, {"functionCall"})
_ENDS = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"),
        "content_filter",
    ),
}
_UNPARSED = "MALFORMED_FUNCTION_CALL"
_NAMES = {"top_p": "topP", "max_tokens": "maxOutputTokens"}
_BUDGETS = {"none": 0, "low": 1024, "medium": 2048, "high": 4096}
_LEAST_BUDGETS = {"flash-lite": 512, "pro": 128}
"""Tokens of thoughts, at least, by what a model's name says."""
_SCHEMA = frozenset(
    [
        *("type", "format", "title", "description", "nullable", "enum", "default", "example"),
        *("properties", "required", "minProperties", "maxProperties", "propertyOrdering"),
        *("items", "minItems", "maxItems", "minLength", "maxLength", "pattern"),
        *("minimum", "maximum", "anyOf"),
    ]
)
"""Members of a schema that the API knows."""
_FORMATS = ("float", "double", "int32", "int64", "enum", "date-time")


def _settings(model: str, given: Settings) -> Settings:
    rest = dict(given)
    effort = rest.pop("reasoning_effort", None)
    config = {_NAMES.get(name, name): value for name, value in rest.items()}
    if effort is not None:
        config["thinkingConfig"] = _thinking(model, effort)
    return {"generationConfig": config} if config else {}


def _thinking(model: str, effort: str) -> Settings:
    """Return how much a model is to think.

    Raises:
        FatalError: It knows no such effort.
    """
    if effort not in (*_BUDGETS, "minimal"):
        raise FatalError(f"{model} does not take reasoning_effort {effort}: leave it out")
    thoughts = {"includeThoughts": effort != "none"}
    if "gemini-2" in model:
        least = next((n for part, n in _LEAST_BUDGETS.items() if part in model), 1)
        return {"thinkingBudget": _BUDGETS.get(effort, least), **thoughts}
    if effort in ("none", "minimal"):
        effort = "minimal" if "flash" in model else "low"
    return {"thinkingLevel": effort, **thoughts}


def _calling(given: Settings) -> Settings:
    """Return the choice of a function.

    Raises:
        FatalError: One call at a time is asked for.
    """
    if given.get("parallel_tool_calls") is False:
        raise FatalError("gemini cannot be asked for one call at a time: leave it out")
    choice = given.get("tool_choice")
    if choice is None:
        return {}
    config: dict[str, Any] = {"mode": "ANY"}
    if isinstance(choice, Mapping):
        config["allowedFunctionNames"] = [choice["function"]["name"]]
    elif choice != "required":
        config["mode"] = choice.upper()
    return {"toolConfig": {"functionCallingConfig": config}}


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "parameters": _schema(function["parameters"]),
    }


def _schema(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without the members that the API refuses."""
    kept = {name: value for name, value in given.items() if name in _SCHEMA}
    if kept.get("type") != "string":
        # Only texts may be listed.
        kept.pop("enum", None)
    if kept.get("format") not in _FORMATS:
        kept.pop("format", None)
    if not kept.get("properties"):
        for name in ("properties", "required"):
            kept.pop(name, None)
    else:
        members = kept["properties"].items()
        kept["properties"] = {name: _schema(member) for name, member in members}
    if "items" in kept:
        kept["items"] = _schema(kept["items"] or {"type": "object"})
    choices = kept.pop("anyOf", None)
    if choices is None:
        return kept
    # Nothing may stand beside anyOf, and there is no type null.
    some = [_schema(each) for each in choices if each.get("type") != "null"]
    null = {"nullable": True} if len(some) < len(choices) else {}
    return {"anyOf": [{**kept, **each, **null} for each in some]}


def _blocks(message: ChatMessage, earlier: Sequence[ChatMessage]) -> Said:
    role, content = message["role"], message["content"]
    if role == "tool":
        response = object_in(content)
        answered = {"response": {"content": content} if response is None else response}
        called = _called(earlier, message["tool_call_id"])
        return "tool", [{"functionResponse": {**called, **answered}}]
    if role != "assistant":
        return (SYSTEM if role == "system" else "user"), [{"text": content}]
    if VERBATIM in message:
        return role, message[VERBATIM]
    calls = [_part(call) for call in message.get("tool_calls") or ()]
    return role, [*([{"text": content}] if content else ()), *calls]


def _part(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a call whose answer's other parts are left out, with its signature all the same."""
    function = call["function"]
    called = {"name": function["name"], "args": object_in(function["arguments"]) or {}}
    signed = (call.get("extra_content") or {}).get("google") or {}
    signature = signed.get("thought_signature")
    return {"functionCall": called, **({_SIGNATURE: signature} if signature else {})}


def _called(earlier: Sequence[ChatMessage], id: str) -> Mapping[str, Any]:
    """Return the name of what was called, and its id where Gemini has given it one."""
    for message in reversed(earlier):
        calls = message.get("tool_calls") or ()
        for number, call in enumerate(calls):
            if call["id"] == id:
                parts = [p["functionCall"] for p in message.get(VERBATIM, ()) if _calls(p)]
                given = parts[number].get("id") if number < len(parts) else None
                name = call["function"]["name"]
                return {"id": given, "name": name} if given else {"name": name}
    return {"name": id}


def _calls(part: object) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("functionCall"), Mapping)


def _completion(body: object) -> object:
    if not isinstance(body, Mapping) or body.get("error"):
        return body
    candidates = body.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    if not isinstance(first, Mapping):
        return _blocked(body)
    content = first.get("content")
    given = content.get("parts") if isinstance(content, Mapping) else None
    parts = [p for p in given if isinstance(p, Mapping)] if isinstance(given, list) else []
    end = first.get("finishReason")
    if end == _UNPARSED and not parts:
        return {"error": {"message": first.get("finishMessage") or end, "code": end}}
    said, thought = ("".join(_texts(parts, thoughts=which)) or None for which in (False, True))
    message: dict[str, Any] = {
        "role": "assistant",
        "content": said,
        "tool_calls": [_call(part) for part in parts if _calls(part)],
    }
    if thought:
        message["reasoning_content"] = thought
    if any(part.keys() not in _PLAIN for part in parts):
        message[VERBATIM] = parts
    finish = _ENDS.get(end, end) if isinstance(end, str) else None
    return {
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": _usage(body.get("usageMetadata")),
    }


def _blocked(body: Mapping[Any, Any]) -> object:
    """Return the error that a prompt is which is not answered at all."""
    feedback = body.get("promptFeedback")
    reason = feedback.get("blockReason") if isinstance(feedback, Mapping) else None
    if not reason:
        return body
    said = f"the prompt was blocked: {reason}"
    return {"error": {"message": said, "code": "content_policy_violation"}}


def _texts(parts: Sequence[Mapping[str, Any]], *, thoughts: bool) -> Iterator[str]:
    for part in parts:
        text = part.get("text")
        if isinstance(text, str) and bool(part.get("thought")) == thoughts:
            yield text


def _call(part: Mapping[str, Any]) -> Mapping[str, Any]:
    called = part["functionCall"]
    function = {"name": called.get("name"), "arguments": json.dumps(called.get("args") or {})}
    call = {"id": called.get("id"), "type": "function", "function": function}
    signature = part.get(_SIGNATURE)
    if signature:
        # As Gemini's other API has it.
        call["extra_content"] = {"google": {"thought_signature": signature}}
    return call


def _usage(usage: object) -> object:
    if not isinstance(usage, Mapping):
        return None
    prompt = total(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount"))
    thoughts = usage.get("thoughtsTokenCount")
    if prompt is None:
        return None
    return {
        "prompt_tokens": prompt,
        "completion_tokens": total(usage.get("candidatesTokenCount"), thoughts) or 0,
        "prompt_tokens_details": {"cached_tokens": usage.get("cachedContentTokenCount")},
        "completion_tokens_details": {"reasoning_tokens": thoughts},
    }


GEMINI = BlockApi(
    path="models/{model}:generateContent",
    settings=_settings,
    tool=_tool,
    tools=(b',"tools":[{"functionDeclarations":[', b"]}]"),
    calling=_calling,
    completion=_completion,
    blocks=_blocks,
    conversation="contents",
    content="parts",
    system=(b'"system_instruction":{"parts":[', b"]}"),
    roles={"user": "user", "tool": "user", "assistant": "model"},
)
GEMMA = replace(GEMINI, roles={SYSTEM: "user", **GEMINI.roles})
"""For models that know no system prompt."""
