"""Faster comparison of AgentDojo's states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_PLAIN = (str, int, float, bool, type(None), bytes)


class FastComparison:
    """Faster comparison for AgentDojo's judges.

    Args:
        compare: The slow comparison, with two states as its first arguments.
    """

    def __init__(self, compare: Callable[..., Any]) -> None:
        self._compare = compare

    def __call__(self, one: Any, other: Any, *args: Any, **kwargs: Any) -> Any:
        """Remove the equal parts of two states, and compare the remaining parts."""
        return self._compare(*_pruned(one, other), *args, **kwargs)


def is_same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal and their nested values have equal types (1 is not 1.0)."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _PLAIN:
        return bool(one == other)
    if kind is dict:
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if kind in (list, tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if hasattr(one, "__pydantic_fields__"):
        return is_same(vars(one), vars(other))
    return bool(one == other)


def _pruned(one: Any, other: Any) -> tuple[Any, Any]:
    """Return copies of two values, with None in place of each equal part.

    Equal parts keep their keys. If two objects have no common key, AgentDojo's judges report only
    one difference.
    """
    if type(one) is type(other):
        if type(one) is dict:
            return _pruned_members(one, other)
        if hasattr(one, "__pydantic_fields__"):
            mine, theirs = _pruned_members(vars(one), vars(other))
            return _with(one, mine), _with(other, theirs)
    return one, other


def _pruned_members(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    mine, theirs = dict(one), dict(other)
    for key in one.keys() & other.keys():
        same = is_same(one[key], other[key])
        mine[key], theirs[key] = (None, None) if same else _pruned(one[key], other[key])
    return mine, theirs


def _with(model: Any, members: Mapping[str, Any]) -> Any:
    made = model.model_copy()
    made.__dict__.clear()
    made.__dict__.update(members)
    return made
