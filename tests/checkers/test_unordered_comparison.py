from __future__ import annotations

from typing import Any

import pytest

from checkers.unordered_comparison import arrange, arrange_snapshot, is_alike, list_missing_results
from envs.errors import Refused
from envs.results import Result
from envs.state import Snapshot


@pytest.mark.parametrize(
    ("expected", "actual", "result"),
    [
        ({"names": [1, 2, 3]}, {"names": [3, 1, 2]}, {"names": [1, 2, 3]}),
        ({"names": [1, 2]}, {"names": [2, 4, 1]}, {"names": [1, 2, 4]}),
        ({"names": [1, 1]}, {"names": [1, 2]}, {"names": [1, 2]}),
        ({"steps": [1, 2]}, {"steps": [2, 1]}, {"steps": [2, 1]}),
        ({"a": [{"names": [1, 2]}]}, {"a": [{"names": [2, 1]}]}, {"a": [{"names": [1, 2]}]}),
        ({"names": {"ann": [1, 2]}}, {"names": {"ann": [2, 1]}}, {"names": {"ann": [1, 2]}}),
        ({"names": [1]}, {"names": "1"}, {"names": "1"}),
        ({"names": (1, 2)}, {"names": (2, 1)}, {"names": (1, 2)}),
        ([1, 2], [2, 1], [2, 1]),
    ],
)
def test_lists_of_some_names_take_the_order_of_the_expected_ones(
    expected: Any, actual: Any, result: Any
) -> None:
    assert arrange(expected, actual, {"names"}) == result


def test_what_is_not_expected_stays_and_is_shown_as_a_difference() -> None:
    expected = Snapshot({"A": {"names": [1, 2]}, "B": {"names": [1, 2]}})
    actual = Snapshot({"A": {"names": [3, 2, 1]}, "B": {"names": [2, 1]}})
    there = arrange_snapshot(expected, actual, lambda name: {"names"} if name == "A" else ())
    found = [str(difference) for difference in expected.differences(there)]
    assert found == [
        "A.names[2]: expected nothing, got 3",
        "B.names[0]: expected 1, got 2",
        "B.names[1]: expected 2, got 1",
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ({"names": [1, 2]}, {"names": [2, 1]}, True),
        ({"names": [1, 2]}, {"names": [2, 1, 1]}, False),
        ({"names": [1, 2]}, {"names": [2, 1], "steps": []}, False),
        ({"names": [1, 2]}, {"names": (2, 1)}, False),
        ({"steps": [1, 2]}, {"steps": [2, 1]}, False),
        ([{"names": [1, 2]}], [{"names": [2, 1]}], True),
        ({"names": [1]}, [1], False),
        (1, 1.0, True),
        ("1", 1, False),
    ],
)
def test_values_are_alike_that_differ_in_meaningless_order_alone(
    expected: Any, actual: Any, same: bool
) -> None:
    assert is_alike(expected, actual, {"names"}) is same
    assert (expected == arrange(expected, actual, {"names"})) is same
    assert is_alike(expected, actual, ()) is (expected == actual)


def test_the_same_values_and_lists_that_all_have_an_order_are_not_copied() -> None:
    value = {"names": [2, 1]}
    assert arrange(value, value, {"names"}) is value
    assert arrange({"names": [2, 1]}, value, {"names"}) is value
    assert arrange({"names": [1, 2]}, value, ()) is value


@pytest.mark.parametrize(
    ("truth", "seen", "missing"),
    [
        ([None], [Refused("no")], ["None"]),
        ([Refused("no")], [None], ['{"error": "no"}']),
        ([Refused("no")], [Refused("no")], []),
        ([Refused("no")], [Refused("yes")], ['{"error": "no"}']),
        ([1], [], ["1"]),
        ([1, 1], [1], ["1"]),
        ([1], [1, 1], []),
        ([1, 2], [2, 1], []),
        ([1, 2], [1, 2, 3], []),
        ([], [1], []),
        ([1], [2, 3], ["1"]),
        (["a", "b"], ["c", "b"], ["a"]),
    ],
)
def test_results_are_missing_as_often_as_they_were_not_seen(
    truth: list[Any], seen: list[Any], missing: list[str]
) -> None:
    results = [
        [Result.refused(value) if isinstance(value, Refused) else Result(value) for value in values]
        for values in (truth, seen)
    ]
    assert [*list_missing_results(*results)] == missing
