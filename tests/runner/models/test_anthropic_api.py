"""Anthropic's API: what a conversation looks like there, and how answers are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envs.calls import Call
from envs.results import Result
from runner.models.anthropic_api import ANTHROPIC
from runner.models.conversation import ConversationSettings, ToolCallConversation
from runner.models.model_types import ModelError, Reply, ToolCall, Usage
from runner.models.prompting import read_prompts
from runner.models.reply_reader import read_completion
from runner.models.settings import ReasoningPolicy
from runner.models.toolbox import Toolbox
from trajectories.schema import Message

CD = {"name": "cd", "description": "Go.", "parameters": {"type": "object", "properties": {}}}
TEXT = {"type": "text", "text": "Let me look."}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
SECRET = {"type": "redacted_thinking", "data": "ENC"}
EMPTY = {"type": "thinking", "thinking": "", "signature": "y"}


def use(number: int, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "cd", "input": given}


def answer(*blocks: object, stop: str = "tool_use", **usage: int) -> Reply:
    counted = usage or {"input_tokens": 4, "output_tokens": 3}
    body = {"type": "message", "content": [*blocks], "stop_reason": stop, "usage": counted}
    return read_completion(ANTHROPIC.completion(body), 0.0)


def chat(reasoning: ReasoningPolicy = "all") -> ToolCallConversation:
    return ToolCallConversation(ConversationSettings(Toolbox([CD]), read_prompts(), reasoning))


def sent(conversation: ToolCallConversation, marked: tuple[int, ...] = ()) -> dict[str, Any]:
    messages = conversation.request().messages
    turns = [ANTHROPIC.speech(each, reversed(messages[:n])) for n, each in enumerate(messages)]
    body: dict[str, Any] = json.loads(b"{%b}" % b"".join(ANTHROPIC.members(turns, marked)))
    return body


def go(conversation: ToolCallConversation, *replies: Reply) -> None:
    """Put a turn, and what the model makes of it, step by step."""
    conversation.start_turn([Message("user", "Go.")], frozenset(["cd"]), ())
    for reply in replies:
        conversation.read(reply)
        if reply.tool_calls:
            many = len(reply.tool_calls)
            conversation.observe([Call("cd")] * many, [Result(None)] * many)


def test_an_answer_is_read() -> None:
    usage = {"input_tokens": 4, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 20}
    reply = answer(EMPTY, THOUGHT, SECRET, TEXT, use(1, folder="docs"), output_tokens=3, **usage)
    assert (reply.text, reply.reasoning, reply.finish_reason) == (
        "Let me look.",
        "Hm.",
        "tool_calls",
    )
    assert reply.tool_calls == (ToolCall("toolu_1", "cd", '{"folder": "docs"}'),)
    assert reply.usage == Usage(32, 3, 8, written=20)


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("something_new", "something_new"),
    ],
)
def test_why_an_answer_ended_is_said_as_in_chat_completions(stop: str, finish: str) -> None:
    assert answer(TEXT, stop=stop).finish_reason == finish


def test_thoughts_alone_are_an_empty_answer() -> None:
    reply = answer(EMPTY)
    assert (reply.text, reply.reasoning, reply.tool_calls) == (None, None, ())


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"content": "text"},
        {"content": None},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Sorry."}},
        {"content": [TEXT], "error": {"message": "no"}},
    ],
)
def test_what_is_no_answer_is_an_error(body: object) -> None:
    with pytest.raises(ModelError):
        read_completion(ANTHROPIC.completion(body), 0.0)


@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, {"type": None}, {"type": "text"}])
def test_odd_blocks_are_passed_over(odd: object) -> None:
    assert answer(odd, TEXT).text == "Let me look."


def test_a_call_without_input_id_or_name_is_heard_of() -> None:
    [call] = answer({"type": "tool_use"}).tool_calls
    assert call == ToolCall(None, "", None)


def test_an_answer_with_thoughts_goes_back_as_it_came_in_its_order() -> None:
    blocks = [THOUGHT, TEXT, use(1), EMPTY, SECRET, use(2, a=[1.0, None, "é"])]
    conversation = chat()
    go(conversation, answer(*blocks))
    _, said, results = sent(conversation)["messages"]
    assert said == {"role": "assistant", "content": blocks}
    assert [(block["type"], block["tool_use_id"]) for block in results["content"]] == [
        ("tool_result", "toolu_1"),
        ("tool_result", "toolu_2"),
    ]


def test_an_answer_without_thoughts_is_kept_as_in_chat_completions() -> None:
    conversation = chat()
    go(conversation, answer(TEXT, use(1, a=1)))
    assert "output_items" not in conversation.messages[1]
    assert sent(conversation)["messages"][1]["content"] == [TEXT, use(1, a=1)]


def test_calls_with_one_id_have_two_and_so_have_their_results() -> None:
    conversation = chat()
    go(conversation, answer(THOUGHT, use(1), use(1)))
    _, said, results = sent(conversation)["messages"]
    ids = [block["id"] for block in said["content"][1:]]
    assert len(set(ids)) == 2
    assert [block["tool_use_id"] for block in results["content"]] == ids


def test_thoughts_of_turns_that_are_over_are_left_out_and_their_calls_stay() -> None:
    conversation = chat("none")
    go(conversation, answer(THOUGHT, use(1)), answer(THOUGHT, TEXT, stop="end_turn"))
    go(conversation, answer(THOUGHT, use(2)))
    first, _, last = [
        m["content"] for m in sent(conversation)["messages"] if m["role"] == "assistant"
    ]
    assert first == [use(1)]
    assert last == [THOUGHT, use(2)]


def test_what_says_nothing_is_left_out() -> None:
    conversation = chat()
    go(conversation, answer({"type": "text", "text": ""}, use(1)), answer(stop="end_turn"))
    go(conversation)
    roles = [message["role"] for message in sent(conversation)["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert "" not in [block.get("text") for block in sent(conversation)["messages"][1]["content"]]


def test_the_system_prompt_is_apart_and_marks_stand_where_they_are_wanted() -> None:
    conversation = chat()
    said = [Message("system", "Be brief."), Message("user", "Go.")]
    conversation.start_turn(said, frozenset(["cd"]), ())
    body = sent(conversation, (0, 1))
    mark = {"cache_control": {"type": "ephemeral"}}
    assert body["system"] == [{"type": "text", "text": "Be brief.", **mark}]
    [message] = body["messages"]
    assert message["content"] == [{"type": "text", "text": "Go.", **mark}]


def test_arguments_that_are_no_object_are_none() -> None:
    odd = Reply(
        None, (ToolCall("a", "cd", "[1]"), ToolCall("b", "cd", "{")), None, None, Usage(), 0
    )
    conversation = chat()
    go(conversation, odd)
    calls = sent(conversation)["messages"][1]["content"]
    assert [call["input"] for call in calls] == [{}, {}]
