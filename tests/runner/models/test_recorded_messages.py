"""Recorded messages of other tools become turns of answers with their results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runner.models.model_types import Usage
from runner.models.recorded_messages import (
    MAX_MESSAGES,
    MalformedMessage,
    match_entry,
    read_answer,
    read_turns,
)
from trajectories.schema import Message, Trajectory, Turn

ASK = {"role": "user", "content": "Add."}


def call(id: str | None = "a", name: str = "add", **given: Any) -> dict[str, Any]:
    """Return a call as OpenAI's API sends it."""
    function = {"name": name, "arguments": json.dumps(given)}
    return {"id": id, "type": "function", "function": function}


def result(id: str, content: Any = "3") -> dict[str, Any]:
    """Return a result."""
    return {"role": "tool", "tool_call_id": id, "content": content}


def test_results_go_to_their_calls_in_any_order() -> None:
    made = {"role": "assistant", "tool_calls": [call("a"), call("b"), call("c")]}
    [turn] = read_turns([ASK, made, result("c", "C"), result("a", [{"text": "A"}])])
    [answer] = turn.answers
    assert answer.results == ["A", None, "C"]
    assert [each.name for each in answer.reply.tool_calls] == ["add"] * 3


def test_results_without_an_id_go_by_name_and_order() -> None:
    made = {"role": "assistant", "tool_calls": [call(None), call(None, "sub"), call(None)]}
    given = [{"role": "function", "name": name, "content": name} for name in ("sub", "add")]
    [turn] = read_turns([ASK, made, *given])
    assert turn.answers[0].results == ["add", "sub", None]


def test_an_empty_id_is_no_id() -> None:
    calls = [{**call(), "id": ""}]
    [turn] = read_turns([ASK, {"role": "assistant", "tool_calls": calls}, result("")])
    assert [answer.results for answer in turn.answers] == [[result("")["content"]]]


class LibraryMessage:
    """Stands for a message of a provider's library."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


def test_messages_may_be_objects_of_a_library() -> None:
    said = {"role": "assistant", "content": None, "tool_calls": [call()]}
    assert read_turns([ASK, LibraryMessage(said), result("a")]) == read_turns(
        [ASK, said, result("a")]
    )


def test_structured_results_are_written_as_json() -> None:
    made = {"role": "assistant", "tool_calls": [call("a"), call("b"), call("c")]}
    given = [result("a", {"sum": 3}), result("b", [{"sum": 3}]), result("c", [])]
    [turn] = read_turns([ASK, made, *given])
    assert turn.answers[0].results == ['{"sum": 3}', '[{"sum": 3}]', ""]


def test_items_of_the_provider_s_server_are_left_out() -> None:
    made = {"type": "function_call", "call_id": "a", "name": "add", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "a", "output": "3"}
    others = [{"type": kind} for kind in ("web_search_call", "mcp_list_tools", "item_reference")]
    [turn] = read_turns(
        [ASK, *others, made, output, *others, {"role": "assistant", "content": "3"}]
    )
    assert [answer.results for answer in turn.answers] == [["3"], []]


def test_calls_of_custom_tools_have_one_argument() -> None:
    item = {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "SELECT 1"}
    output = {"type": "custom_tool_call_output", "call_id": "a", "output": "1"}
    named = {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    chats = [{"role": "assistant", "tool_calls": [named]}, result("a", "1")]
    for messages in ([ASK, item, output], [ASK, *chats]):
        [turn] = read_turns(messages)
        [answer] = turn.answers
        assert answer.results == ["1"]
        [made] = answer.reply.tool_calls
        assert (made.name, made.arguments) == ("sql", {"input": "SELECT 1"})


def test_words_before_calls_are_one_answer_with_them() -> None:
    words = {"role": "assistant", "content": "One moment.", "usage": {"prompt_tokens": 5}}
    made = {"role": "assistant", "tool_calls": [call()], "usage": {"prompt_tokens": 7}}
    [turn] = read_turns([ASK, words, made, result("a"), words])
    first, second = turn.answers
    assert (first.reply.text, len(first.reply.tool_calls)) == ("One moment.", 1)
    assert first.reply.usage == Usage(prompt=12)
    assert (second.reply.text, second.reply.tool_calls) == ("One moment.", ())


def test_answers_whose_results_are_missing_stay_apart() -> None:
    made = {"role": "assistant", "tool_calls": [call()]}
    [turn] = read_turns([ASK, made, made])
    assert [answer.results for answer in turn.answers] == [[None], [None]]


def test_system_messages_and_greetings_are_left_out() -> None:
    before = [{"role": "developer", "content": "x"}, {"role": "assistant", "content": "Hello."}]
    [turn] = read_turns([*before, ASK, {"role": "assistant", "content": "3"}])
    assert turn.prompt == "Add."
    assert [answer.reply.text for answer in turn.answers] == ["3"]


def test_anthropic_s_user_may_speak_beside_results() -> None:
    made = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f"}]}
    parts = [
        {"type": "tool_result", "tool_use_id": "a", "content": "x"},
        {"type": "text", "text": "Stop."},
    ]
    first, second = read_turns([ASK, made, {"role": "user", "content": parts}])
    assert first.answers[0].results == ["x"]
    assert (second.prompt, second.answers) == ("Stop.", [])


def test_thoughts_are_kept_apart_from_words() -> None:
    blocks = [{"type": "thinking", "thinking": "so"}, {"type": "text", "text": "3"}]
    reply = read_answer({"role": "assistant", "content": blocks, "stop_reason": "end_turn"})
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("3", "so", "end_turn")


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ("text", "must be a list of messages"),
        ([7], "[0] must be a message, but is 7"),
        ([{"content": "x"}], "[0] is not a message; add a role"),
        ([{"type": "teleport_call"}], "[0] is not a message; add a role"),
        ([{"role": "bot"}], "[0].role"),
        ([ASK, {"type": "reasoning", "summary": 5}], "[1].summary must be a string or a list"),
        ([{"role": "assistant", "tool_calls": [call()]}], "[0] calls functions before the first"),
        ([ASK, result("a")], "[1].tool_call_id"),
        ([ASK, {"role": "assistant", "tool_calls": [{}]}], "[1].tool_calls[0].name is missing"),
        ([ASK, {"role": "assistant", "tool_calls": [{"name": 5}]}], "[1].tool_calls[0].name"),
        ([ASK, {"role": "assistant", "tool_calls": [5]}], "[1].tool_calls[0] must be a call"),
        ([ASK, {"role": "assistant", "tool_calls": [{**call(), "id": []}]}], "tool_calls[0].id"),
        ([ASK] * (MAX_MESSAGES + 1), "at most 20000 are read"),
    ],
)
def test_a_wrong_message_is_named_by_its_place(messages: Any, said: str) -> None:
    with pytest.raises(MalformedMessage) as caught:
        read_turns(messages)
    assert said in f"{caught.value.path} {caught.value.message}"


def test_one_answer_must_be_the_model_s() -> None:
    with pytest.raises(MalformedMessage, match="one assistant message"):
        read_answer(ASK)


def test_a_turn_of_the_entry_may_have_several_user_messages(help_desk: Trajectory) -> None:
    said = [{"role": "assistant", "content": "A."}]
    turns = read_turns([ASK, *said, {"role": "user", "content": "And more."}, *said, ASK, *said])
    user, model = Message("user", "x"), Message("assistant", "y")
    both = Turn(messages=(user, model, user), ground_truth=())
    entry = help_desk.__class__(**{**vars(help_desk), "turns": (both,)})
    first, second = match_entry(turns, entry)
    # The first answer is the entry's own.
    assert (first.prompt, len(first.answers)) == ("Add.\nAnd more.", 1)
    assert second.prompt == "Add."
