"""Transcripts in the forms that libraries for fine-tuning take."""

from __future__ import annotations

import json

import pytest

from envs.errors import DataError
from extensions.export.fine_tuning import to_sharegpt, to_trl
from extensions.export.transcripts import TuningTranscript, was_ended_by_search
from runner.records.episode_record import TurnEnd
from tests.runner.records.made import episode

EPISODE = episode("a", 0, "base", "passed", 1, 1)
TOOL = {"type": "function", "function": {"name": "f", "description": "F.", "parameters": {}}}


def call(number, name="f", arguments='{"x": 1}'):
    """Return a call as it stands among the messages."""
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def asks(*calls, content=None):
    """Return an answer that makes calls."""
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def gives(number, text):
    """Return what a call gave."""
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


def says(role, text):
    """Return what somebody says."""
    return {"role": role, "content": text}


def transcript(*messages, tools=(TOOL,)):
    """Return a transcript of messages."""
    line = {"messages": list(messages), "metadata": {"id": "a", "trial": 0, "passed": True}}
    return TuningTranscript(EPISODE, {**line, **({"tools": list(tools)} if tools else {})})


WHOLE = transcript(
    says("system", "Be brief."),
    says("user", "Do it."),
    says("user", "Please."),
    asks(call(1), call(2, "g", "{}")),
    gives(1, "one"),
    gives(2, "two"),
    asks(call(3), content="Now this."),
    gives(3, "three"),
    says("assistant", "Done."),
)


def test_sharegpt_takes_turns_and_has_all_calls_and_results():
    found = to_sharegpt(WHOLE)
    assert [said["from"] for said in found["conversations"]] == [
        *["human", "function_call", "observation", "function_call", "observation", "gpt"]
    ]
    said = [said["value"] for said in found["conversations"]]
    assert said[0] == "Do it.\n\nPlease."
    assert json.loads(said[1]) == [
        {"name": "f", "arguments": {"x": 1}},
        {"name": "g", "arguments": {}},
    ]
    assert json.loads(said[2]) == ["one", "two"]
    assert json.loads(said[3]) == {"name": "f", "arguments": {"x": 1}}
    assert said[4:] == ["three", "Done."]
    assert found["system"] == "Be brief."
    assert json.loads(found["tools"]) == [TOOL["function"]]
    assert found["metadata"] == {"id": "a", "trial": 0, "passed": True}


def test_sharegpt_of_a_prompting_model_has_no_tools():
    found = to_sharegpt(transcript(says("user", "a"), says("assistant", "[f()]"), tools=()))
    assert set(found) == {"conversations", "metadata"}


@pytest.mark.parametrize(
    "messages",
    [
        [says("assistant", "a")],
        [says("user", "a"), says("assistant", "b"), says("assistant", "c")],
    ],
)
def test_who_speaks_twice_in_a_row_is_refused(messages):
    with pytest.raises(DataError, match="a, trial 0: the model and the user do not alternate"):
        to_sharegpt(transcript(*messages))


def test_trl_has_arguments_as_objects_and_names_beside_results():
    found = to_trl(WHOLE)
    [first, second, third, *_] = [m for m in found["messages"] if m["role"] == "tool"]
    assert [first["name"], second["name"], third["name"]] == ["f", "g", "f"]
    made = found["messages"][3]
    assert made["content"] == ""
    assert made["tool_calls"][0]["function"] == {"name": "f", "arguments": {"x": 1}}
    assert found["messages"][6]["content"] == "Now this."
    assert json.loads(found["tools"]) == [TOOL]


@pytest.mark.parametrize("arguments", ["{", "", "[" * 100_000])
def test_arguments_that_are_none_are_empty(arguments):
    found = to_trl(transcript(says("user", "a"), asks(call(1, "f", arguments)), gives(1, "no")))
    assert found["messages"][1]["tool_calls"][0]["function"]["arguments"] == {}


@pytest.mark.parametrize(
    ("why", "ended"), [("answer", False), ("empty", False), ("give_up", True), ("exhausted", True)]
)
def test_a_turn_that_a_search_ended_is_told(why, ended):
    ends = [TurnEnd(0, "answer", None), TurnEnd(1, why, None)]
    record = EPISODE._replace(turn_ends=ends)
    assert was_ended_by_search(record) is ended
