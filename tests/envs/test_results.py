from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.calls import Call, read_call
from envs.errors import NotFound
from envs.registry import BACKENDS
from envs.results import Result, is_surely_alike, render
from envs.session import Session
from tests.examples import examples
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import load_session
from trajectories.schema import Category


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n'quoted'", "as it is\n'quoted'"),
        ("", ""),
        ({"a": 1, "b": [1.0, True, None, "x"]}, '{"a": 1, "b": [1.0, true, null, "x"]}'),
        ({"b": 1, "a": 2}, '{"b": 1, "a": 2}'),
        ({}, "{}"),
        ({"é": "\U0001f600"}, '{"\\u00e9": "\\ud83d\\ude00"}'),
        ({1: (2, 3), None: 0}, '{"1": [2, 3], "null": 0}'),
        ({"n": float("nan"), "i": float("-inf")}, '{"n": NaN, "i": -Infinity}'),
        ({"d": Decimal("1.50")}, "{'d': Decimal('1.50')}"),
        ({("tuple",): 1}, "{('tuple',): 1}"),
        ([{"a": 1}, "é"], "[{'a': 1}, 'é']"),
        ([], "[]"),
        (None, "None"),
        (True, "True"),
        (15.0, "15.0"),
    ],
)
def test_text_of_a_value(value, text):
    result = Result(value)
    assert result.text == text
    assert result.text == text
    assert result.ok


def test_text_of_an_error_has_its_fields_in_front():
    error = NotFound("There is no booking 'x'.", booking_status=False)
    result = Result.refused(error)
    assert result.text == '{"booking_status": false, "error": "There is no booking \'x\'."}'
    assert result.value == {"booking_status": False, "error": "There is no booking 'x'."}
    assert result.error is error
    assert not result.ok
    assert not result.changed


def test_a_refusal_may_have_changed_something():
    assert Result.refused(NotFound("no"), changed=True).changed


def test_description_for_debuggers():
    assert repr(Result({"a": 1})) == 'Result({"a": 1})'
    assert repr(Result.refused(NotFound("no"))) == 'Result(error: {"error": "no"})'


def test_long_tuples_are_written_like_any_others():
    numbers = tuple(index / 7 for index in range(500))
    for value in (
        {"a": numbers, "b": 1},
        {"a": tuple(range(500))},
        {"a": tuple(map(float, range(500)))},
    ):
        assert Result(value).text == json.dumps(value) == Result(dict(value)).text


def test_a_text_that_is_known_is_not_written_again():
    assert Result({"a": 1}, text="{'a': 1}").text == "{'a': 1}"


def spoil(value):
    """Change whatever can be changed in a value, all the way down."""
    if isinstance(value, dict):
        for member in [*value.values()]:
            spoil(member)
        value.clear()
        value["spoilt"] = True
    elif isinstance(value, list):
        for member in value:
            spoil(member)
        value[:] = ["spoilt"]
    elif isinstance(value, tuple):
        for member in value:
            spoil(member)
    elif isinstance(value, set):
        value.clear()


@cache
def data():
    return load_embedded([Category.BASE, Category.LONG_CONTEXT])


ENTRIES = st.deferred(lambda: st.sampled_from([*data().trajectories.values()]))


@given(ENTRIES, st.lists(st.booleans(), min_size=1, max_size=20))
@settings(max_examples=examples(25))
def test_who_changes_a_value_changes_no_state_no_result_and_no_other_session(trajectory, whether):
    calls = [read_call(text) for turn in trajectory.turns for text in turn.ground_truth]
    untouched = load_session(data(), trajectory)
    expected = [result.text for result in untouched.play(calls)]
    session = load_session(data(), trajectory)
    fork, before, made = session.fork(), session.snapshot().digest(), []
    for call, spoils in zip(calls, cycle(whether), strict=False):
        made.append(session.call(call))
        if spoils:
            for earlier in made:
                spoil(earlier.value)
                assert "spoilt" not in repr(earlier.value)
    assert [result.text for result in made] == expected
    assert session.snapshot().digest() == untouched.snapshot().digest()
    assert fork.snapshot().digest() == before
    assert load_session(data(), trajectory).snapshot().digest() == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_who_changes_a_value_changes_no_default(backend):
    session = Session.load([backend], {}, tolerant=True)
    start = session.snapshot().digest()
    for name, tool in session.tools.items():
        if not tool.writes:
            spoil(session.call(Call(name)).value)
    assert session.snapshot().digest() == start
    assert Session.load([backend], {}, tolerant=True).snapshot().digest() == start


def test_a_copy_of_a_value_that_is_no_plain_data():
    value = {"when": [date(2026, 1, 1)], "sum": Decimal("1.5")}
    result = Result(value)
    copied = result.value
    assert copied == value
    spoil(copied)
    assert result.value == value


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, -0.0, 1.0, 2.5, "1", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", 1, True, None]), inner, max_size=3)
    ),
)


@given(VALUES, VALUES)
@settings(max_examples=examples(500), deadline=None)
def test_what_is_surely_alike_is_written_alike(one, other):
    if is_surely_alike(one, other):
        assert render(one) == render(other)


@pytest.mark.parametrize(
    "value", ["text", 3, True, None, 2.5, [], ["a", "b"], {}, {"a": 1, "b": [{"c": "d"}, 2.5]}]
)
def test_a_value_is_surely_like_its_copy(value):
    assert is_surely_alike({"result": value}, {"result": json.loads(json.dumps(value))})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ([1.5, 0.0], [1.5, -0.0]),
        ({"a": [1.5, 0.0]}, {"a": [1.5, -0.0]}),
        ([[], 1], [[], True]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: 2}, {True: 2}),
    ],
)
def test_equal_values_that_are_written_otherwise_are_not_alike(one, other):
    assert one == other
    assert render({"result": one}) != render({"result": other})
    assert not is_surely_alike({"result": one}, {"result": other})


def test_a_refusal_keeps_nothing_alive_of_how_it_came_about():
    session = Session.load(["GorillaFileSystem"], {})
    for text in ("cat(file_name='missing')", "cat(nothing=1)", "missing()"):
        refused = session.call(read_call(text)).error
        assert refused is not None
        assert refused.__traceback__ is None
        assert refused.__context__ is None


def test_a_long_tuple_is_written_once_and_a_list_each_time():
    bulk, grown = tuple(range(300)), [1]
    first = Result({"a": bulk, "b": grown, "c": 1.0}).text
    assert first == json.dumps({"a": bulk, "b": grown, "c": 1.0})
    grown.append(2)
    assert Result({"a": bulk, "b": grown, "c": 1}).text == json.dumps(
        {"a": bulk, "b": [1, 2], "c": 1}
    )
    assert Result({1: bulk}).text == json.dumps({"1": bulk})
