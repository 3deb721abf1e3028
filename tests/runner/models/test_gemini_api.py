"""Gemini's own API: what a conversation looks like there, and how answers are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envs.calls import Call
from envs.results import Result
from runner.models.conversation import ConversationSettings, ToolCallConversation
from runner.models.gemini_api import GEMINI
from runner.models.model_types import ModelError, Reply, RequestError, ToolCall, Usage
from runner.models.prompting import read_prompts
from runner.models.reply_reader import read_completion
from runner.models.settings import ReasoningPolicy
from runner.models.toolbox import Toolbox
from trajectories.schema import Message

CD = {"name": "cd", "description": "Go.", "parameters": {"type": "object", "properties": {}}}
THOUGHT = {"text": "Hm.", "thought": True}
TEXT = {"text": "Done."}
SIGNED = {"text": "Done.", "thoughtSignature": "S3"}


def called(signature: str = "", id: str = "", **given: Any) -> dict[str, Any]:
    call = {"name": "cd", "args": given, **({"id": id} if id else {})}
    return {"functionCall": call, **({"thoughtSignature": signature} if signature else {})}


def completion(*parts: object, end: str = "STOP", **more: object) -> object:
    candidate = {"content": {"role": "model", "parts": [*parts]}, "finishReason": end}
    return GEMINI.completion({"candidates": [candidate], **more})


def answer(*parts: object, end: str = "STOP", **more: object) -> Reply:
    return read_completion(completion(*parts, end=end, **more), 0.0)


def chat(reasoning: ReasoningPolicy = "all") -> ToolCallConversation:
    return ToolCallConversation(ConversationSettings(Toolbox([CD]), read_prompts(), reasoning))


def sent(conversation: ToolCallConversation) -> dict[str, Any]:
    messages = conversation.request().messages
    turns = [GEMINI.speech(message, reversed(messages[:n])) for n, message in enumerate(messages)]
    body: dict[str, Any] = json.loads(b"{%b}" % b"".join(GEMINI.members(turns, ())))
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
    usage = {
        "promptTokenCount": 31,
        "cachedContentTokenCount": 10,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
    }
    reply = answer(THOUGHT, called("S1", folder="a"), usageMetadata=usage)
    assert (reply.text, reply.reasoning, reply.finish_reason) == (None, "Hm.", "stop")
    assert reply.tool_calls == (ToolCall(None, "cd", '{"folder": "a"}'),)
    assert reply.usage == Usage(31, 12, 10, 7)


@pytest.mark.parametrize(
    ("end", "finish"),
    [("MAX_TOKENS", "length"), ("SAFETY", "content_filter"), ("SOMETHING_NEW", "SOMETHING_NEW")],
)
def test_why_an_answer_ended_is_said_as_in_chat_completions(end: str, finish: str) -> None:
    assert answer(TEXT, end=end).finish_reason == finish


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}, "unparsed_call"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "content_policy"),
    ],
)
def test_what_the_model_did_wrong_is_told(body: object, kind: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_completion(GEMINI.completion(body), 0.0)
    assert caught.value.kind == kind


@pytest.mark.parametrize("body", [None, [], {}, {"candidates": []}, {"candidates": [1]}])
def test_what_is_no_answer_is_an_error(body: object) -> None:
    with pytest.raises(ModelError):
        read_completion(GEMINI.completion(body), 0.0)


@pytest.mark.parametrize("odd", [None, 1, [], {}, {"text": 1}, {"functionCall": "cd"}])
def test_odd_parts_are_passed_over(odd: object) -> None:
    reply = answer(odd, TEXT)
    assert (reply.text, reply.tool_calls) == ("Done.", ())


def test_an_answer_with_signatures_goes_back_as_it_came_in_its_order() -> None:
    parts = [THOUGHT, called("S1", a=[1.0, None, "é"]), called(b=1)]
    conversation = chat()
    go(conversation, answer(*parts), answer(SIGNED))
    _, said, results, last = sent(conversation)["contents"]
    assert said == {"role": "model", "parts": parts}
    assert last == {"role": "model", "parts": [SIGNED]}
    assert [part["functionResponse"]["name"] for part in results["parts"]] == ["cd", "cd"]


def test_results_have_the_id_of_their_call_where_there_is_one() -> None:
    conversation = chat()
    go(conversation, answer(called("S1", id="g1"), called(id="g2")))
    go(conversation, answer(called("S2")))
    responses = [
        part["functionResponse"].get("id")
        for content in sent(conversation)["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]
    assert responses == ["g1", "g2", None]


def test_calls_of_turns_that_are_over_stay_signed() -> None:
    conversation = chat("none")
    go(conversation, answer(THOUGHT, called("S1", a=1)), answer(SIGNED))
    go(conversation)
    models = [c["parts"] for c in sent(conversation)["contents"] if c["role"] == "model"]
    assert models == [[called("S1", a=1)], [TEXT]]


def test_results_are_objects() -> None:
    conversation = chat()
    conversation.start_turn(
        [Message("system", "Be brief."), Message("user", "Go.")], frozenset(["cd"]), ()
    )
    texts = ['{"a": 1}', "/a", "[1]", '{"a": NaN}', "{", ""]
    for text in texts:
        conversation.read(answer(called()))
        [call] = conversation.messages[-1]["tool_calls"]
        message = {"role": "tool", "tool_call_id": call["id"], "content": text}
        conversation.messages.append(message)
    body = sent(conversation)
    assert body["system_instruction"] == {"parts": [{"text": "Be brief."}]}
    found = [c["parts"][0] for c in body["contents"] if "functionResponse" in c["parts"][0]]
    assert [each["functionResponse"]["response"] for each in found] == [
        {"a": 1},
        *[{"content": text} for text in texts[1:]],
    ]
