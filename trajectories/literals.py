"""The texts and numbers in arguments and results: what a provenance check asks about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def literals(value: Any) -> Iterator[str | int | float]:
    """Yield the texts and numbers in a value; truth values and null are no news."""
    if isinstance(value, Mapping):
        for member in value.values():
            yield from literals(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from literals(member)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield value
