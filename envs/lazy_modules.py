"""Lazy imports of modules that are slow to load and rarely needed.

Loading a module that imports pydantic or a network library takes longer than most commands::

    if TYPE_CHECKING:
        from envs import schema
    else:
        schema = lazy_module(".schema", __package__)

The standard library's LazyLoader is not thread-safe.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import resolve_name
from types import ModuleType
from typing import Any


class _LazyModule(ModuleType):
    def __getattr__(self, member: str) -> Any:
        value = getattr(import_module(self.__name__), member)
        # Python calls this method only for names that are not in the dictionary.
        self.__dict__[member] = value
        return value


def lazy_module(name: str, package: str | None = None) -> ModuleType:
    """Return a module that is loaded on first use; ``name`` can be relative to a package."""
    return _LazyModule(resolve_name(name, package))
