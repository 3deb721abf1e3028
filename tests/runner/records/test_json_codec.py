from __future__ import annotations

import gc
import json
import re
from collections.abc import Mapping
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.records.episode_record import EpisodeRecord
from runner.records.json_codec import (
    EncodedJson,
    TypeMismatch,
    encode,
    encode_members,
    read,
    reader_of,
    to_json_value,
)
from tests.runner.records.made import episode, step
from trajectories.errors import DataError


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


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
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
