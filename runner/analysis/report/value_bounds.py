"""Size limits for values on a page; every shortened value has a note."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

from envs.state import cut_repr

_MAX_DEPTH = 16
_MAX_NAME_CHARS = 200
_MAX_EXACT = 2**53


class ValueBounds(NamedTuple):
    """Size limits for values."""

    text: int
    members: int

    def cut(self, text: str) -> str:
        """Return a string cut to the limit, with a note on the full length."""
        if len(text) <= self.text:
            return text
        return f"{text[: self.text]}\n… cut off here: {len(text):,} characters in all"

    def state(self, value: Any) -> Any:
        """Return a state value with its leaves as Python literals: 1 and 1.0 look different."""
        return self._tree(value, lambda leaf: cut_repr(leaf, self.text), 0)

    def json(self, value: Any) -> Any:
        """Return a JSON value; numbers that a browser cannot represent exactly become strings."""
        return self._tree(value, self._json_leaf, 0)

    def _tree(self, value: Any, leaf: Callable[[Any], Any], depth: int) -> Any:
        if depth == _MAX_DEPTH or not value:
            return leaf(value)
        if isinstance(value, Mapping):
            return dict(self._members(value, leaf, depth + 1))
        if isinstance(value, (list, tuple, set, frozenset)):
            ordered = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
            shown = [self._tree(v, leaf, depth + 1) for v in islice(ordered, self.members)]
            left = len(value) - self.members
            return [*shown, f"… {left:,} more"] if left > 0 else shown
        return leaf(value)

    def _members(
        self, value: Mapping[Any, Any], leaf: Callable[[Any], Any], depth: int
    ) -> Iterator[tuple[str, Any]]:
        for name, member in islice(value.items(), self.members):
            yield str(name)[:_MAX_NAME_CHARS], self._tree(member, leaf, depth)
        if len(value) > self.members:
            yield "…", f"{len(value) - self.members:,} more"

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
