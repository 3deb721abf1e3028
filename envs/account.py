"""The running account of a session: what is known of the size of its state and its results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from envs.bounds import BOUNDS, growth, size_of
from envs.errors import MalformedCall, Refused

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
