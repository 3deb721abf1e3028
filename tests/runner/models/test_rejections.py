"""Whose doing it is that a server refuses: what servers say, and what only looks like it."""

from __future__ import annotations

import pytest

from runner.models.model_types import RequestError, TransientError
from runner.models.rejections import find_model_error
from runner.models.reply_reader import classify, classify_words

SAID = {
    "context_overflow": [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
        "context_length_exceeded Your input exceeds the context window of this model.",
        "prompt is too long: 200031 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "exceed_context_size_error request (4476 tokens) exceeds the available context size",
        "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
        "Requested token count exceeds the model's maximum context length of 8192 tokens.",
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        "Invalid request: Your request exceeded model token limit: 8192",
        "`inputs` tokens + `max_new_tokens` must be <= 4096",
        "Input is too long for requested model.",
    ],
    "unparsed_call": [
        "tool_use_failed Failed to call a function. Please adjust your prompt.",
        "Failed to parse tool call arguments as JSON",
        "error parsing tool call: raw='{\"a\": }', err=invalid character '}'",
        "Failed to parse tool call: Expecting value: line 1 column 1",
        "tool call validation failed: attempted to call tool 'cp' which was not in request.tools",
        "Failed to parse input at pos 12: <tool_call>",
    ],
    "content_policy": [
        "content_filter The response was filtered due to the prompt.",
        "Azure OpenAI's content management policy",
        "invalid_prompt Your prompt was flagged as potentially violating our usage policy.",
        "Output blocked by content filtering policy",
        "data_inspection_failed Input data may contain inappropriate content.",
        "Content Exists Risk",
        "Content violates usage guidelines.",
        "Your chosen model requires moderation and your input was flagged for violence",
    ],
    "request_too_large": [
        "request_too_large Request exceeds the maximum size",
        "Payload Too Large",
        "array_above_max_length Invalid 'messages[3].tool_calls': array too long.",
    ],
}


@pytest.mark.parametrize(("kind", "said"), [(k, text) for k, all in SAID.items() for text in all])
def test_what_a_server_says_of_the_model_s_doing(kind: str, said: str) -> None:
    assert find_model_error(400, said) == find_model_error(200, said) == kind


@pytest.mark.parametrize(
    "said",
    [
        "Invalid schema for function 'send_message': 'any' is not supported",
        "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        "An assistant message with 'tool_calls' must be followed by tool messages",
        "'max_context' is not a parameter",
        "Invalid value for 'content': expected a string",
        "The policy of your organization does not allow this model",
        "This file name is too long",
    ],
)
def test_what_is_not_the_model_s_doing(said: str) -> None:
    assert find_model_error(400, said) is None


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (403, "Your input was flagged", "content_policy"),
        (401, "Failed to parse tool call", None),
        (429, "maximum context length", None),
        (500, "Failed to parse tool call", "unparsed_call"),
        (500, "content_filter is down", None),
        (413, "", "request_too_large"),
        (404, "maximum context length", None),
    ],
)
def test_the_status_has_a_say(status: int, said: str, kind: str | None) -> None:
    assert find_model_error(status, said) == kind


@pytest.mark.parametrize("status", [400, 500])
def test_what_a_model_wrote_is_no_word_of_its_server(status: int) -> None:
    said = "error parsing tool call: raw='insufficient funds, invalid api key', err=..."
    found = classify(status, {"error": {"message": said}}, {})
    assert (type(found), found.kind) == (RequestError, "unparsed_call")
    assert classify_words(said).kind == "unparsed_call"


@pytest.mark.parametrize("status", [413, 429])
def test_more_than_the_account_may_ask_a_minute_is_the_account_s_limit(status: int) -> None:
    said = "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000"
    found = classify(status, {"error": {"message": said, "code": "rate_limit_exceeded"}}, {})
    assert (type(found), found.kind) == (RequestError, "rate_limit")


@pytest.mark.parametrize(
    ("status", "kind"), [(408, "server"), (429, "rate_limit"), (503, "server")]
)
def test_what_passes_has_a_kind(status: int, kind: str) -> None:
    found = classify(status, {}, {})
    assert (type(found), found.kind) == (TransientError, kind)
