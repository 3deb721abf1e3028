"""Whether a value has its type."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any

from checkers.calls.profile import SingleTurnProfile
from checkers.calls.type_words import Expected


class Fit(Enum):
    """How a value fits its type."""

    LITERAL = auto()
    VARIABLE = auto()
    """It is of another type than the document says, but so are the answers."""
    WRONG_TYPE = auto()
    WRONG_ITEMS = auto()


def fit(
    value: object, allowed: Sequence[Any], expected: Expected, profile: SingleTurnProfile
) -> Fit:
    """Tell how a value fits its type, and its elements theirs.

    Args:
        value: What was given.
        allowed: What would be right.
        expected: The type that the document says.
        profile: What counts as right.
    """
    found = _fit(value, allowed, expected.type, profile)
    items = expected.items
    if items is None or not isinstance(value, list) or expected.type is not list:
        return found
    if not allowed:
        return Fit.WRONG_TYPE
    if any(_items_fit(value, option, items, profile) for option in allowed):
        return found
    return Fit.WRONG_ITEMS


def _fit(value: object, allowed: Sequence[Any], type_: type, profile: SingleTurnProfile) -> Fit:
    types = [type(option) for option in allowed if option != ""]
    if not profile.variables_by_any_answer:
        types = types[:1]
    if not _has(value, type_, profile):
        return Fit.VARIABLE if type(value) in types else Fit.WRONG_TYPE
    return Fit.LITERAL if not types or type_ in types else Fit.VARIABLE


def _has(value: object, type_: type, profile: SingleTurnProfile) -> bool:
    if type(value) is type_:
        return True
    return profile.compares_deeply and type_ is float and type(value) is int


def _items_fit(
    value: list[Any], option: object, items: Expected, profile: SingleTurnProfile
) -> bool:
    # An answer that is no list says nothing about elements. Those of lists in lists are left to
    # the comparison of values.
    if not isinstance(option, list):
        return True
    return all(_fit(member, option, items.type, profile) is not Fit.WRONG_TYPE for member in value)
