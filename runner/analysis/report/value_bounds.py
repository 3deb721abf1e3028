"""Size limits for values on a page; every shortened value has a note."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

from envs.state import ATOMS, cut_repr

_MAX_DEPTH = 16
_MAX_NAME_CHARS = 200
_MAX_EXACT = 2**53
_CONTAINERS = (Mapping, list, tuple, set, frozenset)

Leaf = Callable[[Any], Any]
KnownValues = dict[tuple[int, int], tuple[Any, Any]]
"""Cache of converted values."""


class ValueBounds(NamedTuple):
    """Size limits for values."""

    text: int
    members: int

    def cut(self, text: str) -> str:
        """Return a string cut to the limit, with a note on the full length."""
        if len(text) <= self.text:
            return text
        return f"{text[: self.text]}\n… cut off here: {len(text):,} characters in all"

    def state(self, value: Any, known: KnownValues) -> Any:
        """Write the leaves of a state value as Python literals, so that 1 and 1.0 look different.

        ``known`` is a cache of converted values.
        """
        return self._tree(value, lambda leaf: cut_repr(leaf, self.text), 0, known)

    def json(self, value: Any) -> Any:
        """Return a JSON value; numbers that a browser cannot represent exactly become strings."""
        return self._tree(value, self._json_leaf, 0, {})

    def _tree(self, value: Any, leaf: Leaf, depth: int, known: KnownValues) -> Any:
        if type(value) in ATOMS or depth == _MAX_DEPTH or not value:
            return leaf(value)
        if not isinstance(value, _CONTAINERS):
            return leaf(value)
        key = id(value), depth
        if key not in known:
            known[key] = value, self._container(value, leaf, depth + 1, known)
        return known[key][1]

    def _container(self, value: Any, leaf: Leaf, depth: int, known: KnownValues) -> Any:
        left = len(value) - self.members
        if isinstance(value, Mapping):
            members = {
                str(name)[:_MAX_NAME_CHARS]: self._tree(member, leaf, depth, known)
                for name, member in islice(value.items(), self.members)
            }
            return {**members, "…": f"{left:,} more"} if left > 0 else members
        ordered = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        shown = [self._tree(v, leaf, depth, known) for v in islice(ordered, self.members)]
        return [*shown, f"… {left:,} more"] if left > 0 else shown

    def _json_leaf(self, value: Any) -> Any:
        match value:
            case str():
                return self.cut(value)
            case None | bool():
                return value
            case int() if abs(value) <= _MAX_EXACT:
                return value
            case float() if isfinite(value):
                return value
            case dict() | list() if not value:
                return value
        return cut_repr(value, self.text)
