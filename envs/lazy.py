"""Modules that are loaded when they are first looked into: the one way to put off an import.

What brings pydantic or the network along takes longer to load than most commands take to run. Who
needs such a module only now and then names it at its own top, once for the type checker and once
for the interpreter::

    if TYPE_CHECKING:
        from envs import schema
    else:
        schema = lazily(".schema", __package__)

The standard library's LazyLoader does the same, but lists a module as loaded that is not, and lets
another thread see one that is half loaded.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import resolve_name
from types import ModuleType
from typing import Any


class _Lazy(ModuleType):
    def __getattr__(self, member: str) -> Any:
        value = getattr(import_module(self.__name__), member)
        # Python asks here for what is not in the dictionary only.
        self.__dict__[member] = value
        return value


def lazily(name: str, package: str | None = None) -> ModuleType:
    """Return what stands for a module, and loads it at the first use of anything in it.

    The name may begin with a dot: then it is one within the package.
    """
    return _Lazy(resolve_name(name, package))
