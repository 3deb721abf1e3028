"""Streamed answers become chat completions."""

from __future__ import annotations

import json

import pytest

from runner.models.model_types import ToolCall, TransientError
from runner.models.reply_reader import read_completion
from runner.models.streaming import read_stream


def stream(*deltas: object, reason: str | None = "stop", usage: object = None) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": reason}]})
    chunks.append({"choices": [], "usage": usage})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([": keep-alive\n\n", *lines, "data: [DONE]\n\n"]).encode()


def test_texts_and_reasoning_are_joined() -> None:
    content = stream(
        {"role": "assistant", "content": "", "reasoning_content": "Hm"},
        {"role": "assistant", "reasoning_content": "m."},
        {"content": "He"},
        {"content": "llo"},
        usage={"prompt_tokens": 3, "completion_tokens": 2},
    )
    reply = read_completion(read_stream(content, "x"), 0.1)
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Hello", "Hmm.", "stop")
    assert (reply.usage.prompt, reply.usage.completion) == (3, 2)


def test_calls_are_joined_by_their_number() -> None:
    first = {"index": 0, "id": "a", "type": "function", "function": {"name": "cd"}}
    parts = [first, {"index": 1, "id": "b", "function": {"name": "ls", "arguments": "{}"}}]
    content = stream(
        {"tool_calls": parts},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"folder":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ' "x"}'}}]},
        reason="tool_calls",
    )
    reply = read_completion(read_stream(content, "x"), 0.1)
    assert reply.tool_calls == (ToolCall("a", "cd", '{"folder": "x"}'), ToolCall("b", "ls", "{}"))


def test_a_name_that_every_part_repeats_is_read_once() -> None:
    content = stream(
        *(
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "cd", "arguments": part}}]}
            for part in ('{"folder":', ' "x"}')
        ),
        {"content": "assistant"},
        {"content": "assistant"},
        reason="tool_calls",
    )
    reply = read_completion(read_stream(content, "x"), 0.1)
    assert reply.tool_calls == (ToolCall("a", "cd", '{"folder": "x"}'),)
    assert reply.text == "assistantassistant"


def test_calls_without_a_number_begin_with_an_id_or_a_name() -> None:
    content = stream(
        {"tool_calls": [{"id": "a", "function": {"name": "cd", "arguments": ""}}]},
        {"tool_calls": [{"function": {"arguments": '{"folder":'}}]},
        {"tool_calls": [{"function": {"name": None, "arguments": ' "x"}'}}]},
        {"tool_calls": [{"id": "b", "function": {"name": "ls", "arguments": "{}"}}]},
        {"tool_calls": [{"function": {"name": "pwd", "arguments": "{}"}}]},
        reason="tool_calls",
    )
    calls = read_completion(read_stream(content, "x"), 0.1).tool_calls
    assert [call[:3] for call in calls] == [
        ("a", "cd", '{"folder": "x"}'),
        ("b", "ls", "{}"),
        (None, "pwd", "{}"),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_only_line_ends_separate_events(end: str) -> None:
    text = "one\u2028two\u2029three\x85four"
    chunk = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
    lines = ["data:", f"data: {json.dumps(chunk, ensure_ascii=False)}", "data: [DONE]"]
    content = "".join(line + 2 * end for line in lines).encode()
    assert read_completion(read_stream(content, "x"), 0.1).text == text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (stream({"content": "He"}, reason=None), "ended its stream early"),
        (b"", "ended its stream early"),
        (b"data: [1]\n\n", "not a JSON object"),
        (b"data: {oops\n\n", "not a JSON object"),
        (b"data: " + b"[" * 100_000, "not a JSON object"),
    ],
)
def test_a_broken_stream_may_pass(content: bytes, says: str) -> None:
    with pytest.raises(TransientError, match=says):
        read_stream(content, "x")


def test_an_error_within_a_stream_is_the_error_of_the_request() -> None:
    content = b'data: {"error": {"message": "overloaded, try again", "code": 503}}\n\n'
    with pytest.raises(TransientError, match="overloaded"):
        read_completion(read_stream(content, "x"), 0.1)


@pytest.mark.parametrize("delta", [5, [], {"tool_calls": [3, {"function": 4}]}, {"content": 5}])
def test_odd_parts_are_passed_over(delta: object) -> None:
    reply = read_completion(read_stream(stream(delta, {"content": "x"}), "x"), 0.1)
    assert reply.text == "x"
