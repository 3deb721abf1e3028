"""Lists whose order means nothing, so that they are compared without it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from envs.results import Result, surely_alike
from envs.state import Snapshot


def arranged_snapshot(
    expected: Snapshot, actual: Snapshot, unordered: Callable[[str], Collection[str]]
) -> Snapshot:
    """Return a state with the lists whose order means nothing in the order of the expected one.

    Args:
        expected: A state.
        actual: The state that is compared with it.
        unordered: Gives the names of the members that hold such lists, for each backend.
    """
    states = {
        name: arranged(expected.states[name], state, unordered(name))
        for name, state in actual.states.items()
    }
    return Snapshot(states)


def alike(expected: Any, actual: Any, unordered: Collection[str], name: str = "") -> bool:
    """Tell whether two values are equal but for order that means nothing; see ``arranged``."""
    if expected == actual:
        return True
    if not unordered:
        return False
    if isinstance(expected, Mapping):
        fits = isinstance(actual, Mapping) and expected.keys() == actual.keys()
    else:
        lists = isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple))
        fits = lists and len(expected) == len(actual)
    return fits and bool(expected == arranged(expected, actual, unordered, name))


def arranged(expected: Any, actual: Any, unordered: Collection[str], name: str = "") -> Any:
    """Return a value with the lists whose order means nothing in the order of the expected one."""
    if expected is actual or not unordered or expected == actual:
        return actual
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        # An object of lists, such as one of each user, stands for its lists.
        of_lists = name in unordered
        return {
            key: arranged(expected[key], member, unordered, name if of_lists else str(key))
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
    inside = [arranged(one, other, unordered, name) for one, other in pairs]
    return type(actual)([*inside, *members[len(inside) :]])


def missing_results(truth: Sequence[Result], seen: Sequence[Result]) -> tuple[str, ...]:
    """Return the result texts that the truth needed and the model has not had often enough."""
    # Writing results out takes longest, and those that are needed are most often the latest.
    for result, latest in zip(reversed(truth), reversed(seen), strict=False):
        if result.error or latest.error or not surely_alike(result.held, latest.held):
            break
    else:
        if len(seen) >= len(truth):
            return ()
    # A plain dict, because making a Counter takes longer than all the rest.
    needed: dict[str, int] = {}
    for result in truth:
        needed[result.text] = needed.get(result.text, 0) + 1
    missing = len(truth)
    # Objects of equal text have the same members, which is faster to see than the text.
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
