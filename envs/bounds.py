"""How much an episode may make: the one record of its bounds, and how large a value is.

A value is as large as its texts have characters, and some more for each member; what it shares with
others counts each time that it would be written out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from envs.errors import MalformedCall, Refused


class EpisodeBounds(NamedTuple):
    """What no reply and no episode has more of; honest ones have less than a tenth."""

    text: int = 1_000_000
    """Characters of a reply, or of the text of a call's arguments, that are read."""
    nesting: int = 40
    """Deepest nesting of lists, objects and calls in an argument."""
    int_bits: int = 4096
    """Bits of an integer that is read; 4,096 are 1,234 decimal digits."""
    value: int = 200_000
    """Size of all arguments of a call that changes the state, or that has calls inside."""
    digits: int = 4_300
    """Decimal digits of an integer in what is read as BFCL does; Python writes no longer ones."""
    result: int = 1_000_000
    """Characters of the text of one result."""
    results: int = 20_000_000
    """Size of the results of an episode, from the call on at which they are counted."""
    state: int = 4_000_000
    """Size of the state."""
    depth: int = 250
    """Deepest nesting in the state, and in an argument that a call inside has given."""
    calls_in_step: int = 200
    """Calls of one step that are made."""
    calls: int = 1_000
    """Calls of one episode that are made, with those inside of others."""


BOUNDS = EpisodeBounds()

_MEMBER = 8
_DIGITS_PER_BIT = 0.302
_SCALARS = (bool, float, type(None))


def size_of(value: Any, most: int, depth: int = BOUNDS.depth) -> int:
    """Return how large a value is; of one that is larger or nested deeper, more than ``most``."""
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
        if type(member) is str:  # most are
            size += _MEMBER + len(member)
        else:
            size += size_of(member, most - size, depth - 1)
        if size > most:
            break
    return size


def growth(before: Any, after: Any, most: int, depth: int = BOUNDS.depth) -> int:
    """Return by how much a value is larger than one that it shares members with.

    What both share is not looked at, so this takes as long as the change is large. Where it is more
    than ``most``, or the value is nested too deep, more than ``most`` is returned.
    """
    if before is after:
        return 0
    if depth and isinstance(before, Mapping) and isinstance(after, Mapping):
        size = 0
        for key, value in after.items():
            if key not in before:
                size += size_of(key, most) + size_of(value, most, depth - 1)
            elif value is not before[key]:
                size += growth(before[key], value, most, depth - 1)
            if size > most:
                return size
        for key in before.keys() - after.keys():
            size -= size_of(key, most) + size_of(before[key], most)
        return size
    if depth and isinstance(before, list) and isinstance(after, list):
        size = 0
        for old, new in zip(before, after, strict=False):
            if old is not new:
                size += growth(old, new, most, depth - 1)
        size += sum(size_of(value, most, depth - 1) for value in after[len(before) :])
        return size - sum(size_of(value, most) for value in before[len(after) :])
    return size_of(after, most, depth) - size_of(before, most)


UNCOUNTED = 64
"""So many calls of an episode come before their results are counted."""
UNMEASURED = 16
"""After so many changes the state is measured, so it passes its bound by no more than these bring.
A function that copies what is there, or a call with calls inside, would bring more: the first has
bounds of its own, after the second the state is always measured."""


class SizeAccount(NamedTuple):
    """What is known of the size of a session's state and results."""

    states: Mapping[str, Mapping[str, Any]] = {}
    """The state at the moment when it was last measured."""
    size: int = 0
    """Its size then."""
    results: int = 0
    """Size of the results that were counted."""

    def refusal(self, calls: int) -> Refused | None:
        """Say why one more call is not made, when so many were asked for; None if it is."""
        if calls > BOUNDS.calls:
            made = f"{BOUNDS.calls} calls were made, and no more are"
        elif self.results > BOUNDS.results:
            made = "The results so far are too long to keep more of them"
        else:
            return None
        return Refused(f"{made}: say what came of them.")

    def with_result(self, value: Any) -> SizeAccount:
        """Return the account with one more result."""
        return self._replace(results=self.results + size_of(value, BOUNDS.results))

    def measured(self, states: Mapping[str, Mapping[str, Any]]) -> SizeAccount:
        """Return the account of another state; only what changed is looked at."""
        size = self.size + growth(self.states, states, BOUNDS.state)
        return SizeAccount(states, size, self.results)


NEW_ACCOUNT = SizeAccount()


def check_arguments(arguments: tuple[Any, ...]) -> None:
    """Refuse arguments that calls inside have made too large.

    Raises:
        MalformedCall: They are.
    """
    if size_of(arguments, BOUNDS.value, BOUNDS.nesting + 1) > BOUNDS.value:
        raise MalformedCall(
            f"The arguments have more than {BOUNDS.value} characters, or are nested more than "
            f"{BOUNDS.nesting} levels deep, with what calls inside of them gave. Give less."
        )


def too_large_state() -> Refused:
    """Return the refusal of a call that would make the state too large."""
    return Refused(
        f"The state would be larger than {BOUNDS.state} characters, or nested more than "
        f"{BOUNDS.depth} levels deep; the call changed nothing. Remove something first."
    )
