"""Histories for strict servers: what a refusal demands, and what the messages then are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.models.history_rules import HISTORY_RULES, arrange, find_demands

SYSTEM = {"role": "system", "content": "Be brief."}


def user(text: str = "Q") -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(text: str | None) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(*ids: str) -> dict[str, Any]:
    function = {"name": "ls", "arguments": "{}"}
    made = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": id}


@pytest.mark.parametrize(
    ("words", "demands"),
    [
        ("Assistant message must have either content or tool_calls, but not none.", {"text"}),
        ("Each message must have at least one content element.", {"text"}),
        ("messages.3: all messages must have non-empty content except the final one", {"text"}),
        ("text content blocks must contain non-whitespace text", {"text"}),
        ("The text field in the ContentBlock object at messages.3.content.0 is blank", {"text"}),
        ("The content field in the Message object at messages.1 is empty.", {"text"}),
        ("Invalid assistant message: content or tool_calls must be set", {"text"}),
        ("the message at position 2 with role 'assistant' must not be empty", {"text"}),
        ("InternalError.Algo.InvalidParameter: The content field is a required field.", {"text"}),
        ("Input should be a valid string: messages.1.content", {"no-null"}),
        ("messages[1].content: null value is not allowed", {"no-null"}),
        ("invalid message content type: <nil>", {"no-null"}),
        ("'messages.2.content' must be of type string", {"no-null"}),
        ("messages.1.content: invalid type: null, expected a string", {"no-null"}),
        ("After a tool message, the next message must have the role assistant.", {"answer"}),
        ("Unexpected role 'user' after role 'tool'", {"answer"}),
        ("Unexpected role 'Roles.user' after role 'Roles.tool'", {"answer"}),
        ("A user message must not follow a tool message", {"answer"}),
        ("Conversation roles must alternate user/assistant/user/assistant/...", {"alternate"}),
        ("A conversation must alternate between user and assistant roles.", {"alternate"}),
        ("user and assistant roles should be alternating.", {"alternate"}),
        ("ensure that multiturn requests alternate between user and model", {"alternate"}),
        ("System role not supported", {"no-system"}),
        ("'messages[0].role' does not support 'system' with this model.", {"no-system"}),
        ("role 'system' is not supported on this model", {"no-system"}),
        ("This model doesn't support system messages.", {"no-system"}),
        ("Developer instruction is not enabled for models/m", {"no-system"}),
        ('Unexpected role "system".', {"no-system"}),
        ("This model only supports single tool-calls at once!", {"single-call"}),
        ("Only one tool call per message is supported", {"single-call"}),
        ("Multiple tool calls are not supported", {"single-call"}),
        ("contents[2].parts[0].function_response.name: Name cannot be empty.", {"tool-name"}),
        ("Missing required parameter: 'messages[3].name'.", {"tool-name"}),
        ("body.messages.3.tool.name: Field required", {"tool-name"}),
        ("'name' is a required property - 'messages.3'", {"tool-name"}),
        ("messages with role 'tool' must have a 'name'", {"tool-name"}),
        ("Tool messages need the field `name`", {"tool-name"}),
        ("name is required for tool messages", {"tool-name"}),
        ("Unknown parameter: 'tools[0].function.response'.", {"no-response"}),
        ("'tools.0.function' : property 'response' is unsupported", {"no-response"}),
        ("Additional properties are not allowed ('response' was unexpected)", {"no-response"}),
        ("tools.0.function.response: Extra inputs are not permitted", {"no-response"}),
        ('supports streaming responses only: set "stream": true.', {"stream"}),
        ("This model only support stream mode, please enable the stream parameter", {"stream"}),
        ("Stream must be set to true", {"stream"}),
        ("Requests with max_tokens > 4096 must have stream=true", {"stream"}),
        ("This model does not support non-streaming output", {"stream"}),
        ("'stream' does not support true with this model.", set()),
        ("'parallel_tool_calls' is not supported with this model.", set()),
        ("Unexpected role 'tool' after role 'user'", set()),
        ("Invalid 'messages[3].tool_calls[0].function.name': empty string.", set()),
        ("messages.3.tool_calls.0.function.name: Field required", set()),
        ("messages with role 'tool' must follow a message with 'tool_calls'", set()),
        ("Unsupported parameter: 'response_format'", set()),
        ("Invalid 'tools': empty array.", set()),
        ("the response is too long, and the system is down", set()),
        ("maximum context length exceeded", set()),
        ("The content of the prompt was filtered; expected no such thing", set()),
    ],
)
def test_a_refusal_states_what_the_server_demands(words: str, demands: set[str]) -> None:
    assert find_demands(f"http://x refuses this request (400): {words}") == demands


@pytest.mark.parametrize(
    ("rules", "messages", "sent"),
    [
        (["text"], [user(), says(" \n"), user()], [user(), says("(no answer)"), user()]),
        (["text"], [user(), calls("a"), result("a")], [user(), calls("a"), result("a")]),
        (
            ["answer"],
            [user(), calls("a"), result("a"), user("R")],
            [user(), calls("a"), result("a"), says("(no answer)"), user("R")],
        ),
        (["no-system"], [SYSTEM, user("Q ")], [user("Be brief.\n\nQ ")]),
        (["no-system"], [SYSTEM], [user("Be brief.")]),
        (
            ["no-null", "single-call"],
            [user(), {**calls("a"), "content": "Now."}, result("a"), calls("b", "c"), says(None)],
            [
                *[user(), {**calls("a"), "content": "Now."}, result("a")],
                *[{**calls("b"), "content": ""}, {**calls("c"), "content": ""}, says("")],
            ],
        ),
        (
            ["tool-name", "single-call"],
            [user(), calls("a", "b"), result("a"), {**result("b"), "name": "own"}],
            [
                *[user(), calls("a"), {**result("a"), "name": "ls"}],
                *[calls("b"), {**result("b"), "name": "own"}],
            ],
        ),
        (["alternate"], [user(), user("R"), says("A")], [user("Q\n\nR"), says("A")]),
        (
            ["single-call"],
            [user(), calls("a", "b"), result("a"), result("b"), user("R")],
            [user(), calls("a"), result("a"), calls("b"), result("b"), user("R")],
        ),
    ],
)
def test_messages_are_arranged(rules: list[str], messages: list[Any], sent: list[Any]) -> None:
    before = [dict(message) for message in messages]
    assert arrange(messages, rules) == sent
    assert messages == before


_STEP = st.one_of(
    st.text(max_size=3).map(lambda text: [says(text)]),
    st.integers(1, 3).map(
        lambda n: [calls(*map(str, range(n))), *[result(str(i)) for i in range(n)]]
    ),
)
_TURN = st.lists(_STEP, max_size=3).map(lambda steps: [user(), *[m for s in steps for m in s]])


@given(st.lists(_TURN, min_size=1, max_size=4))
def test_arranged_messages_keep_every_rule_at_once(turns: list[list[dict[str, Any]]]) -> None:
    messages = [SYSTEM, *[message for turn in turns for message in turn]]
    sent = arrange(messages, HISTORY_RULES)
    roles = [message["role"] for message in sent]
    assert "system" not in roles
    assert ("tool", "user") not in set(pairwise(roles))
    assert all(len(message.get("tool_calls", ())) < 2 for message in sent)
    assert all(
        m["content"].strip() or m.get("tool_calls") for m in sent if m["content"] is not None
    )
    results = [message for message in sent if message["role"] == "tool"]
    assert results == [{"name": "ls", **m} for m in messages if m["role"] == "tool"]
    assert arrange(sent, HISTORY_RULES) == sent
