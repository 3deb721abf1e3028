"""Limits of an episode, and measurement of the size of values.

The size of a value is the number of characters in its strings, plus a constant per field. An object
that occurs several times in a value is counted each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from envs.errors import MalformedCall, Refused


class EpisodeBounds(NamedTuple):
    """Limits of replies and episodes; each limit is at least ten times the ordinary need."""

    text: int = 1_000_000
    """Maximum characters of a reply, or of the text of a call's arguments."""
    nesting: int = 40
    int_bits: int = 4096
    """Maximum bits of a parsed integer; 4,096 bits are 1,234 decimal digits."""
    value: int = 200_000
    """Maximum size of a call's arguments, including the results of inner calls."""
    digits: int = 4_300
    """Maximum decimal digits of an integer under BFCL's rules; Python cannot write longer
    integers."""
    result: int = 1_000_000
    results: int = 20_000_000
    state: int = 4_000_000
    depth: int = 250
    """Maximum nesting depth of the state, and of arguments that contain results of inner calls."""
    calls_in_step: int = 200
    calls: int = 1_000


BOUNDS = EpisodeBounds()

_MEMBER = 8
_DIGITS_PER_BIT = 0.302
_SCALARS = (bool, float, type(None))


def measure_size(value: Any, most: int, depth: int = BOUNDS.depth) -> int:
    """Return the size of a value, or a number above ``most`` if the value is too large."""
    if isinstance(value, str):
        return _MEMBER + len(value)
    if isinstance(value, _SCALARS):
        return _MEMBER
    if isinstance(value, int):
        return _MEMBER + int(value.bit_length() * _DIGITS_PER_BIT)
    if isinstance(value, Mapping):
        members: Any = (*value, *value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        members = value
    else:
        return _MEMBER
    if depth == 0:
        return most + 1
    size = _MEMBER
    for member in members:
        if type(member) is str:  # the most common case
            size += _MEMBER + len(member)
        else:
            size += measure_size(member, most - size, depth - 1)
        if size > most:
            break
    return size


def measure_growth(before: Any, after: Any, most: int, depth: int = BOUNDS.depth) -> int:
    """Return the size of the new value minus the size of the old value.

    A result above ``most`` means that the difference is too large or the nesting is too deep.
    """
    if before is after:
        return 0
    if depth and isinstance(before, Mapping) and isinstance(after, Mapping):
        size = 0
        for key, value in after.items():
            if key not in before:
                size += measure_size(key, most) + measure_size(value, most, depth - 1)
            elif value is not before[key]:
                size += measure_growth(before[key], value, most, depth - 1)
            if size > most:
                return size
        for key in before.keys() - after.keys():
            size -= measure_size(key, most) + measure_size(before[key], most)
        return size
    if depth and isinstance(before, list) and isinstance(after, list):
        size = 0
        for old, new in zip(before, after, strict=False):
            if old is not new:
                size += measure_growth(old, new, most, depth - 1)
        size += sum(measure_size(value, most, depth - 1) for value in after[len(before) :])
        return size - sum(measure_size(value, most) for value in before[len(after) :])
    return measure_size(after, most, depth) - measure_size(before, most)


UNCOUNTED = 64
"""The size of results is limited only after this number of calls in an episode."""
UNMEASURED = 16
"""Maximum number of changes between two measurements of the state. Until the next measurement, the
state may exceed its limit."""


class SessionSizes(NamedTuple):
    """Measured sizes of a session's state and results."""

    states: Mapping[str, Mapping[str, Any]] = {}
    size: int = 0
    results: int = 0

    def refusal(self, calls: int) -> Refused | None:
        """Return a refusal if the number of calls or the size of the results exceeds its limit."""
        if calls > BOUNDS.calls:
            made = f"{BOUNDS.calls} calls were made, and no more calls are allowed"
        elif self.results > BOUNDS.results:
            made = "The results have reached their maximum total size"
        else:
            return None
        return Refused(f"{made}: report the results so far.")

    def with_result(self, value: Any) -> SessionSizes:
        """Return a copy that also counts the size of a new result."""
        return self._replace(results=self.results + measure_size(value, BOUNDS.results))

    def measured(self, states: Mapping[str, Mapping[str, Any]]) -> SessionSizes:
        """Return a copy that counts the size of a new state; only changed fields are measured."""
        size = self.size + measure_growth(self.states, states, BOUNDS.state)
        return SessionSizes(states, size, self.results)


NEW_ACCOUNT = SessionSizes()


def check_arguments(arguments: tuple[Any, ...]) -> None:
    """Check the size of arguments that contain results of inner calls.

    Raises MalformedCall if the arguments are too large.
    """
    if measure_size(arguments, BOUNDS.value, BOUNDS.nesting + 1) > BOUNDS.value:
        raise MalformedCall(
            f"The arguments have more than {BOUNDS.value} characters or more than "
            f"{BOUNDS.nesting} levels of nesting, including results of inner calls. Pass less."
        )


def make_state_refusal() -> Refused:
    """Return the error for a call that would make the state too large."""
    return Refused(
        f"The state would have more than {BOUNDS.state} characters or more than {BOUNDS.depth} "
        "levels of nesting. The call changed nothing. Remove something first."
    )
