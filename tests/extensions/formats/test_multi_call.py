"""One tool for all functions: what its object may hold, and what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from extensions.formats.native_families import MULTI_CALL
from runner.models.model_types import ToolCall

NAME = MULTI_CALL.name


def made(*objects: object) -> list[ToolCall]:
    return [ToolCall(f"id{n}", NAME, json.dumps(each)) for n, each in enumerate(objects)]


def names(calls: list[ToolCall]) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(str(call.arguments))) for call in calls]


def test_a_function_is_called_and_the_others_are_null() -> None:
    calls = made({"cd": {"folder": "a"}, "ls": None, "pwd": None})
    assert names(MULTI_CALL.read(calls)) == [("cd", {"folder": "a"})]
    [answer] = MULTI_CALL.answer(calls, ['{"ok": true}'])
    assert (answer["tool_call_id"], json.loads(answer["content"])) == ("id0", {"cd": {"ok": True}})


def test_several_functions_are_called_in_the_order_in_which_they_stand() -> None:
    calls = made({"pwd": {}, "cd": {"folder": "a"}, "cat": None, "ls": {}})
    assert [name for name, _ in names(MULTI_CALL.read(calls))] == ["pwd", "cd", "ls"]
    [answer] = MULTI_CALL.answer(calls, ["1", "two", "[3]"])
    assert json.loads(answer["content"]) == {"pwd": 1, "cd": "two", "ls": [3]}


def test_one_function_is_called_twice_by_a_list() -> None:
    calls = made({"cat": [{"file_name": "a"}, {"file_name": "b"}], "pwd": {}})
    read = names(MULTI_CALL.read(calls))
    assert read == [("cat", {"file_name": "a"}), ("cat", {"file_name": "b"}), ("pwd", {})]
    [answer] = MULTI_CALL.answer(calls, ['"x"', '"y"', '"/"'])
    assert json.loads(answer["content"]) == {"cat": ["x", "y"], "pwd": "/"}


def test_two_calls_of_the_tool_are_answered_by_their_ids() -> None:
    calls = made({"pwd": {}}, {"ls": {}, "cd": {"folder": "a"}})
    assert [name for name, _ in names(MULTI_CALL.read(calls))] == ["pwd", "ls", "cd"]
    answers = MULTI_CALL.answer(calls, ["1", "2", "3"])
    assert [(a["tool_call_id"], json.loads(a["content"])) for a in answers] == [
        ("id0", {"pwd": 1}),
        ("id1", {"ls": 2, "cd": 3}),
    ]


@pytest.mark.parametrize("given", ["no JSON", "[1]", '"x"', "", None, 5])
def test_what_is_no_object_stays_for_the_model_to_see(given: object) -> None:
    call = ToolCall("1", NAME, given)
    assert MULTI_CALL.read([call]) == [call]
    assert MULTI_CALL.answer([call], ["why"])[0]["content"] == "why"


def test_a_function_that_is_called_by_its_own_name_is_called() -> None:
    call = ToolCall("1", "pwd", "{}")
    assert MULTI_CALL.read([call]) == [call]


def test_an_object_of_nulls_calls_nothing() -> None:
    calls = made({"pwd": None})
    assert MULTI_CALL.read(calls) == []
    assert json.loads(MULTI_CALL.answer(calls, [])[0]["content"]) == {}
