"""The results of a model's calls against those of the ground truth, where calls are executed.

There are as many calls as in the ground truth, in any order, and each has a result of its own that
agrees with one of the ground truth's: all of them, or the entry fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any, Literal, NamedTuple

from checkers.calls.documents import CannotJudge
from checkers.calls.judge import first_unmatched
from checkers.evidence import CallEvidence
from checkers.reasons import Reason
from envs.results import Result
from envs.state import ABSENT, Difference, brief, to_json

_MEMBERS = 2
"""Levels of a result that are looked at where structure is not compared deeply: what a function
gives wraps what was asked for in an object."""
_ROUNDING = 1e-9
"""Largest relative difference of numbers that are the same, calculated in another order."""


class Comparison(NamedTuple):
    """How a result is compared with that of a ground-truth call.

    Types, lengths of lists and keys of objects must be the same in any case.
    """

    by: Literal["exact", "tolerance", "structure"] = "exact"
    """All values the same; numbers within the tolerance; or any values of the same types."""
    tolerance: float = 0.2
    """Largest difference of a number, as a part of the expected one."""
    deeply: bool = True
    """Whether structure is compared all the way down; else of a result's members only."""


def check_results(
    truth: Sequence[Result], given: Sequence[Result], comparisons: Sequence[Comparison]
) -> CallEvidence | None:
    """Compare the results of a model's calls with those of the ground truth, for each a comparison.

    Raises:
        CannotJudge: A ground-truth call was refused.
    """
    for expected in truth:
        if not expected.ok:
            raise CannotJudge(f"a call of the ground truth is refused: {expected.text}")
    if len(given) != len(truth):
        message = f"{len(truth)} calls expected, {len(given)} made"
        made = str(len(given))
        return CallEvidence(Reason.RESULT_COUNT, message, expected=len(truth), actual=made)
    if len(truth) == 1:
        return check_result(truth[0], given[0], comparisons[0])

    def fits(one: int, other: int) -> bool:
        return check_result(truth[one], given[other], comparisons[one]) is None

    left = first_unmatched(len(truth), len(given), fits)
    if left is None:
        return None
    causes = (check_result(truth[left], result, comparisons[left]) for result in given)
    message = f"no call is left that gives {truth[left].text[:200]}"
    return CallEvidence(Reason.RESULT_NO_MATCH, message, causes=tuple([c for c in causes if c]))


def check_result(truth: Result, given: Result, comparison: Comparison) -> CallEvidence | None:
    """Compare the result of one call with that of a ground-truth call, which succeeded."""
    if not given.ok:
        return CallEvidence(Reason.REFUSED, f"the call is refused: {given.text[:500]}")
    everything = comparison.deeply or comparison.by != "structure"
    levels = None if everything else _MEMBERS
    values = to_json(truth.held), to_json(given.held)
    found = next(_disagreements(*values, comparison, levels), None)
    if found is None:
        return None
    reason, difference = found
    actual = None if difference.actual is ABSENT else brief(difference.actual)
    return CallEvidence(reason, str(difference), expected=difference.expected, actual=actual)


def _disagreements(
    expected: Any, actual: Any, comparison: Comparison, levels: int | None, path: str = "result"
) -> Iterator[tuple[Reason, Difference]]:
    """Yield where two JSON values do not agree, in the order of the expected one.

    Lists and objects are looked into for so many levels, None for all.
    """
    if _kind(expected) != _kind(actual):
        yield Reason.RESULT_TYPE, Difference(path, expected, actual)
    elif isinstance(expected, list):
        yield from _in_lists(expected, actual, comparison, levels, path)
    elif isinstance(expected, Mapping):
        yield from _in_objects(expected, actual, comparison, levels, path)
    elif comparison.by != "structure" and not _agree(expected, actual, comparison):
        yield Reason.RESULT_VALUE, Difference(path, expected, actual)


def _in_lists(
    expected: list[Any], actual: list[Any], comparison: Comparison, levels: int | None, path: str
) -> Iterator[tuple[Reason, Difference]]:
    if len(expected) != len(actual):
        yield Reason.RESULT_STRUCTURE, Difference(f"length of {path}", len(expected), len(actual))
    elif levels != 1:
        below = levels and levels - 1
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            yield from _disagreements(one, other, comparison, below, f"{path}[{index}]")


def _in_objects(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    comparison: Comparison,
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
            yield from _disagreements(one, other, comparison, below, place)


def _agree(expected: Any, actual: Any, comparison: Comparison) -> bool:
    if _kind(expected) != "number":
        return bool(expected == actual)
    try:
        if comparison.by == "exact":
            return isclose(expected, actual, rel_tol=_ROUNDING)
        return bool(abs(actual - expected) <= comparison.tolerance * abs(expected))
    except OverflowError:  # an integer larger than any float
        return bool(expected == actual)


def _kind(value: Any) -> str:
    """Return the JSON type of a value; to JSON an integer is a number like any other."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return type(value).__name__
