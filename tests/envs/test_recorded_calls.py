"""Calls and values in text, compared with recorded ones.

``python -m tests.envs.test_recorded_calls`` reads the recorded texts anew and writes what they
hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from envs.bounds import measure_growth, measure_size
from envs.calls import (
    Call,
    find_closing_bracket,
    list_inner_calls,
    make_call_from_tool,
    parse_call,
    parse_calls,
)
from envs.errors import InvalidArgument, MalformedCall
from envs.registry import list_tools
from envs.results import Result, get_inner_value
from envs.state import Snapshot, cut_repr, has_changed, list_differences, to_json, write_canonical
from envs.tool import bind, make_unknown_function_error
from tests.recorded_tables import read_rows, write_rows

RECORDED = Path(__file__).parents[1] / "golden" / "calls.jsonl"
"""One row a line: the reader's name, its arguments, and what it returns or raises."""


def describe(calls: Iterable[Call]) -> str:
    """Return calls with their inner calls as one string."""
    return "; ".join(
        f"{call} {[*map(repr, call.args)]} {[*map(str, list_inner_calls(call))]} {call.nested}"
        for call in calls
    )


def describe_result(value: Any) -> list[str]:
    """Return each form in which a value is shown."""
    result = Result(value)
    return [result.text, write_canonical(value), cut_repr(value, 30), repr(get_inner_value(value))]


def bind_call(text: str) -> object:
    """Return the arguments of a call by the names of the parameters."""
    call = parse_call(text)
    tool = TOOLS.get(call.name)
    if tool is None:
        return make_unknown_function_error(call.name, TOOLS, frozenset({"cat", "cd", "mv"})).message
    return bind(tool, call.args, call.kwargs)


def compare_states(one: dict[str, Any], other: dict[str, Any]) -> list[object]:
    """Return each comparison of two states of one backend."""
    before, after = Snapshot({"A": one}), Snapshot({"A": other})
    return [before == after, before.first_difference(after), has_changed(one, {**one, **other})]


TOOLS = list_tools(("GorillaFileSystem", "TicketAPI"))
READERS: Mapping[str, Callable[..., object]] = {
    "call": lambda text: describe([parse_call(text, ("known",))]),
    "calls": lambda text: describe(parse_calls(text, ("known",))),
    "tool": lambda arguments: describe([make_call_from_tool("f", arguments)]),
    "bracket": lambda text: find_closing_bracket(text, 0),
    "result": describe_result,
    "size": measure_size,
    "growth": measure_growth,
    "bind": bind_call,
    "states": compare_states,
    "differences": lambda one, other: [to_json(each) for each in list_differences(one, other)],
}


def read(name: str, arguments: list[Any]) -> Any:
    """Return what a reader returns, or its error message."""
    try:
        return json.loads(json.dumps(READERS[name](*arguments), default=str))
    except (MalformedCall, InvalidArgument) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("reader", READERS)
def test_every_text_and_value_is_read_as_recorded(reader: str) -> None:
    rows = read_rows(RECORDED)
    calls = [(arguments, found) for name, arguments, found in rows if name == reader]
    assert calls
    for arguments, found in calls:
        assert read(reader, arguments) == found, arguments


if __name__ == "__main__":
    rows = [[name, arguments, read(name, arguments)] for name, arguments, _ in read_rows(RECORDED)]
    write_rows(RECORDED, rows)
