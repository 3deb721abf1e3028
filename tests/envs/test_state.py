from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.errors import DataError
from envs.state import (
    ABSENT,
    Difference,
    Snapshot,
    copy_lists,
    cut_repr,
    list_differences,
    to_json,
)

ROOT = Path(__file__).parents[2]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-3, 3, allow_nan=False)
    | st.sampled_from(["", "a", "b", "1"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(scalars, inner, max_size=3)
        | st.frozensets(scalars, max_size=3)
    ),
    max_leaves=8,
)


def snapshot(**fields):
    return Snapshot({"World": fields})


def test_a_long_value_is_shown_in_120_characters():
    assert cut_repr("x" * 118) == repr("x" * 118)
    assert cut_repr("x" * 119) == f"{repr('x' * 119)[:117]}..."


def test_a_snapshot_is_shown_with_the_start_of_its_digest():
    shown = snapshot(field=1)
    assert repr(shown).endswith(f": {shown.digest()[:12]})")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        (2**70, float(2**70)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: "x"}, {True: "x"}),
        ([1, [2.0]], [1.0, [2]]),
        (frozenset({1, 2}), frozenset({2.0, True})),
    ],
)
def test_equal_as_python_has_it(left, right):
    assert snapshot(field=left) == snapshot(field=right)
    assert snapshot(field=left).digest() == snapshot(field=right).digest()
    assert hash(snapshot(field=left)) == hash(snapshot(field=right))
    assert snapshot(field=left).differences(snapshot(field=right)) == []


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, "1"),
        (0, None),
        (0, ""),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ([1], (1,)),
        ({"1": 0}, {1: 0}),
        ({"a": None}, {}),
        ({"object": []}, []),
        ("1", {"number": "0x1"}),
        (0.1, 0.1 + 2**-55),
        (2**53 + 1, float(2**53)),
    ],
)
def test_different_as_python_has_it(left, right):
    assert snapshot(field=left) != snapshot(field=right)
    assert snapshot(field=left).digest() != snapshot(field=right).digest()
    assert snapshot(field=left).differences(snapshot(field=right))


@given(values, values)
def test_digest_and_differences_agree_with_equality(left, right):
    same = left == right
    assert (snapshot(field=left) == snapshot(field=right)) is same
    assert (snapshot(field=left).digest() == snapshot(field=right).digest()) is same
    assert (not snapshot(field=left).differences(snapshot(field=right))) is same


@given(values)
def test_digest_is_that_of_an_equal_value_built_otherwise(value):
    def rebuilt(value):
        if isinstance(value, dict):
            return {rebuilt(key): rebuilt(value[key]) for key in reversed(value)}
        if isinstance(value, (list, tuple)):
            return type(value)(map(rebuilt, value))
        return float(value) if isinstance(value, int) else value

    assert snapshot(field=value).digest() == snapshot(field=rebuilt(value)).digest()


def test_hidden_fields_are_not_compared():
    left, right = snapshot(field=1, _hidden=1), snapshot(field=1, _hidden=2)
    assert left == right
    assert left.digest() == right.digest()
    assert left.compared() == {"World": {"field": 1}}
    assert left.differences(right) == []


def test_an_attribute_without_a_field_is_a_difference():
    assert snapshot(field=1, undeclared=2) != snapshot(field=1)


def test_a_snapshot_without_hidden_fields_is_compared_either_way():
    whole, kept = Snapshot({"A": {"f": 1, "_at": 2}}), Snapshot({"A": {"f": 1}})
    other = Snapshot({"A": {"f": 3, "_at": 2}})
    assert whole == kept
    assert kept == whole
    assert other.first_difference(kept) == "A"
    assert kept.first_difference(other) == "A"


def test_backends_are_told_apart():
    left = Snapshot({"A": {"field": 1}, "B": {"field": 2}})
    right = Snapshot({"A": {"field": 2}, "B": {"field": 1}})
    assert left != right
    assert left.first_difference(right) == "A"
    assert left.first_difference(left) is None
    assert left != Snapshot({"A": {"field": 1}})
    assert left.__eq__("A") is NotImplemented


@pytest.mark.parametrize(
    ("expected", "actual", "differences"),
    [
        ({"a": 1}, {"a": 2}, [("World.field.a", 1, 2)]),
        ({"a": 1}, {}, [("World.field.a", 1, ABSENT)]),
        ({}, {"a b": 1}, [("World.field['a b']", ABSENT, 1)]),
        ({5: {"x": [0, 1]}}, {5: {"x": [0, 2]}}, [("World.field[5].x[1]", 1, 2)]),
        ({"1": 0}, {1: 0}, [("World.field['1']", 0, ABSENT), ("World.field[1]", ABSENT, 0)]),
        ([1], [1, 2, 3], [("World.field[1]", ABSENT, 2), ("World.field[2]", ABSENT, 3)]),
        ([[1]], [], [("World.field[0]", [1], ABSENT)]),
        ([1], {"0": 1}, [("World.field", [1], {"0": 1})]),
        (1, "1", [("World.field", 1, "1")]),
        ({"b": 1, "a": 1}, {"a": 2, "b": 2}, [("World.field.b", 1, 2), ("World.field.a", 1, 2)]),
    ],
)
def test_differences_name_the_places(expected, actual, differences):
    found = snapshot(field=expected).differences(snapshot(field=actual))
    assert found == [Difference(*difference) for difference in differences]


def test_a_difference_is_one_short_line():
    assert str(Difference("A.b[0]", 1, ABSENT)) == "A.b[0]: expected 1, got nothing"
    assert len(str(Difference("A.b", "x" * 10_000, ["y"] * 10_000))) < 300


def test_diff_of_bare_values_has_no_path():
    assert list(list_differences(1, 2)) == [Difference("", 1, 2)]


def test_json_is_fresh_and_plain():
    inner = {"list": [1, (2, 3)]}
    shown = snapshot(field=inner, names=frozenset({"b", "a"}), _hidden=1).to_json()
    assert shown == {"World": {"field": {"list": [1, [2, 3]]}, "names": ["a", "b"]}}
    shown["World"]["field"]["list"].append(4)
    assert inner == {"list": [1, (2, 3)]}


def test_json_of_other_keys_and_values():
    assert to_json({1: 2.5, None: 1j}) == {"1": 2.5, "None": "1j"}


def test_digest_is_the_same_in_every_process():
    program = (
        "from envs.state import Snapshot\n"
        "names = frozenset({'one', 'two', 'three', 'four'})\n"
        "print(Snapshot({'A': {'names': names, 'map': {name: [1.5] for name in names}}}).digest())"
    )

    def run(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", program]
        return subprocess.run(command, env=environment, capture_output=True, check=True).stdout

    assert run("1") == run("2") == run("3")
    assert len(run("0").strip()) == 64


def test_a_copy_of_lists_shares_no_list_and_no_object():
    for value in ([1, "a"], [[1], {"a": [2]}], {"a": [[3]], "b": {"c": 4}}, [{"a": 5}, []]):
        copy = copy_lists(value)
        assert copy == value
        assert not {*_list_ids(copy)} & {*_list_ids(value)}
    assert copy_lists(atom := "text") is atom


def _list_ids(value):
    """Yield the identity of each list and object in a value."""
    if isinstance(value, list | dict):
        yield id(value)
        for member in value.values() if isinstance(value, dict) else value:
            yield from _list_ids(member)


@pytest.mark.parametrize("other", [None, "x", {"a": {}}, float("nan")])
def test_only_snapshots_are_compared(other):
    with pytest.raises(DataError, match=r"^other: must be a Snapshot, but is "):
        Snapshot({"A": {"x": 1}}).first_difference(other)


def test_a_backend_without_a_state_differs():
    assert Snapshot({"A": {"x": 1}}).first_difference(Snapshot({"B": {"x": 1}})) == "A"


@pytest.mark.parametrize("backends", [None, 5, float("nan"), object()])
def test_only_names_of_backends_are_checked(backends):
    with pytest.raises(DataError, match=r"^backends: must be the names of backends, but is "):
        Snapshot({"A": {}}).checked(backends)
    with pytest.raises(DataError, match=r"^snapshot: has no state of \['x'\]$"):
        Snapshot({"A": {}}).checked([["x"], "A"])
