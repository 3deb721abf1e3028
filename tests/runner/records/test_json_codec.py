from __future__ import annotations

import gc
import json
import re
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.verdict import Verdict
from envs.errors import DataError
from envs.state import ABSENT
from runner.records.episode_record import EpisodeRecord
from runner.records.json_codec import (
    EncodedJson,
    TypeMismatch,
    encode,
    encode_members,
    members_of,
    read,
    reader_of,
    to_json_value,
)
from tests.runner.records.made import episode, step


def test_what_was_read_is_gone_with_the_last_that_holds_it():
    """A large run is read record by record, and a collection of cycles comes late."""
    record = episode("a", 0, "base", "passed", 2, 2)._replace(steps=[step(0), step(1)])
    line = record.to_json()
    read(EpisodeRecord, line, "a file")
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            read(EpisodeRecord, line, "a file")
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1e308, 10**400])
def test_a_number_is_finite(number):
    with pytest.raises(TypeMismatch, match="must be a finite number"):
        reader_of(float)(number)


class Sizes(NamedTuple):
    """A record with members of members."""

    by_run: Mapping[str, Mapping[str, int]]


@pytest.mark.parametrize(
    ("value", "place"),
    [({"a": {"b": "c"}}, "['a']['b']: must be a whole number"), ({"a": 1}, "['a']: must be an")],
)
def test_members_of_an_object_are_of_their_type(value, place):
    assert read(Sizes, {"by_run": {"a": {"b": 1}}}, "x").by_run == {"a": {"b": 1}}
    with pytest.raises(DataError, match=re.escape(f"$.by_run{place}")):
        read(Sizes, {"by_run": value}, "x")


SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
VALUES = st.recursive(
    SCALARS.filter(lambda value: value not in (float("inf"), -float("inf"))),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)


@given(VALUES)
def test_a_value_is_written_as_json_has_it(value):
    assert encode(value) == json.dumps(value, separators=(",", ":"))


@given(st.lists(VALUES, max_size=3), VALUES)
def test_a_record_is_written_as_its_members_are(values, value):
    made = step(1, ["a(x='é')"], ["\ud800"])._replace(changes=values, latency=1e22, asked=value)
    record = episode("a", 0, "base", "passed", 2, 2)._replace(steps=[made], messages=values)
    plain = json.dumps(to_json_value(record), separators=(",", ":"))
    assert encode(record) == encode_members(record.present()) == plain
    known = {**record.present(), "steps": [EncodedJson(encode(made))]}
    assert encode_members(known) == plain


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_written_in_words(number):
    values = [number, {"a": number}, [[number]], ({"b": [number]}, number)]
    word = str(number)
    assert json.loads(encode(values)) == [word, {"a": word}, [[word]], [{"b": [word]}, word]]


class Point(NamedTuple):
    """A record with a default."""

    x: float
    name: str | None = "p"


class Shape(NamedTuple):
    """A record of every type of field."""

    kind: Literal["line", "area"]
    points: Sequence[Point]
    size: int | str
    closed: bool
    more: Mapping[str, Any] = {}
    extra: Any = None
    parts: list[list[int]] | Sequence[Point] | None = None
    verdict: Verdict | None = None


SHAPE = {"kind": "line", "points": [{"x": 1}], "size": 2, "closed": True, "unknown": 5}
LONG = "é" * 99
SHOWN = repr(LONG)[:60]


@pytest.mark.parametrize(
    ("value", "mismatch"),
    [
        (5, "$: must be an object, but is 5"),
        ({**SHAPE, "kind": "dot"}, "$.kind: must be line or area, but is 'dot'"),
        ({**SHAPE, "kind": LONG}, f"$.kind: must be line or area, but is {SHOWN}"),
        ({**SHAPE, "points": {}}, "$.points: must be a list, but is {}"),
        ({**SHAPE, "points": "ab"}, "$.points: must be a list, but is 'ab'"),
        ({**SHAPE, "points": [{"x": 1}, []]}, "$.points[1]: must be an object, but is []"),
        ({**SHAPE, "points": [{"x": True}]}, "$.points[0].x: must be a number, but is True"),
        ({**SHAPE, "points": [{"x": 1}, {}]}, "$.points[1].x: is missing"),
        (
            {**SHAPE, "points": [{"x": 1, "name": 5}]},
            "$.points[0].name: must be a string, but is 5",
        ),
        (
            {**SHAPE, "points": [{"x": inf}]},
            "$.points[0].x: must be a finite number below 1e100, but is inf",
        ),
        ({**SHAPE, "size": 1.5}, "$.size: must be a whole number, but is 1.5"),
        ({**SHAPE, "size": True}, "$.size: must be a whole number, but is True"),
        ({**SHAPE, "size": None}, "$.size: must be a whole number, but is None"),
        ({**SHAPE, "closed": 1}, "$.closed: must be true or false, but is 1"),
        ({**SHAPE, "more": []}, "$.more: must be an object, but is []"),
        # Of several types, the one that fits best is named.
        ({**SHAPE, "parts": [[1], [2, "a"]]}, "$.parts[1][1]: must be a whole number, but is 'a'"),
        ({**SHAPE, "parts": [{"x": "a"}]}, "$.parts[0].x: must be a number, but is 'a'"),
        (
            {**SHAPE, "verdict": {}},
            "$.verdict: is not a verdict: ValueError(\"not a verdict: 'error_type'\")",
        ),
        ({"kind": "line", "points": [], "closed": True}, "$.size: is missing"),
    ],
)
def test_a_mismatch_is_named_with_its_path(value, mismatch):
    with pytest.raises(DataError) as caught:
        read(Shape, value, "here")
    assert str(caught.value) == f"here: {mismatch}"


@pytest.mark.parametrize(
    ("changed", "field", "found"),
    [
        ({}, "points", [Point(1)]),
        ({"points": [{"x": -0.5, "name": None}]}, "points", [Point(-0.5, None)]),
        ({"points": []}, "points", []),
        ({"size": "large"}, "size", "large"),
        ({}, "more", {}),
        ({"more": {"a": [{}]}}, "more", {"a": [{}]}),
        ({"extra": [1, None]}, "extra", [1, None]),
        ({"parts": None}, "parts", None),
        ({"parts": [[1], []]}, "parts", [[1], []]),
        ({"parts": [{"x": 1}]}, "parts", [Point(1)]),
    ],
)
def test_fields_are_read_as_their_types(changed, field, found):
    assert getattr(read(Shape, {**SHAPE, **changed}, "here"), field) == found


def test_absent_fields_are_left_out():
    point = Point(1.0, ABSENT)
    assert to_json_value([point, (point, "a"), {"b": 1}]) == [
        {"x": 1.0},
        [{"x": 1.0}, "a"],
        {"b": 1},
    ]
    assert encode([point, (point, "a"), {"b": 1}]) == '[{"x":1.0},[{"x":1.0},"a"],{"b":1}]'
    assert encode([{"b": 1}, point]) == '[{"b":1},{"x":1.0}]'
    assert members_of(Point(1.0, None)) == {"x": 1.0, "name": None}


def test_the_shown_name_of_a_member_is_bounded():
    with pytest.raises(DataError) as caught:
        read(Sizes, {"by_run": {LONG: 5}}, "here")
    assert str(caught.value) == f"here: $.by_run[{SHOWN}]: must be an object, but is 5"
