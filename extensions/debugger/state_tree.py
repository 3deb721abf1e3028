"""Tree of the state at one moment, with the call's changes and the ground truth's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple

from envs.state import ABSENT, Difference, Snapshot, list_differences


class StateNode(NamedTuple):
    """A node of the state tree."""

    name: str
    """Key of an object or index of a list."""
    path: str
    """Path from the root, such as ``Shop.orders.o1``; empty for the root."""
    value: Any
    """Current value, or ABSENT."""
    was: Any
    """Value before the call."""
    expected: Any
    """Value in the ground truth at the end of the turn."""
    off: bool
    """Whether this node or an ancestor differs from the ground truth."""
    off_below: bool
    """Whether a descendant differs."""

    @property
    def changed(self) -> bool:
        """Whether the call changed this node or a descendant."""
        return self.value is not self.was and self.value != self.was

    @property
    def is_there(self) -> bool:
        """Whether the node exists in the state before or after the call."""
        return self.value is not ABSENT or self.was is not ABSENT

    @property
    def has_members(self) -> bool:
        """Whether the value is a container."""
        return isinstance(self.value, (Mapping, list, tuple))

    @property
    def noteworthy(self) -> bool:
        """Whether a value below the node changed or differs from the ground truth."""
        return self.off_below or (self.changed and bool(_members(self.was)))


def whole(before: Snapshot, after: Snapshot, expected: Snapshot) -> StateNode:
    """Return the root node; its children are the backends."""
    now, was, wanted = after.compared(), before.compared(), expected.compared()
    return StateNode("", "", now, was, wanted, off=False, off_below=True)


def children(node: StateNode, off: Iterable[Difference]) -> list[StateNode]:
    """Return the children of a node.

    ``off`` contains all differences between the state and the ground truth's state.
    """
    if not node.has_members:
        return []
    values = [_members(value) for value in (node.value, node.was, node.expected)]
    found = []
    for key in dict.fromkeys(chain(*values)):
        # A missing value gets the path that a difference would have.
        path = next(list_differences({key: None}, {}, node.path)).path
        below = [d.path[len(path) :] for d in off if d.path.startswith(path)]
        is_off = node.off or "" in below
        off_below = any(rest[:1] in (".", "[") for rest in below if rest)
        value, was, expected = [each.get(key, ABSENT) for each in values]
        child = StateNode(
            str(key), path, value=value, was=was, expected=expected, off=is_off, off_below=off_below
        )
        if child.is_there or is_off or off_below:
            found.append(child)
    return found


def _members(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, Mapping):
        return value
    return dict(enumerate(value)) if isinstance(value, (list, tuple)) else {}
