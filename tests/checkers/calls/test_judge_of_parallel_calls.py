from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
)
from checkers.calls.single_turn_verdict import judge
from checkers.profile import BFCL, STRICT

DOCUMENTS = tuple(FunctionDocument(name, {"x": {"type": "integer"}}, ("x",)) for name in ("f", "g"))


def task(*answers: tuple[str, list[Any]]) -> CallEntry:
    """Return an entry with parallel calls."""
    expected = tuple(ExpectedCall(name, {"x": allowed}) for name, allowed in answers)
    return CallEntry(ComparisonKind.PARALLEL, Language.PYTHON, DOCUMENTS, expected)


def step(*calls: tuple[str, int]) -> list[dict[str, str]]:
    """Return a step with calls."""
    return [{name: json.dumps({"x": x})} for name, x in calls]


def test_the_order_of_calls_does_not_count() -> None:
    entry = task(("f", [1]), ("g", [2]), ("f", [3]))
    made = step(("f", 3), ("f", 1), ("g", 2))
    assert judge(entry, made, "fc", BFCL).valid
    assert judge(entry, made, "fc", STRICT).valid


def test_first_come_first_served_misses_a_match_that_there_is() -> None:
    entry = task(("f", [1, 2]), ("f", [1]))
    made = step(("f", 1), ("f", 2))
    greedy = judge(entry, made, "fc", BFCL)
    assert greedy.error_type == "parallel_function_checker_no_order:cannot_find_match"
    assert judge(entry, made, "fc", STRICT).valid


def test_each_call_matches_one_answer() -> None:
    entry = task(("f", [1]), ("f", [1]))
    assert not judge(entry, step(("f", 1), ("f", 2)), "fc", STRICT).valid


def test_the_failure_says_why_each_call_does_not_match() -> None:
    failure = judge(task(("f", [1]), ("g", [2])), step(("g", 2), ("f", 5)), "fc", BFCL).failure
    assert failure is not None
    assert failure.calls is not None
    assert [*failure.calls.lines()] == [
        "f: no remaining call matches {'f': {'x': [1]}}",
        "  f: the called function is 'g'",
        "  f.x: the value is not one of the allowed values",
    ]
    shown = [cause["error_type"] for cause in failure.calls.to_json()["causes"]]
    assert shown == ["simple_function_checker:wrong_func_name", "value_error:others"]


@given(
    answers=st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), max_size=5),
    calls=st.lists(st.integers(0, 4), max_size=5),
)
def test_the_best_matching_finds_all_that_the_greedy_one_finds(
    answers: list[list[int]], calls: list[int]
) -> None:
    entry = task(*(("f", allowed) for allowed in answers))
    made = step(*(("f", x) for x in calls))
    if judge(entry, made, "fc", BFCL).valid:
        assert judge(entry, made, "fc", STRICT).valid


@given(calls=st.lists(st.integers(0, 9), min_size=1, max_size=6), data=st.data())
def test_calls_that_can_be_matched_are(calls: list[int], data: st.DataObject) -> None:
    more = st.lists(st.integers(0, 9), max_size=4)
    answers = data.draw(st.permutations([[x, *data.draw(more)] for x in calls]))
    entry = task(*(("f", allowed) for allowed in answers))
    assert judge(entry, step(*(("f", x) for x in calls)), "fc", STRICT).valid
