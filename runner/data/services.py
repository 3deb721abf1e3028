"""The web services that entries ask: which may be asked, and who asks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from checkers.profile import Profile
from envs.registry import BACKENDS
from envs.session import Session
from runner import extension
from runner.extension import Extension
from trajectories.schema import JudgedBy, Trajectory

_OF_CORE = (JudgedBy.STATE, JudgedBy.CALLS)


class Reach(NamedTuple):
    """Web services that may be asked besides those that an extension answers for itself."""

    services: frozenset[tuple[str, int]] = frozenset()
    """Host and port of those that the user named."""
    network: bool = False
    """Whether other machines may be asked."""


FIXTURE_ONLY = Reach()


def connect(session: Session, reach: Reach) -> None:
    """Connect the backends of a session, and of its forks, to the web services that they ask."""
    if not session.backends.keys() <= BACKENDS.keys():
        for each in extension.extensions().values():
            each.connect(session, reach)


def require_up(entries: Sequence[Trajectory], reach: Reach) -> None:
    """Make sure, before a run, that the web services are up that entries ask.

    Raises:
        DataError: Some are down; names them.
    """
    for each, theirs in _of_extensions(entries):
        each.require_up(theirs, reach)


def notes(entries: Sequence[Trajectory], profile: Profile, reach: Reach) -> Iterator[str]:
    """Yield what the user should know of entries before they are run."""
    for each, theirs in _of_extensions(entries):
        yield from each.notes(theirs, profile, reach)


def _of_extensions(
    entries: Sequence[Trajectory],
) -> Iterator[tuple[Extension, Sequence[Trajectory]]]:
    """Yield every extension with the entries that need one; none where the core does them all."""
    theirs = [
        entry
        for entry in entries
        if entry.judged_by not in _OF_CORE or not BACKENDS.keys() >= {*entry.environments}
    ]
    if theirs:
        for each in extension.extensions().values():
            yield each, theirs
