"""Paths into a session's state, such as ``Inventory.items.tea.stock``.

A path begins with a backend and one of its public fields. A change never modifies the old value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from envs.backend import Backend
from envs.errors import NotFound

_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(-?\d+)\]|\['([^']*)'\]", re.ASCII)
MAX_PARSED = 4_096
"""Maximum size of the cache of parsed paths, and of the cache of parsed calls."""
MISSING = object()
"""Placeholder for a value that does not exist."""
_NUMBERS = (int, float)


class StatePath(NamedTuple):
    """A place in the state of a session."""

    text: str
    backend: str
    field: str
    steps: tuple[str | int, ...]
    """Keys and indexes on the path from the field to the value."""

    @classmethod
    @lru_cache(maxsize=MAX_PARSED)
    def read(cls, text: str) -> StatePath:
        """Parse a path.

        Raises ValueError if the text is not a path.
        """
        backend, dot, rest = text.partition(".")
        steps: list[str | int] = []
        position, rest = 0, dot + rest
        while found := _STEP.match(rest, position):
            name, index, key = found.groups()
            steps.append(int(index) if index else name or key or "")
            position = found.end()
        if not steps or position < len(rest) or not isinstance(steps[0], str):
            raise ValueError(f"{text!r:.80} is not a path such as Inventory.items.tea.stock")
        return cls(text, backend, steps[0], tuple(steps[1:]))

    def find_problem(self, backends: Mapping[str, Backend]) -> str | None:
        """Return the reason why the path is not valid in these backends, or None."""
        backend = backends.get(self.backend)
        if backend is None:
            return f"{self.text}: no backend {self.backend}; the backends are {', '.join(backends)}"
        fields = [field for field in backend.FIELDS if not field.startswith("_")]
        if self.field not in fields:
            known = ", ".join(fields)
            return f"{self.text}: {self.backend} has no field {self.field}; it has {known}"
        return None

    def get(self, backends: Mapping[str, Backend]) -> Any:
        """Return the value at the path, or MISSING."""
        value = backends[self.backend].__dict__.get(self.field, MISSING)
        for step in self.steps:
            value = _get_member(value, step)
        return value

    def set(self, backends: Mapping[str, Backend], value: Any) -> None:
        """Set the value at the path; remove the item if the value is MISSING.

        Raises NotFound if the path does not exist.
        """
        state = backends[self.backend].__dict__
        if not self.steps and value is MISSING:
            raise NotFound(f"{self.text} is a field, which cannot be removed.")
        state[self.field] = self._replaced(state[self.field], self.steps, value)

    def add(self, backends: Mapping[str, Backend], value: Any) -> None:
        """Add a number to the number at the path, or an item to the list at the path.

        Raises NotFound if the value at the path is neither a number nor a list.
        """
        old = self.get(backends)
        if isinstance(old, list):
            self.set(backends, [*old, value])
        elif type(old) in _NUMBERS and type(value) in _NUMBERS:
            total = old + value
            self.set(backends, round(total, 2) if isinstance(total, float) else total)
        else:
            raise NotFound(f"{self.text} is neither a list nor a number.")

    def _replaced(self, old: Any, steps: tuple[str | int, ...], value: Any) -> Any:
        if not steps:
            return value
        step, *rest = steps
        member = _get_member(old, step)
        is_new = not rest and isinstance(old, dict) and value is not MISSING
        if member is MISSING and not is_new:
            raise NotFound(f"{self.text} does not exist.")
        new = self._replaced(member, tuple(rest), value)
        if isinstance(old, dict):
            key = _find_key(old, step)
            if new is MISSING:
                return {name: kept for name, kept in old.items() if name != key}
            return {**old, key: new}
        assert isinstance(old, list)
        assert isinstance(step, int)
        place = step % len(old)
        return [*old[:place], *([] if new is MISSING else [new]), *old[place + 1 :]]


def _get_member(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(_find_key(value, step), MISSING)
    if isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
        return value[step]
    return MISSING


def _find_key(value: Mapping[Any, Any], step: str | int) -> str | int:
    return step if step in value else str(step)
