"""Global values of an environment's modules, for checks that calls do not change them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from random import Random
from types import ModuleType
from typing import Any

GlobalValue = tuple[int, Any]
"""Identity of a global value, and its content if it is mutable."""


def list_globals(modules: Sequence[ModuleType]) -> Mapping[str, GlobalValue]:
    """Return the global values of modules by name."""
    return {
        name: (id(value), _read_content(value))
        for module in modules
        for name, value in [*vars(module).items()]
        if not (name.startswith("__") or isinstance(value, ModuleType))
    }


def _read_content(value: Any) -> Any:
    if isinstance(value, (dict, list, set, deque, bytearray)):
        return repr(value)
    return value.getstate() if isinstance(value, Random) else None


def find_changed(before: Mapping[str, GlobalValue], after: Mapping[str, GlobalValue]) -> str | None:
    """Return the name of a value that is new or changed, if any."""
    return next((name for name, value in after.items() if before.get(name) != value), None)
