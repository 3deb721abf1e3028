"""Comparison of states and results regardless of the order of unordered lists."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from envs.results import Result, is_surely_alike
from envs.state import Snapshot


def arrange_snapshot(
    expected: Snapshot, actual: Snapshot, unordered: Callable[[str], Collection[str]]
) -> Snapshot:
    """Return the actual state with its unordered lists in the expected order.

    ``unordered`` maps a backend to the names of its unordered fields.
    """
    states = {
        name: arrange(expected.states[name], state, unordered(name))
        for name, state in actual.states.items()
    }
    return Snapshot(states)


def is_alike(expected: Any, actual: Any, unordered: Collection[str], name: str = "") -> bool:
    """Tell whether two values are equal regardless of the order of unordered lists."""
    if expected == actual:
        return True
    if not unordered:
        return False
    if isinstance(expected, Mapping):
        fits = isinstance(actual, Mapping) and expected.keys() == actual.keys()
    else:
        lists = isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple))
        fits = lists and len(expected) == len(actual)
    return fits and bool(expected == arrange(expected, actual, unordered, name))


def arrange(expected: Any, actual: Any, unordered: Collection[str], name: str = "") -> Any:
    """Return ``actual`` with its unordered lists in the order of ``expected``."""
    if expected is actual or not unordered or expected == actual:
        return actual
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        # An unordered object of lists, such as one per user, has unordered lists.
        of_lists = name in unordered
        return {
            key: arrange(expected[key], member, unordered, name if of_lists else str(key))
            if key in expected
            else member
            for key, member in actual.items()
        }
    if not (isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple))):
        return actual
    members = list(actual)
    if name in unordered:
        members = [members.pop(members.index(one)) for one in expected if one in members] + members
    pairs = zip(expected, members, strict=False)
    inside = [arrange(one, other, unordered, name) for one, other in pairs]
    return type(actual)([*inside, *members[len(inside) :]])


def _surely_contains(seen: Sequence[Result], truth: Sequence[Result]) -> bool:
    """Tell whether ``seen`` surely has the results of ``truth`` in this order, without texts."""
    latest = reversed(seen)
    for needed in reversed(truth):
        if needed.error is not None:
            return False
        held = needed.held
        for result in latest:
            if result.error is None and is_surely_alike(held, result.held):
                break
        else:
            return False
    return True


def list_missing_results(truth: Sequence[Result], seen: Sequence[Result]) -> tuple[str, ...]:
    """Return the results that occur more often in ``truth`` than in ``seen``."""
    # Serializing results is slow.
    if _surely_contains(seen, truth):
        return ()
    # A plain dict, because creating a Counter takes longer than all the rest.
    needed: dict[str, int] = {}
    for result in truth:
        needed[result.text] = needed.get(result.text, 0) + 1
    missing = len(truth)
    # Comparing members is faster than comparing texts.
    members = {result.members for result in truth}
    for result in reversed(seen):
        if not missing:
            return ()
        found = result.members
        if found is not None and found not in members and None not in members:
            continue
        if needed.get(result.text, 0) > 0:
            needed[result.text] -= 1
            missing -= 1
    return tuple([text for text, count in needed.items() for _ in range(count)])
