"""Conversion of requests and answers for Gemini's own API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from runner.models.apis import Settings
from runner.models.block_api import SYSTEM, VERBATIM, BlockApi, Said, object_in, sum_token_counts
from runner.models.model_types import ChatMessage, FatalError

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
_REASONING_TOKENS = {"none": 0, "low": 1024, "medium": 2048, "high": 4096}
_MIN_REASONING_TOKENS = {"flash-lite": 512, "pro": 128}
_SCHEMA = frozenset(
    [
        *("type", "format", "title", "description", "nullable", "enum", "default", "example"),
        *("properties", "required", "minProperties", "maxProperties", "propertyOrdering"),
        *("items", "minItems", "maxItems", "minLength", "maxLength", "pattern"),
        *("minimum", "maximum", "anyOf"),
    ]
)
_FORMATS = ("float", "double", "int32", "int64", "enum", "date-time")


def _convert_settings(model: str, given: Settings) -> Settings:
    rest = dict(given)
    effort = rest.pop("reasoning_effort", None)
    config = {_NAMES.get(name, name): value for name, value in rest.items()}
    if effort is not None:
        config["thinkingConfig"] = _convert_effort(model, effort)
    return {"generationConfig": config} if config else {}


def _convert_effort(model: str, effort: str) -> Settings:
    if effort not in (*_REASONING_TOKENS, "minimal"):
        raise FatalError(f"{model} does not take --reasoning-effort {effort}; leave it out")
    shown = {"includeThoughts": effort != "none"}
    if "gemini-2" in model:
        least = next((n for part, n in _MIN_REASONING_TOKENS.items() if part in model), 1)
        return {"thinkingBudget": _REASONING_TOKENS.get(effort, least), **shown}
    if effort in ("none", "minimal"):
        effort = "minimal" if "flash" in model else "low"
    return {"thinkingLevel": effort, **shown}


def _convert_choice(given: Settings) -> Settings:
    if given.get("parallel_tool_calls") is False:
        raise FatalError(
            "gemini cannot limit an answer to one call; leave out --parallel-tool-calls"
        )
    choice = given.get("tool_choice")
    if choice is None:
        return {}
    config: dict[str, Any] = {"mode": "ANY"}
    if isinstance(choice, Mapping):
        config["allowedFunctionNames"] = [choice["function"]["name"]]
    elif choice != "required":
        config["mode"] = choice.upper()
    return {"toolConfig": {"functionCallingConfig": config}}


def _convert_tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "parameters": _convert_schema(function["parameters"]),
    }


def _convert_schema(given: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = {name: value for name, value in given.items() if name in _SCHEMA}
    if kept.get("type") != "string":
        # Only strings may have an enum.
        kept.pop("enum", None)
    if kept.get("format") not in _FORMATS:
        kept.pop("format", None)
    if not kept.get("properties"):
        for name in ("properties", "required"):
            kept.pop(name, None)
    else:
        members = kept["properties"].items()
        kept["properties"] = {name: _convert_schema(member) for name, member in members}
    if "items" in kept:
        kept["items"] = _convert_schema(kept["items"] or {"type": "object"})
    choices = kept.pop("anyOf", None)
    if choices is None:
        return kept
    # The API allows no members beside anyOf and no type null.
    some = [_convert_schema(each) for each in choices if each.get("type") != "null"]
    null = {"nullable": True} if len(some) < len(choices) else {}
    return {"anyOf": [{**kept, **each, **null} for each in some]}


def _convert_message(message: ChatMessage, earlier: Iterable[ChatMessage]) -> Said:
    role, content = message["role"], message["content"]
    if role == "tool":
        response = object_in(content)
        answered = {"response": {"content": content} if response is None else response}
        called = _find_call(earlier, message["tool_call_id"])
        return "tool", [{"functionResponse": {**called, **answered}}]
    if role != "assistant":
        return (SYSTEM if role == "system" else "user"), [{"text": content}]
    if VERBATIM in message:
        return role, message[VERBATIM]
    calls = [_make_part(call) for call in message.get("tool_calls") or ()]
    return role, [*([{"text": content}] if content else ()), *calls]


def _make_part(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call["function"]
    called = {"name": function["name"], "args": object_in(function["arguments"]) or {}}
    signed = (call.get("extra_content") or {}).get("google") or {}
    signature = signed.get("thought_signature")
    return {"functionCall": called, **({_SIGNATURE: signature} if signature else {})}


def _find_call(earlier: Iterable[ChatMessage], id: str) -> Mapping[str, Any]:
    for message in earlier:
        calls = message.get("tool_calls") or ()
        for number, call in enumerate(calls):
            if call["id"] == id:
                parts = [p["functionCall"] for p in message.get(VERBATIM, ()) if _is_call(p)]
                given = parts[number].get("id") if number < len(parts) else None
                name = call["function"]["name"]
                return {"id": given, "name": name} if given else {"name": name}
    return {"name": id}


def _is_call(part: object) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("functionCall"), Mapping)


def _read_completion(body: object) -> object:
    if not isinstance(body, Mapping) or body.get("error"):
        return body
    candidates = body.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    if not isinstance(first, Mapping):
        return _make_block_error(body)
    content = first.get("content")
    given = content.get("parts") if isinstance(content, Mapping) else None
    parts = [p for p in given if isinstance(p, Mapping)] if isinstance(given, list) else []
    end = first.get("finishReason")
    if end == _UNPARSED and not parts:
        return {"error": {"message": first.get("finishMessage") or end, "code": end}}
    text, reasoning = (
        "".join(_find_texts(parts, thoughts=which)) or None for which in (False, True)
    )
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text,
        "tool_calls": [_read_call(part) for part in parts if _is_call(part)],
    }
    if reasoning:
        message["reasoning_content"] = reasoning
    if any(part.keys() not in _PLAIN for part in parts):
        message[VERBATIM] = parts
    finish = _ENDS.get(end, end) if isinstance(end, str) else None
    return {
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": _read_usage(body.get("usageMetadata")),
    }


def _make_block_error(body: Mapping[Any, Any]) -> object:
    feedback = body.get("promptFeedback")
    reason = feedback.get("blockReason") if isinstance(feedback, Mapping) else None
    if not reason:
        return body
    message = f"the prompt was blocked: {reason}"
    return {"error": {"message": message, "code": "content_policy_violation"}}


def _find_texts(parts: Sequence[Mapping[str, Any]], *, thoughts: bool) -> Iterator[str]:
    for part in parts:
        text = part.get("text")
        if isinstance(text, str) and bool(part.get("thought")) == thoughts:
            yield text


def _read_call(part: Mapping[str, Any]) -> Mapping[str, Any]:
    called = part["functionCall"]
    function = {"name": called.get("name"), "arguments": json.dumps(called.get("args") or {})}
    call = {"id": called.get("id"), "type": "function", "function": function}
    signature = part.get(_SIGNATURE)
    if signature:
        # In the form of Gemini's OpenAI-compatible API.
        call["extra_content"] = {"google": {"thought_signature": signature}}
    return call


def _read_usage(usage: object) -> object:
    if not isinstance(usage, Mapping):
        return None
    prompt = sum_token_counts(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount"))
    thoughts = usage.get("thoughtsTokenCount")
    if prompt is None:
        return None
    return {
        "prompt_tokens": prompt,
        "completion_tokens": sum_token_counts(usage.get("candidatesTokenCount"), thoughts) or 0,
        "prompt_tokens_details": {"cached_tokens": usage.get("cachedContentTokenCount")},
        "completion_tokens_details": {"reasoning_tokens": thoughts},
    }


GEMINI = BlockApi(
    path="models/{model}:generateContent",
    settings=_convert_settings,
    tool=_convert_tool,
    tools=(b',"tools":[{"functionDeclarations":[', b"]}]"),
    calling=_convert_choice,
    completion=_read_completion,
    blocks=_convert_message,
    conversation="contents",
    content="parts",
    system=(b'"system_instruction":{"parts":[', b"]}"),
    roles={"user": "user", "tool": "user", "assistant": "model"},
)
GEMMA = replace(GEMINI, roles={SYSTEM: "user", **GEMINI.roles})
