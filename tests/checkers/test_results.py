"""Results against results: exactly, within a tolerance, by structure; all of them or none."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.calls.single_turn_verdict import find_unmatched
from checkers.reasons import Reason
from checkers.results import ResultComparisonRule, check_result, check_results
from envs.errors import Refused
from envs.results import Result

EXACT = ResultComparisonRule()
NEAR = ResultComparisonRule("tolerance", 0.2)
SHAPE = ResultComparisonRule("structure")
REFUSED = Result.refused(Refused("The shop is closed."))


def compare(expected: Any, actual: Any, comparison: ResultComparisonRule) -> Reason | None:
    """Return why a value is not right."""
    failure = check_result(Result(expected), Result(actual), comparison)
    return failure.reason if failure else None


@pytest.mark.parametrize(
    ("expected", "actual", "comparison", "reason"),
    [
        (1, 1, EXACT, None),
        (1, 1.0, EXACT, None),
        (0.1 + 0.2, 0.3, EXACT, None),
        (1, 1.000001, EXACT, Reason.RESULT_VALUE),
        (1, True, EXACT, Reason.RESULT_TYPE),
        (1, "1", EXACT, Reason.RESULT_TYPE),
        ("a", "A", EXACT, Reason.RESULT_VALUE),
        (None, None, EXACT, None),
        (None, 0, EXACT, Reason.RESULT_TYPE),
        ((1, 2), [1, 2], EXACT, None),
        ([1, 2], [2, 1], EXACT, Reason.RESULT_VALUE),
        ([1, 2], [1, 2, 3], EXACT, Reason.RESULT_STRUCTURE),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, EXACT, None),
        ({"a": 1}, {"a": 1, "b": 2}, EXACT, Reason.RESULT_STRUCTURE),
        ({"a": 1, "b": 2}, {"a": 1}, EXACT, Reason.RESULT_STRUCTURE),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, EXACT, Reason.RESULT_VALUE),
        (100, 120, NEAR, None),
        (100, 80.0, NEAR, None),
        (100, 121, NEAR, Reason.RESULT_VALUE),
        (-100, -121, NEAR, Reason.RESULT_VALUE),
        (0, 0.0, NEAR, None),
        (100, 120, ResultComparisonRule("tolerance"), None),
        (100, 121, ResultComparisonRule("tolerance"), Reason.RESULT_VALUE),
        (10**400, 10**400, EXACT, None),
        (10**400, 10**400 + 1, EXACT, Reason.RESULT_VALUE),
        (12.5, 10**400, EXACT, Reason.RESULT_VALUE),
        (12.5, 10**400, NEAR, Reason.RESULT_VALUE),
        (0, 0.1, NEAR, Reason.RESULT_VALUE),
        (float("inf"), float("nan"), NEAR, Reason.RESULT_VALUE),
        ({"price": 10.0, "of": "x"}, {"price": 11.0, "of": "x"}, NEAR, None),
        ({"price": 10.0, "of": "x"}, {"price": 11.0, "of": "y"}, NEAR, Reason.RESULT_VALUE),
        ({"price": 10.0, "of": "x"}, {"price": 99, "of": "y"}, SHAPE, None),
        ({"price": 10.0}, {"price": "10.0"}, SHAPE, Reason.RESULT_TYPE),
        ([1, 2], [3, 4], SHAPE, None),
        ([1, 2], [3], SHAPE, Reason.RESULT_STRUCTURE),
        ([], {}, SHAPE, Reason.RESULT_TYPE),
        ({"a": None}, {"a": 1}, SHAPE, Reason.RESULT_TYPE),
        ({"a": 1}, {"A": 1}, SHAPE, Reason.RESULT_STRUCTURE),
    ],
)
def test_one_value_against_another(
    expected: Any, actual: Any, comparison: ResultComparisonRule, reason: Reason | None
) -> None:
    assert compare(expected, actual, comparison) is reason


def test_a_failure_says_where_and_what() -> None:
    failure = check_result(Result({"a": [{"b": 1}]}), Result({"a": [{"b": 2}]}), EXACT)
    assert failure is not None
    assert failure.message == "result['a'][0]['b']: expected 1, got 2"
    assert (failure.expected, failure.actual) == (1, "2")


def test_a_refused_call_fails() -> None:
    failure = check_result(Result(1), REFUSED, SHAPE)
    assert failure is not None
    assert failure.reason is Reason.REFUSED
    assert failure.message == 'the call was refused: {"error": "The shop is closed."}'
    long = check_result(Result(1), Result.refused(Refused("x" * 600)), SHAPE)
    assert long is not None
    assert long.message == 'the call was refused: {"error": "' + "x" * 489
    left = check_results([Result("y" * 250)], [Result(1)], [EXACT])
    assert left is not None


def test_a_refused_ground_truth_is_not_the_models_fault() -> None:
    with pytest.raises(UnjudgeableEntry, match="ground truth was refused"):
        check_results([REFUSED], [Result(1)], [EXACT])


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_number_of_calls_must_be_right(count: int) -> None:
    failure = check_results([Result(1), Result(1)], [Result(1)] * count, [EXACT] * 2)
    assert failure is not None
    assert (failure.reason, failure.expected, failure.actual) == (
        Reason.RESULT_COUNT,
        2,
        str(count),
    )


def test_parallel_calls_come_in_any_order() -> None:
    truth = [Result("a"), Result([1]), Result(3)]
    for order in permutations(truth):
        assert check_results(truth, order, [EXACT, SHAPE, NEAR]) is None


def test_parallel_calls_are_all_right_or_the_entry_fails() -> None:
    truth = [Result(1), Result(2)]
    failure = check_results(truth, [Result(2), Result(3)], [EXACT] * 2)
    assert failure is not None
    assert failure.reason is Reason.RESULT_NO_MATCH
    assert failure.message == "no remaining call returns 1"
    assert [cause.reason for cause in failure.causes] == [Reason.RESULT_VALUE] * 2


def test_one_result_does_not_serve_two_ground_truth_calls() -> None:
    failure = check_results([Result(1), Result(1)], [Result(1), Result(2)], [EXACT] * 2)
    assert failure is not None
    assert failure.reason is Reason.RESULT_NO_MATCH


def test_a_lenient_comparison_leaves_a_strict_one_its_result() -> None:
    truth = [Result(10), Result(10)]
    assert check_results(truth, [Result(10), Result(11)], [NEAR, EXACT]) is None


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4))))
def test_matching_finds_a_place_for_all_if_there_is_one(fitting: set[tuple[int, int]]) -> None:
    possible = any(
        all((one, other) in fitting for one, other in enumerate(order))
        for order in permutations(range(5))
    )
    assert (find_unmatched(5, 5, lambda *pair: pair in fitting) is None) is possible


@pytest.mark.parametrize(
    ("actual", "deep", "shallow"),
    [
        ({"body": {"a": [1], "b": {"c": 1}}}, None, None),
        ({"body": {"a": "x", "b": None}}, Reason.RESULT_TYPE, None),
        ({"body": {"a": [1, 2], "b": {}}}, Reason.RESULT_STRUCTURE, None),
        ({"body": {"a": [1]}}, Reason.RESULT_STRUCTURE, Reason.RESULT_STRUCTURE),
        ({"body": [1]}, Reason.RESULT_TYPE, Reason.RESULT_TYPE),
        ({"body": {"a": [1], "b": {"c": 1}}, "more": 1}, Reason.RESULT_STRUCTURE,
         Reason.RESULT_STRUCTURE),
        ([], Reason.RESULT_TYPE, Reason.RESULT_TYPE),
    ],
)  # fmt: skip
def test_structure_is_compared_deeply_or_of_members_only(
    actual: Any, deep: Reason | None, shallow: Reason | None
) -> None:
    expected = Result({"body": {"a": [5], "b": {"c": 7}}})
    for deeply, reason in ((True, deep), (False, shallow)):
        found = check_result(
            expected, Result(actual), ResultComparisonRule("structure", deeply=deeply)
        )
        assert (found and found.reason) == reason


def test_lists_are_as_long_where_members_only_are_compared() -> None:
    comparison = ResultComparisonRule("structure", deeply=False)
    expected = Result({"body": [1, 2]})
    assert check_result(expected, Result({"body": ["x", {}]}), comparison) is None
    found = check_result(expected, Result({"body": [1]}), comparison)
    assert found is not None
    assert found.reason is Reason.RESULT_STRUCTURE


def test_objects_in_a_list_have_equal_keys_where_members_only_are_compared() -> None:
    """An answer with other objects is another service's."""
    comparison = ResultComparisonRule("structure", deeply=False)
    holidays = [{"date": "2024-01-01", "name": "New Year"}, {"date": "2024-07-14", "name": "14"}]
    for wrap in (lambda body: body, lambda body: {"status": 200, "body": body}):
        expected = Result(wrap(holidays))
        same = [{"name": None, "date": 5}, {"name": {}, "date": []}]
        assert check_result(expected, Result(wrap(same)), comparison) is None
        for other in ([same[0], {"date": 1}], [same[0], {**same[1], "more": 1}], [same[0], "x"]):
            found = check_result(expected, Result(wrap(other)), comparison)
            assert found is not None
            assert (found.reason, found.message[:14]) == (Reason.RESULT_STRUCTURE, "keys of result")


def test_types_of_members_do_not_count_where_an_object_is_the_answer() -> None:
    comparison = ResultComparisonRule("structure", deeply=False)
    expected = Result({"a": 1, "b": [1]})
    assert check_result(expected, Result({"a": "x", "b": None}), comparison) is None
    assert check_result(expected, Result({"a": 1}), comparison) is not None


def test_values_are_compared_all_the_way_down_whatever_is_said_of_structure() -> None:
    comparison = ResultComparisonRule("exact", deeply=False)
    values = Result({"a": {"b": {"c": {"d": 1}}}}), Result({"a": {"b": {"c": {"d": 2}}}})
    assert check_result(*values, comparison) is not None
