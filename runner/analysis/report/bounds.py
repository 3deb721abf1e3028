"""Values of any size as JSON that a page can show, with a note where something was left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

from envs.state import brief

_MAX_DEPTH = 16
_LONGEST_NAME = 200
_LARGEST_EXACT = 2**53


class Bounds(NamedTuple):
    """How much of a value is shown."""

    text: int
    """Characters of a text."""
    members: int
    """Members of a list or an object."""

    def cut(self, text: str) -> str:
        """Return a text, cut off and then with a note that says how long it was."""
        if len(text) <= self.text:
            return text
        return f"{text[: self.text]}\n… cut off here: {len(text):,} characters in all"

    def state(self, value: Any) -> Any:
        """Return a state value, whose leaves are texts as Python writes them.

        So a reader sees 1 and 1.0, None and 'None' apart.
        """
        return self._tree(value, lambda leaf: brief(leaf, self.text), 0)

    def json(self, value: Any) -> Any:
        """Return a JSON value as such; numbers that a browser would not show exactly are texts."""
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
            yield str(name)[:_LONGEST_NAME], self._tree(member, leaf, depth)
        if len(value) > self.members:
            yield "…", f"{len(value) - self.members:,} more"

    def _json_leaf(self, value: Any) -> Any:
        match value:
            case str():
                return self.cut(value)
            case None | bool():
                return value
            case int() if abs(value) <= _LARGEST_EXACT:
                return value
            case float() if isfinite(value):
                return value
            case dict() | list() if not value:
                return value
        return brief(value, self.text)
