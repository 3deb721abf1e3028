"""Chat completions as servers really send them, each with what is to be read from it."""

from __future__ import annotations

from collections.abc import Mapping
from json import loads
from typing import Any, NamedTuple

from runner.models.model_types import (
    FatalError,
    ModelError,
    RequestError,
    ToolCall,
    TransientError,
    Usage,
    VerbatimParts,
)

CD = {"name": "cd", "arguments": '{"folder": "docs"}'}
CALL = {"id": "call_1", "type": "function", "function": CD}
READ = ToolCall("call_1", "cd", '{"folder": "docs"}')
TOKENS = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}


def completion(
    message: object,
    finish_reason: object = "stop",
    *,
    usage: object = None,
    prompt: int = 12,
    model: str = "fake",
) -> dict[str, Any]:
    """Return a chat completion around a message."""
    counted = {"prompt_tokens": prompt, "completion_tokens": 3, "total_tokens": prompt + 3}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1735689600,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": counted if usage is None else usage,
    }


class Shape(NamedTuple):
    """A body and what it amounts to."""

    body: Any
    text: str | None = None
    calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    finish_reason: str | None = "stop"
    usage: Usage = Usage(12, 3)
    error: type[ModelError] | None = None
    """What is raised instead of a reply."""
    verbatim: VerbatimParts | None = None
    """What goes back to the server."""
    strict_client: bool = True
    """Whether a client that checks answers for their form lets it through unchanged."""


def _said(content: object, text: str | None, **more: Any) -> Shape:
    """Return the shape of a message with this content."""
    return Shape(completion({"role": "assistant", "content": content}), text, **more)


def _called(
    tool_calls: object, *calls: ToolCall, content: object = None, reason: object = "tool_calls"
) -> Shape:
    """Return the shape of a message with these tool calls."""
    message = {"role": "assistant", "content": content, "tool_calls": tool_calls}
    text = content if isinstance(content, str) else None
    read = reason if isinstance(reason, str) else None
    return Shape(completion(message, reason), text, calls, finish_reason=read)


def _with_arguments(arguments: object) -> Shape:
    entry = {**CALL, "function": {"name": "cd", "arguments": arguments}}
    return _called([entry], ToolCall("call_1", "cd", arguments))


def _with_id(id: object, read: str | None) -> Shape:
    return _called([{**CALL, "id": id}], READ._replace(id=read))


def _thinking(member: str, value: object) -> Shape:
    message = {"role": "assistant", "content": "Yes.", member: value}
    return Shape(
        completion(message), "Yes.", reasoning="Hm.", verbatim=VerbatimParts({member: value})
    )


def _counting(usage: object, read: Usage) -> Shape:
    body = completion({"role": "assistant", "content": "Yes."}, usage=usage)
    return Shape(body, "Yes.", usage=read)


def _broken(body: object, error: type[ModelError] = TransientError) -> Shape:
    return Shape(body, error=error)


def _refused(message: str, kind: str | None, code: object, error: type[ModelError]) -> Shape:
    return _broken({"error": {"message": message, "type": kind, "code": code}}, error)


def _loose(shape: Shape) -> Shape:
    """Return a shape that a client with checks of its own does not pass on as it is."""
    return shape._replace(strict_client=False)


_OTHER = {"id": "call_2", "type": "function", "function": {"name": "pwd", "arguments": "{}"}}
_READ_OTHER = ToolCall("call_2", "pwd", "{}")
_PARTS = [{"type": "text", "text": "One "}, {"type": "text", "text": "two."}]
_THINKING = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Yes."}]
_NESTED = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, *_PARTS]
_ENCRYPTED = [{"type": "reasoning.encrypted", "data": "ENC", "id": "r1"}]
_SIGNED = {**CALL, "extra_content": {"google": {"thought_signature": "SIG"}}}

SHAPES: dict[str, Shape] = {
    # Text
    "text": _said("Yes.", "Yes."),
    "text-empty": _said("", ""),
    "text-null": _loose(_said(None, None)),
    "text-missing": _loose(Shape(completion({"role": "assistant"}))),
    "text-in-parts": _loose(_said(_PARTS, "One two.")),
    "text-among-other-parts": _loose(
        _said([{"type": "image_url", "image_url": {"url": "x"}}, *_PARTS, 7, None], "One two.")
    ),
    "text-in-one-part": _loose(_said({"type": "text", "text": "Yes."}, "Yes.")),
    "text-in-bare-parts": _loose(_said(["One ", "two."], "One two.")),
    "text-in-output-parts": _loose(_said([{"type": "output_text", "text": "Yes."}], "Yes.")),
    "text-in-no-parts": _loose(_said([], None)),
    "text-is-a-number": _loose(_said(7, None)),
    "refusal": _loose(
        Shape(
            completion({"role": "assistant", "content": None, "refusal": "No."}),
            "No.",
            finish_reason="refusal",
        )
    ),
    "role-missing": _loose(Shape(completion({"content": "Yes."}), "Yes.")),
    # Tool calls
    "call": _called([CALL], READ),
    "calls-in-parallel": _called([CALL, _OTHER], READ, _READ_OTHER),
    "calls-null": _called(None, content="Yes.", reason="stop"),
    "calls-empty": _loose(_called([], content="Yes.", reason="stop")),
    "calls-beside-text": _called([CALL], READ, content="Let me look."),
    "calls-not-in-a-list": _loose(_called(CALL, READ)),
    "calls-are-text": _loose(_called("cd", content="Yes.", reason="stop")),
    "call-null": _loose(_called([None, CALL], READ)),
    "call-is-text": _loose(_called(["cd", CALL], ToolCall(None, "", "cd"), READ)),
    "call-flat": _loose(_called([{"id": "call_1", **CD}], READ)),
    "call-named-in-function": _loose(
        _called(
            [{"id": "call_1", "function": "cd", "arguments": CD["arguments"]}],
            READ,
        )
    ),
    "call-type-missing": _loose(_called([{"id": "call_1", "function": CD}], READ)),
    "call-without-function": _loose(
        _called([{"id": "call_1", "type": "function"}], ToolCall("call_1", "", None))
    ),
    "function-null": _loose(_called([{**CALL, "function": None}], ToolCall("call_1", "", None))),
    "name-missing": _loose(
        _called([{**CALL, "function": {"arguments": "{}"}}], ToolCall("call_1", "", "{}"))
    ),
    "name-null": _loose(
        _called(
            [{**CALL, "function": {"name": None, "arguments": "{}"}}], ToolCall("call_1", "", "{}")
        )
    ),
    "name-is-a-number": _loose(
        _called(
            [{**CALL, "function": {"name": 7, "arguments": "{}"}}], ToolCall("call_1", "", "{}")
        )
    ),
    "name-never-offered": _called(
        [{**CALL, "function": {**CD, "name": "fly"}}], READ._replace(name="fly")
    ),
    "arguments-object": _loose(_with_arguments({"folder": "docs"})),
    "arguments-empty-text": _with_arguments(""),
    "arguments-blank": _with_arguments(" \n"),
    "arguments-not-json": _with_arguments("{folder: docs"),
    "arguments-null": _loose(_with_arguments(None)),
    "arguments-list": _loose(_with_arguments([1])),
    "arguments-number": _loose(_with_arguments(7)),
    "arguments-missing": _loose(
        _called([{**CALL, "function": {"name": "cd"}}], ToolCall("call_1", "cd", None))
    ),
    "id-missing": _loose(_called([{"type": "function", "function": CD}], READ._replace(id=None))),
    "id-null": _loose(_with_id(None, None)),
    "id-empty": _loose(_with_id("", None)),
    "id-is-a-number": _loose(_with_id(7, "7")),
    "ids-equal": _called(
        [CALL, {**_OTHER, "id": "call_1"}], READ, _READ_OTHER._replace(id="call_1")
    ),
    "legacy-call": _loose(
        Shape(
            completion(
                {"role": "assistant", "content": None, "function_call": CD}, "function_call"
            ),
            calls=(READ._replace(id=None),),
            finish_reason="function_call",
        )
    ),
    "legacy-call-beside-calls": _loose(
        Shape(
            completion({"role": "assistant", "tool_calls": [CALL], "function_call": CD}),
            calls=(READ,),
        )
    ),
    # Reasons
    "reason-says-stop": _loose(_called([CALL], READ, reason="stop")),
    "reason-says-calls": _said("Yes.", "Yes.")._replace(
        body=completion({"role": "assistant", "content": "Yes."}, "tool_calls"),
        finish_reason="tool_calls",
    ),
    "reason-length": _said("Ye", "Ye")._replace(
        body=completion({"role": "assistant", "content": "Ye"}, "length"), finish_reason="length"
    ),
    "reason-null": _loose(_called([CALL], READ, reason=None)),
    "reason-is-a-number": _loose(_called([CALL], READ, reason=7)),
    "reason-unheard-of": _loose(_called([CALL], READ, reason="eos_token")),
    "reason-error": _broken(completion({"role": "assistant", "content": None}, "error")),
    # Thoughts
    "thoughts-reasoning-content": _thinking("reasoning_content", "Hm."),
    "thoughts-reasoning": _thinking("reasoning", "Hm."),
    "thoughts-thinking": _loose(_thinking("thinking", "Hm.")),
    "thoughts-details": _loose(
        _thinking("reasoning_details", [{"type": "reasoning.text", "text": "Hm."}])
    ),
    "thoughts-in-parts": _loose(
        _said(
            _THINKING,
            "Yes.",
            reasoning="Hm.",
            verbatim=VerbatimParts({"content": _THINKING}),
        )
    ),
    "thoughts-in-nested-parts": _loose(
        _said(
            _NESTED,
            "One two.",
            reasoning="Hm.",
            verbatim=VerbatimParts({"content": _NESTED}),
        )
    ),
    "thoughts-only": _loose(
        Shape(
            completion({"role": "assistant", "content": None, "reasoning_content": "Hm."}),
            reasoning="Hm.",
            verbatim=VerbatimParts({"reasoning_content": "Hm."}),
        )
    ),
    "thoughts-empty": _loose(_thinking("reasoning_content", "")._replace(reasoning=None)),
    "thoughts-null": _loose(
        _thinking("reasoning_content", None)._replace(reasoning=None, verbatim=None)
    ),
    "thoughts-encrypted": _loose(
        _thinking("reasoning_details", _ENCRYPTED)._replace(reasoning=None)
    ),
    "thoughts-too-deep": _loose(
        _thinking("reasoning_details", loads("[" * 50 + "]" * 50))._replace(
            reasoning=None, verbatim=None
        )
    ),
    "call-signed": _loose(
        _called([CALL, _SIGNED], READ, READ)._replace(
            verbatim=VerbatimParts({}, ({}, {"extra_content": _SIGNED["extra_content"]}))
        )
    ),
    "thoughts-in-text": _loose(_said("<think>\nHm.\n</think>\n\nYes.", "Yes.", reasoning="Hm.")),
    "thoughts-open-in-prompt": _loose(_said("Hm.\n</think>\n\nYes.", "Yes.", reasoning="Hm.")),
    "thoughts-cut-off": _loose(_said("<think>Hm.", "", reasoning="Hm.")),
    # Tokens
    "usage-missing": _counting({}, Usage())._replace(
        body={
            key: value
            for key, value in completion({"role": "assistant", "content": "Yes."}).items()
            if key != "usage"
        },
        strict_client=False,
    ),
    "usage-nulls": _loose(
        _counting({"prompt_tokens": None, "completion_tokens": None}, Usage(None, None))
    ),
    "usage-odd": _loose(
        _counting({"prompt_tokens": "12", "completion_tokens": -1}, Usage(None, None))
    ),
    "usage-is-text": _loose(_counting("12", Usage())),
    "usage-fractions": _loose(
        _counting({"prompt_tokens": 12.0, "completion_tokens": 3.0}, Usage(12, 3))
    ),
    "usage-details": _counting(
        {
            **TOKENS,
            "prompt_tokens_details": {"cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
        Usage(12, 3, 8, 2),
    ),
    "usage-details-null": _counting(
        {**TOKENS, "prompt_tokens_details": None, "completion_tokens_details": None}, Usage(12, 3)
    ),
    "usage-cache-hits": _counting({**TOKENS, "prompt_cache_hit_tokens": 8}, Usage(12, 3, 8)),
    "usage-cache-writes": _counting(
        {**TOKENS, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 6}},
        Usage(12, 3, 4, None, 6),
    ),
    "usage-cache-reads": _counting(
        {**TOKENS, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 0},
        Usage(12, 3, 8, written=0),
    ),
    "usage-other-names": _loose(_counting({"input_tokens": 12, "output_tokens": 3}, Usage(12, 3))),
    # No completion at all
    "choices-empty": _broken({**completion({}), "choices": []}),
    "choices-missing": _broken({"id": "chatcmpl-1", "object": "chat.completion"}),
    "choices-null": _broken({**completion({}), "choices": None}),
    "choices-of-text": _broken({**completion({}), "choices": ["x"]}),
    "message-missing": _broken({**completion({}), "choices": [{"index": 0}]}),
    "message-null": _broken(completion(None)),
    "message-is-text": _broken(completion("Yes.")),
    "body-null": _broken(None),
    "body-list": _broken([completion({"content": "Yes."})]),
    "body-text": _broken("Yes."),
    "body-number": _broken(7),
    "body-empty": _broken({}),
    # Errors with status 200
    "error-rate-limit": _refused("Rate limit reached", "rate_limit_error", None, TransientError),
    "error-overloaded": _refused("Overloaded", "overloaded_error", None, TransientError),
    "error-server": _refused("Internal server error", "server_error", 500, TransientError),
    "error-code-429": _refused("Provider returned error", None, 429, TransientError),
    "error-code-text": _refused("Slow down", None, "429", TransientError),
    "error-key": _refused("Invalid API key", "authentication_error", None, FatalError),
    "error-code-401": _refused("User not found.", None, 401, FatalError),
    "error-model": _refused("The model `x` does not exist", None, "model_not_found", FatalError),
    "error-quota": _refused("Out of money", "insufficient_quota", None, FatalError),
    "error-tools": _refused("x does not support tools", "api_error", None, FatalError),
    "error-context": _refused(
        "maximum context length is 8192 tokens", "invalid_request_error", None, RequestError
    ),
    "error-filter": _refused("Refused by content filter", None, "content_filter", RequestError),
    "error-unclear": _refused("Something went wrong", None, None, TransientError),
    "error-is-text": _broken({"error": "CUDA out of memory"}),
    "error-as-body": _broken(
        {
            "object": "error",
            "message": "prompt is too long",
            "type": "BadRequestError",
            "code": 400,
        },
        RequestError,
    ),
    "error-as-detail": _broken({"detail": "Too many requests"}),
    "error-in-choice": _broken(
        {
            **completion({}),
            "choices": [
                {
                    "message": {"role": "assistant", "content": "Half an"},
                    "finish_reason": "error",
                    "error": {"code": 502, "message": "Provider disconnected"},
                }
            ],
        }
    ),
    "error-null": Shape(
        {**completion({"role": "assistant", "content": "Yes."}), "error": None}, "Yes."
    ),
}


def expected(shape: Shape) -> Mapping[str, object]:
    """Return the members of the reply that a shape amounts to."""
    return {
        "text": shape.text,
        "tool_calls": shape.calls,
        "reasoning": shape.reasoning,
        "finish_reason": shape.finish_reason,
        "usage": shape.usage,
        "verbatim": shape.verbatim,
    }
