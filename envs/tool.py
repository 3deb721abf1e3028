"""A function that a model may call, and which argument of a call goes to which of its parameters.

That much needs no types; these are the matter of ``envs.schema``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from envs.errors import InvalidArgument


class Tool(NamedTuple):
    """One function that a model may call."""

    name: str
    backend: str
    """Name of the one that has it."""
    function: Callable[..., Any]
    """The method, unbound."""
    writes: bool
    """Whether it may change state."""
    keeps_on_refusal: str | None
    """Why a refused call may leave a change behind; None where it never does."""


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
