"""Which argument goes to which parameter: the part of checking a call that needs no types."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any

from envs.backend import Tool
from envs.errors import InvalidArgument


@cache
def parameters(tool: Tool) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a function, without the backend itself."""
    return tuple(inspect.signature(tool.function).parameters.values())[1:]


def bind(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name.

    Raises:
        InvalidArgument: One is missing, unknown, or given twice.
    """
    expected = parameters(tool)
    names = [parameter.name for parameter in expected]
    if len(args) > len(names):
        raise InvalidArgument(
            f"{tool.name} takes {len(names)} arguments ({', '.join(names)}), got {len(args)}."
        )
    arguments = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name in arguments:
            raise InvalidArgument(f"{tool.name}: {name} is given twice.")
        if name not in names:
            takes = f"takes {', '.join(names)}" if names else "takes no arguments"
            raise InvalidArgument(f"{tool.name} has no parameter {name[:100]!r}; it {takes}.")
        arguments[name] = value
    for parameter in expected:
        if parameter.default is parameter.empty and parameter.name not in arguments:
            raise InvalidArgument(f"{tool.name} needs the argument {parameter.name}.")
    return arguments
