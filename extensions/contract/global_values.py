"""Detection of calls that change values of all sessions, such as globals."""

from __future__ import annotations

import decimal
import locale
import operator
import random
import sys
import threading
from array import array
from collections import UserDict, UserList, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from random import Random
from types import FunctionType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from envs.backend import Backend

_CONTAINERS = (
    dict, list, set, tuple, deque, bytearray, array, MappingProxyType, UserDict, UserList,
    SimpleNamespace,
)  # fmt: skip
SharedValue = tuple[int, Any]
"""The ``id`` of a value, and the content if the value is mutable."""


class ProcessSetting(NamedTuple):
    """A setting of the Python process that function calls must not change."""

    read: Callable[[], Any]
    write: Callable[[Any], object]


def _read_decimals() -> tuple[int, str]:
    # The flags of the context change with every rounding.
    context = decimal.getcontext()
    return context.prec, context.rounding


def _write_decimals(setting: tuple[int, str]) -> None:
    context = decimal.getcontext()
    context.prec, context.rounding = setting


SETTINGS: Mapping[str, ProcessSetting] = {
    "the random generator": ProcessSetting(random.getstate, random.setstate),
    "the decimal context": ProcessSetting(_read_decimals, _write_decimals),
    "the locale": ProcessSetting(
        lambda: locale.setlocale(locale.LC_ALL),
        lambda value: locale.setlocale(locale.LC_ALL, value),
    ),
    "the recursion limit": ProcessSetting(sys.getrecursionlimit, sys.setrecursionlimit),
}


def list_shared(modules: Sequence[ModuleType]) -> Mapping[str, SharedValue]:
    """Describe values of modules: globals, class attributes, defaults, closure variables."""
    names = {module.__name__ for module in modules}
    found = {}
    for module in modules:
        for name, value in _list_members(module):
            found[f"{name}, a global of the module"] = value
            is_own = isinstance(value, type) and value.__module__ == module.__name__
            if is_own or (isinstance(value, type) and issubclass(value, Backend)):
                for key, member in _list_members(value):
                    found[f"{name}.{key}, an attribute of the class"] = member
    described = {}
    for text, value in found.items():
        described[text] = id(value), _read_content(value, names)
        function = getattr(value, "__func__", value)
        if isinstance(function, FunctionType) and function.__module__ in names:
            parts = (function.__defaults__, function.__kwdefaults__)
            described[f"a default of {function.__name__}"] = 0, repr(parts)
            cells = [_read_cell(cell, names) for cell in function.__closure__ or ()]
            described[f"a closure variable of {function.__name__}"] = 0, cells
    return described


def _list_members(owner: ModuleType | type) -> Iterator[tuple[str, Any]]:
    for name, value in [*vars(owner).items()]:
        if not (name.startswith("__") or name == "_abc_impl" or isinstance(value, ModuleType)):
            yield name, value


def _read_cell(cell: Any, names: set[str]) -> Any:
    try:
        return _read_content(cell.cell_contents, names)
    except ValueError:  # The variable has no value yet.
        return None


def _read_content(value: Any, names: set[str]) -> Any:
    if isinstance(value, _CONTAINERS):
        return repr(value)
    if isinstance(value, (WeakKeyDictionary, WeakValueDictionary, WeakSet)):
        return repr([*(value if isinstance(value, WeakSet) else value.items())])
    if isinstance(value, ContextVar):
        return repr(value.get(None))
    if isinstance(value, Random):
        return value.getstate()
    if isinstance(value, Iterator):
        return repr(value), operator.length_hint(value)
    if isinstance(value, FunctionType):
        return {name: repr(member) for name, member in vars(value).items()}
    # Objects of the author's own classes, such as a cache.
    is_own = isinstance(value, threading.local) or type(value).__module__ in names
    return repr(getattr(value, "__dict__", value)) if is_own else None


def find_changed(before: Mapping[str, SharedValue], after: Mapping[str, SharedValue]) -> str | None:
    """Describe the first new or changed value; return None if nothing changed."""
    return next((text for text, value in after.items() if before.get(text) != value), None)
