"""Checks that users write as Python functions of an episode's state, calls and answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, overload

from envs.errors import DataError

_INPUTS = ("state", "calls", "words", "entry")


class EpisodeCheck(NamedTuple):
    """A user's check of a finished episode; ``check`` creates this object."""

    function: Callable[..., object]
    inputs: tuple[str, ...]
    weight: float

    @property
    def path(self) -> str:
        """Module and name of the function, as ``module:function``."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    def __call__(self, *values: Any, **named: Any) -> object:
        """Call the function directly, for example in a unit test."""
        return self.function(*values, **named)


@overload
def check(function: Callable[..., object]) -> EpisodeCheck: ...
@overload
def check(*, weight: float = 1.0) -> Callable[[Callable[..., object]], EpisodeCheck]: ...
def check(function: Callable[..., object] | None = None, *, weight: float = 1.0) -> Any:
    """Turn a function into a check of episodes; the decorator also takes a weight.

    The function may have these parameters: ``state`` (final state by backend, as JSON), ``calls``
    (all calls, in order), ``words`` (answer of each turn) and ``entry`` (the entry's id). The
    function returns True or None for success, and False or a string with the error for a failure. A
    failed ``assert`` counts as a failure, too. Raises TypeError for an unknown parameter, a
    coroutine function or a weight of 0 or less.
    """
    if function is None:
        return lambda each: _check_of(each, weight)
    return _check_of(function, weight)


def _check_of(function: Callable[..., object], weight: float) -> EpisodeCheck:
    if not callable(function):
        raise DataError("function", f"must be a function, but is {function!r:.60}")
    inputs = tuple(inspect.signature(function).parameters)
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"check {function.__qualname__} is a coroutine function; use plain def")
    if unknown := [name for name in inputs if name not in _INPUTS]:
        known = ", ".join(_INPUTS)
        raise TypeError(
            f"check {function.__qualname__} has an unknown parameter {unknown[0]!r}; the "
            f"parameters can be {known}"
        )
    if not isinstance(weight, int | float) or not 0 < weight < inf:
        raise TypeError(f"check {function.__qualname__}: weight must be above 0, but is {weight!r}")
    return EpisodeCheck(function, inputs, weight)
