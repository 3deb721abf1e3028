"""Conversion of requests and answers for Anthropic's Messages API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from runner.models.apis import Settings
from runner.models.block_api import SYSTEM, VERBATIM, BlockApi, Said, object_in, sum_token_counts
from runner.models.model_types import ChatMessage

_PLAIN = ("text", "tool_use")
_ANSWER_TOKENS = 4096
"""Default limit of answer tokens, without reasoning; the API requires a limit."""
_EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_REASONING_TOKENS = dict(zip(_EFFORTS, (1024, 1024, 2048, 4096, 8192, 16384), strict=True))
"""Reasoning tokens by effort; the API's minimum is 1024."""
_TAKES_BUDGET = re.compile(r"claude-(?:3-|\w+-4(?:-[0-5])?(?:-\d{8})?$)")
"""Models before version 4.6 need a reasoning budget."""
_CHOICES = {None: "auto", "required": "any"}
_ENDS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def _convert_settings(model: str, given: Settings) -> Settings:
    rest = dict(given)
    effort, max_tokens, thinking = (
        rest.pop("reasoning_effort", None),
        _ANSWER_TOKENS,
        dict[str, Any](),
    )
    if effort in (None, "none"):
        pass
    elif _TAKES_BUDGET.match(model):
        max_tokens += _REASONING_TOKENS[effort]
        thinking = {"thinking": {"type": "enabled", "budget_tokens": _REASONING_TOKENS[effort]}}
    else:
        thinking = {
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": "low" if effort == "minimal" else effort},
        }
    return {"model": model, "max_tokens": max_tokens, **thinking, **rest}


def _convert_choice(given: Settings) -> Settings:
    if not given:
        return {}
    choice, parallel = given.get("tool_choice"), given.get("parallel_tool_calls")
    if isinstance(choice, Mapping):
        converted = {"type": "tool", "name": choice["function"]["name"]}
    else:
        converted = {"type": _CHOICES.get(choice, choice)}
    if parallel is not None and choice != "none":
        converted["disable_parallel_tool_use"] = not parallel
    return {"tool_choice": converted}


def _convert_tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool["function"]
    return {
        "type": "custom",
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _convert_message(message: ChatMessage, _: Iterable[ChatMessage]) -> Said:
    role, content = message["role"], message["content"]
    if role == "tool":
        id = message["tool_call_id"]
        return "user", [{"type": "tool_result", "tool_use_id": id, "content": content}]
    if role != "assistant":
        return (SYSTEM if role == "system" else "user"), _make_text_block(content)
    ids = [call["id"] for call in message.get("tool_calls") or ()]
    if VERBATIM in message:
        return role, [*_restore_blocks(message[VERBATIM], ids)]
    calls = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": object_in(call["function"]["arguments"]) or {},
        }
        for call in message.get("tool_calls") or ()
    ]
    return role, [*(message.get("thinking_blocks") or ()), *_make_text_block(content), *calls]


def _make_text_block(content: object) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if content else []


def _restore_blocks(
    blocks: Sequence[Mapping[str, Any]], ids: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    own = iter(ids)
    for block in blocks:
        if block["type"] == "tool_use":
            yield {**block, "id": next(own, block.get("id"))}
        elif block["type"] != "text" or block.get("text"):
            yield block


def _read_completion(body: object) -> object:
    blocks = body.get("content") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(blocks, list) or body.get("error"):
        return body
    blocks = [block for block in blocks if isinstance(block, Mapping) and "type" in block]
    texts = [block.get("text") for block in blocks if block["type"] == "text"]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join([text for text in texts if isinstance(text, str)]) or None,
        "tool_calls": [_read_call(block) for block in blocks if block["type"] == "tool_use"],
    }
    if any(block["type"] not in _PLAIN for block in blocks):
        message[VERBATIM] = blocks
    end = body.get("stop_reason")
    finish = _ENDS.get(end, end) if isinstance(end, str) else None
    return {
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": _read_usage(body.get("usage")),
    }


def _read_call(block: Mapping[str, Any]) -> Mapping[str, Any]:
    given = block.get("input")
    arguments = given if given is None else json.dumps(given)
    function = {"name": block.get("name"), "arguments": arguments}
    return {"id": block.get("id"), "type": "function", "function": function}


def _read_usage(usage: object) -> object:
    if not isinstance(usage, Mapping):
        return None
    read, written = (usage.get(f"cache_{name}_input_tokens") for name in ("read", "creation"))
    prompt = sum_token_counts(usage.get("input_tokens"), read, written)
    if prompt is None:
        # A prompt is never empty, so zeros are not counts.
        return None
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": {"cached_tokens": read, "cache_creation_tokens": written},
    }


ANTHROPIC = BlockApi(
    path="v1/messages",
    settings=_convert_settings,
    tool=_convert_tool,
    calling=_convert_choice,
    completion=_read_completion,
    blocks=_convert_message,
    conversation="messages",
    content="content",
    system=(b'"system":[', b"]"),
    roles={"user": "user", "assistant": "assistant"},
)
