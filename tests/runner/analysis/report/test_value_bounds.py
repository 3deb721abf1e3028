from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.analysis.report.value_bounds import ValueBounds

WIDE = ValueBounds(text=1_000, members=100)
NARROW = ValueBounds(text=10, members=2)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.lists(inner).map(tuple)
        | st.frozensets(st.integers())
    ),
)


def test_a_short_text_is_as_it_was():
    assert NARROW.cut("0123456789") == "0123456789"


def test_a_long_text_is_cut_off_and_says_how_long_it_was():
    assert NARROW.cut("x" * 12_345) == "xxxxxxxxxx\n… cut off here: 12,345 characters in all"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1, "1"),
        (1.0, "1.0"),
        (None, "None"),
        ("None", "'None'"),
        (float("nan"), "nan"),
        ({}, "{}"),
        ([], "[]"),
        ({"a": [1, (2,)], 3: {"b"}}, {"a": ["1", ["2"]], "3": ["'b'"]}),
        ({"__proto__": {"x": 1}}, {"__proto__": {"x": "1"}}),
    ],
)
def test_leaves_of_a_state_are_texts_as_python_writes_them(value, shown):
    assert WIDE.state(value, {}) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": [1, 2.5, True, None, "x", {}, []]}, {"a": [1, 2.5, True, None, "x", {}, []]}),
        (float("inf"), "inf"),
        (2**53 + 1, "9007199254740993"),
        (0, 0),
        ("", ""),
    ],
)
def test_json_stays_json_but_for_numbers_that_a_browser_would_not_show_exactly(value, shown):
    assert WIDE.json(value) == shown


def test_a_long_list_says_how_much_is_left_out():
    assert NARROW.state([1, 2, 3, 4], {}) == ["1", "2", "… 2 more"]


def test_a_large_object_says_how_much_is_left_out():
    assert NARROW.state({"a": 1, "b": 2, "c": 3}, {}) == {"a": "1", "b": "2", "…": "1 more"}


def test_a_set_has_one_order():
    assert WIDE.state(frozenset({"b", "c", "a"}), {}) == ["'a'", "'b'", "'c'"]


def test_a_deep_value_ends_in_a_text():
    deep = []
    for _ in range(10_000):
        deep = [deep]
    shown = WIDE.state(deep, {})
    for _ in range(16):
        [shown] = shown
    assert isinstance(shown, str)


def test_a_deep_object_ends_in_a_text_as_json_too():
    deep = {}
    for _ in range(100):
        deep = {"a": deep}
    shown = WIDE.json(deep)
    for _ in range(16):
        shown = shown["a"]
    assert isinstance(shown, str)


@given(values)
def test_anything_becomes_json_within_bounds(value):
    for shown in (NARROW.state(value, {}), NARROW.json(value)):
        assert json.loads(json.dumps(shown, allow_nan=False)) == shown
        assert _widest(shown) <= NARROW.members + 1


def _widest(value):
    if isinstance(value, Mapping):
        return max(len(value), *map(_widest, value.values()), 0)
    return max(len(value), *map(_widest, value), 0) if isinstance(value, list) else 0


def test_a_value_that_two_states_share_is_shown_once():
    shared, known = {"x": [1, {"y": 2}]}, {}
    first, second = (WIDE.state({name: shared}, known) for name in "ab")
    assert (first, second) == tuple({name: {"x": ["1", {"y": "2"}]}} for name in "ab")
    assert first["a"] is second["b"]
