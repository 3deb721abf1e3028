"""Values inside a config or a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def list_values(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a value and all nested values, each with its key."""
    yield name, value
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from list_values(member, str(key))
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from list_values(member, name)
