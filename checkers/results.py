"""Comparison of single-turn results with the ground truth.

An entry passes if each result matches one result of the ground truth, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any, Literal, NamedTuple

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.calls.single_turn_verdict import find_unmatched
from checkers.evidence import CallEvidence
from checkers.reasons import Reason
from envs.results import Result
from envs.state import ABSENT, Difference, cut_repr, to_json

_ROUNDING = 1e-9


class ResultComparisonRule(NamedTuple):
    """Rules for the comparison of a result with a ground-truth result.

    Types, lengths of lists and keys of objects must always agree.
    """

    by: Literal["exact", "tolerance", "structure"] = "exact"
    """``exact``: equal values; ``tolerance``: near numbers; ``structure``: equal types and keys."""
    tolerance: float = 0.2
    deeply: bool = True
    """Whether types are compared at all levels, not only at the first level."""


def check_results(
    truth: Sequence[Result], given: Sequence[Result], comparisons: Sequence[ResultComparisonRule]
) -> CallEvidence | None:
    """Compare the results of a model; ``comparisons`` has one rule per ground-truth result.

    Raises UnjudgeableEntry if a ground-truth call was refused.
    """
    for expected in truth:
        if not expected.ok:
            raise UnjudgeableEntry(f"a call of the ground truth was refused: {expected.text}")
    if len(given) != len(truth):
        message = f"{len(truth)} calls expected, {len(given)} made"
        made = str(len(given))
        return CallEvidence(Reason.RESULT_COUNT, message, expected=len(truth), actual=made)
    if len(truth) == 1:
        return check_result(truth[0], given[0], comparisons[0])

    def fits(one: int, other: int) -> bool:
        return check_result(truth[one], given[other], comparisons[one]) is None

    left = find_unmatched(len(truth), len(given), fits)
    if left is None:
        return None
    causes = (check_result(truth[left], result, comparisons[left]) for result in given)
    message = f"no remaining call returns {truth[left].text[:200]}"
    return CallEvidence(Reason.RESULT_NO_MATCH, message, causes=tuple([c for c in causes if c]))


def check_result(
    truth: Result, given: Result, comparison: ResultComparisonRule
) -> CallEvidence | None:
    """Compare the result of one call with the result of a successful ground-truth call."""
    if not given.ok:
        return CallEvidence(Reason.REFUSED, f"the call was refused: {given.text[:500]}")
    values = to_json(truth.held), to_json(given.held)
    everything = comparison.deeply or comparison.by != "structure"
    levels = None if everything else 2 if _is_wrapped(values[0]) else 1
    found = next(_list_differences(*values, comparison, levels), None)
    if found is None:
        return None
    reason, difference = found
    actual = None if difference.actual is ABSENT else cut_repr(difference.actual)
    return CallEvidence(reason, str(difference), expected=difference.expected, actual=actual)


def _is_wrapped(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    return len(value) == 1 or "result" in value or {"status", "body"}.issubset(value)


def _list_differences(
    expected: Any,
    actual: Any,
    comparison: ResultComparisonRule,
    levels: int | None,
    path: str = "result",
) -> Iterator[tuple[Reason, Difference]]:
    if _kind(expected) != _kind(actual):
        yield Reason.RESULT_TYPE, Difference(path, expected, actual)
    elif isinstance(expected, list):
        yield from _compare_lists(expected, actual, comparison, levels, path)
    elif isinstance(expected, Mapping):
        yield from _compare_objects(expected, actual, comparison, levels, path)
    elif comparison.by != "structure" and not _is_equal(expected, actual, comparison):
        yield Reason.RESULT_VALUE, Difference(path, expected, actual)


def _compare_lists(
    expected: list[Any],
    actual: list[Any],
    comparison: ResultComparisonRule,
    levels: int | None,
    path: str,
) -> Iterator[tuple[Reason, Difference]]:
    if len(expected) != len(actual):
        yield Reason.RESULT_STRUCTURE, Difference(f"length of {path}", len(expected), len(actual))
        return
    below = levels and levels - 1
    for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
        place = f"{path}[{index}]"
        if levels != 1:
            yield from _list_differences(one, other, comparison, below, place)
        elif isinstance(one, Mapping):
            # BFCL's post: JSON objects in a list have equal keys.
            keys = [*one], [*other] if isinstance(other, Mapping) else cut_repr(other)
            if {*keys[0]} != {*keys[1]}:
                yield Reason.RESULT_STRUCTURE, Difference(f"keys of {place}", *keys)


def _compare_objects(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    comparison: ResultComparisonRule,
    levels: int | None,
    path: str,
) -> Iterator[tuple[Reason, Difference]]:
    for key in {**expected, **actual}:
        place = f"{path}[{key!r}]"
        one, other = expected.get(key, ABSENT), actual.get(key, ABSENT)
        if one is ABSENT or other is ABSENT:
            yield Reason.RESULT_STRUCTURE, Difference(place, one, other)
        elif levels != 1:
            below = levels and levels - 1
            yield from _list_differences(one, other, comparison, below, place)


def _is_equal(expected: Any, actual: Any, comparison: ResultComparisonRule) -> bool:
    if _kind(expected) != "number":
        return bool(expected == actual)
    try:
        if comparison.by == "exact":
            return isclose(expected, actual, rel_tol=_ROUNDING)
        return bool(abs(actual - expected) <= comparison.tolerance * abs(expected))
    except OverflowError:  # an integer beyond the range of float
        return bool(expected == actual)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return type(value).__name__
