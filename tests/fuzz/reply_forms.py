"""Forms of what servers and clients send: replies in all APIs, texts with calls, actions."""

from __future__ import annotations

import json
from typing import Any

from tests.fuzz.forms import Form

_CALL = {"name": "touch", "arguments": '{"file_name": "a"}'}
_USAGE = {"prompt_tokens": 5, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": 1}}
_CHAT = {
    "id": "x",
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "I make it."}],
                "reasoning_content": "so",
                "tool_calls": [{"id": "c", "type": "function", "function": _CALL}],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": _USAGE,
}
_RESPONSES = {
    "status": "completed",
    "output": [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "so"}],
            "encrypted_content": "e",
        },
        {"type": "message", "content": [{"type": "output_text", "text": "I make it."}]},
        {"type": "function_call", "call_id": "c", **_CALL},
    ],
    "usage": {
        "input_tokens": 5,
        "output_tokens": 6,
        "output_tokens_details": {"reasoning_tokens": 2},
    },
}
_FUNCTIONS = {
    "choices": [
        {"message": {"content": None, "function_call": _CALL}, "finish_reason": "function_call"}
    ],
    "usage": _USAGE,
}
_COMPLETIONS = {
    "choices": [{"text": "<think>so</think>touch(file_name='a')", "finish_reason": "stop"}],
    "usage": _USAGE,
}
_ANTHROPIC = {
    "type": "message",
    "content": [
        {"type": "thinking", "thinking": "so", "signature": "s"},
        {"type": "text", "text": "I make it."},
        {"type": "tool_use", "id": "c", "name": "touch", "input": {"file_name": "a"}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 5, "output_tokens": 6, "cache_read_input_tokens": 1},
}
_GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "so", "thought": True},
                    {"text": "I make it."},
                    {
                        "functionCall": {"name": "touch", "args": {"file_name": "a"}},
                        "thoughtSignature": "s",
                    },
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 5,
        "candidatesTokenCount": 6,
        "thoughtsTokenCount": 1,
    },
}
_ERROR = {
    "error": {
        "message": "This model's maximum context length is 10 tokens; try again in 20 s",
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
        "details": [{"@type": "RetryInfo", "retryDelay": "2s"}],
    }
}
REPLIES = {
    "chat": _CHAT,
    "responses": _RESPONSES,
    "functions": _FUNCTIONS,
    "completions": _COMPLETIONS,
    "anthropic": _ANTHROPIC,
    "gemini": _GEMINI,
}
"""A good reply by the API that it is in."""


def reply_forms() -> dict[str, Form]:
    """Return these forms by name."""
    return {
        "replies": _of({**REPLIES, "error": _ERROR}, "REPLIES"),
        "calls in texts": _of(_TEXTS, "CALLS-IN-TEXTS"),
        "drafts": _of(_DRAFTS, "DRAFTS"),
        "actions": _of(_ACTIONS, "ACTIONS"),
        "control bodies": _of({"body": {"snapshot": 0}}, "CONTROL"),
        "answers of services": _of(_SERVICES, "SERVICES"),
        "price table": _of({"prices": _PRICES}, "PRICES"),
    }


def _of(values: dict[str, Any], reader: str) -> Form:
    """Return a form of texts, or of JSON values, that a reader takes one by one."""
    files = {
        f"{name}.json": (value if isinstance(value, str) else json.dumps(value)).encode()
        for name, value in values.items()
    }
    return Form(files, [*files], (reader,))


_TEXTS = {
    "pythonic": "[touch(file_name='a'), cd(folder='b')]",
    "fence": "So:\n```python\ntouch(file_name='a')\n```",
    "tags": '<tool_call>\n{"name": "touch", "arguments": {"file_name": "a"}}\n</tool_call>',
    "coder": "<tool_call>\n<function=touch>\n<parameter=file_name>\na\n</parameter>\n</function>\n"
    "</tool_call>",
    "glm": "<tool_call>touch\n<arg_key>file_name</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
    "mistral": '[TOOL_CALLS][{"name": "touch", "arguments": {"file_name": "a"}}]',
    "llama": '<|python_tag|>{"name": "touch", "parameters": {"file_name": "a"}}',
    "harmony": "<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>commentary "
    'to=functions.touch <|constrain|>json<|message|>{"file_name": "a"}<|call|>',
    "deepseek": "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>"
    'function<\uff5ctool\u2581sep\uff5c>touch\n```json\n{"file_name": "a"}\n```<\uff5ctool\u2581'
    "call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>",
    "react": 'Thought: so\nAction: touch\nAction Input: {"file_name": "a"}',
    "invoke": '<function_calls><invoke name="touch"><parameter name="file_name">a</parameter>'
    "</invoke></function_calls>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.touch:0"
    '<|tool_call_argument_begin|>{"file_name": "a"}<|tool_call_end|><|tool_calls_section_end|>',
    "java": 'touch("a", new int[]{1}, new HashMap<String, Integer>() {{ put("k", 1); }})',
}
_DRAFTS = {
    "words": 'So:\n```json\n{"description": "Make a file.", "parameters": {"file_name": "Its."}}\n'
    "```",
    "keep": 'So: {"keep": ["id", "title"]}',
}
_ACTIONS = {
    "message": {"role": "assistant", "content": "so", "tool_calls": [{"function": _CALL}]},
    "snapshot": {
        "replies": [["Done.", [["touch", {"file_name": "a"}]]]],
    },
    "reply": {"role": "assistant", "content": "so", "function_call": _CALL},
}
_SERVICES = {"answer": {"books": [{"id": 1, "title": "x"}], "total": 2.5, "next": None}}
_PRICES = {
    "gpt-x": {
        "litellm_provider": "openai",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 2e-06,
        "cache_read_input_token_cost": 5e-07,
        "mode": "chat",
        "supports_reasoning": True,
    }
}
