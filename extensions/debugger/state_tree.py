"""The state at a moment as a tree: what the call changed in it, and what the ground truth has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple

from envs.state import ABSENT, Difference, Snapshot, diff


class Node(NamedTuple):
    """One place in the state."""

    name: str
    """Its key or index."""
    path: str
    """As differences have it; the whole state's is empty."""
    value: Any
    """What is there; ABSENT where nothing is."""
    was: Any
    """What was there before the call."""
    expected: Any
    """What the ground truth has there at the end of the turn."""
    off: bool
    """Whether this place or one above it is off the ground truth's path."""
    off_below: bool
    """Whether a place below it is."""

    @property
    def changed(self) -> bool:
        """Whether the call changed something here or below."""
        return self.value is not self.was and self.value != self.was

    @property
    def is_there(self) -> bool:
        """Whether it is in the state, or was until the call took it away."""
        return self.value is not ABSENT or self.was is not ABSENT

    @property
    def has_members(self) -> bool:
        """Whether the value is one that has others in it."""
        return isinstance(self.value, (Mapping, list, tuple))

    @property
    def noteworthy(self) -> bool:
        """Whether something below, but not all of it, was changed or is off."""
        return self.off_below or (self.changed and bool(_members(self.was)))


def whole(before: Snapshot, after: Snapshot, expected: Snapshot) -> Node:
    """Return the state, with the backends below it."""
    now, was, wanted = after.compared(), before.compared(), expected.compared()
    return Node("", "", now, was, wanted, off=False, off_below=True)


def children(node: Node, off: Iterable[Difference]) -> list[Node]:
    """Return the places below a node: those there are, those the call took away, those missing.

    ``off`` is what is off the ground truth's path, in the whole state.
    """
    if not node.has_members:
        return []
    values = [_members(value) for value in (node.value, node.was, node.expected)]
    found = []
    for key in dict.fromkeys(chain(*values)):
        # What a state lacks has the path that a difference there would have.
        path = next(diff({key: None}, {}, node.path)).path
        below = [d.path[len(path) :] for d in off if d.path.startswith(path)]
        is_off = node.off or "" in below
        off_below = any(rest[:1] in (".", "[") for rest in below if rest)
        value, was, expected = [each.get(key, ABSENT) for each in values]
        child = Node(
            str(key), path, value=value, was=was, expected=expected, off=is_off, off_below=off_below
        )
        if child.is_there or is_off or off_below:
            found.append(child)
    return found


def _members(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, Mapping):
        return value
    return dict(enumerate(value)) if isinstance(value, (list, tuple)) else {}
