from __future__ import annotations

import json
from decimal import Decimal

import pytest

from envs.errors import NotFound
from envs.results import Result


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
