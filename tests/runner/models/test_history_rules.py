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
        ("Unexpected role 'user' after role 'tool'", {"answer"}),
        ("Conversation roles must alternate user/assistant/user/assistant/...", {"alternate"}),
        ("System role not supported", {"no-system"}),
        ("This model only supports single tool-calls at once!", {"single-call"}),
        ("Unknown parameter: 'tools[0].function.response'.", {"no-response"}),
        ("'tools.0.function' : property 'response' is unsupported", {"no-response"}),
        ('supports streaming responses only: set "stream": true.', {"stream"}),
        ("the response is too long, and the system is down", set()),
        ("maximum context length exceeded", set()),
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
    assert results == [message for message in messages if message["role"] == "tool"]
    assert arrange(sent, HISTORY_RULES) == sent
