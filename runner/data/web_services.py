"""Web services of REST entries: which services may be called, and whether they respond."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from checkers.profile import Profile
from envs.registry import BACKENDS
from envs.session import Session
from runner import extension
from runner.extension import Extension
from trajectories.schema import JudgingMethod, Trajectory

_OF_CORE = (JudgingMethod.STATE, JudgingMethod.CALLS)


class AllowedServices(NamedTuple):
    """Web services that entries may use; the built-in fixture server is always allowed."""

    services: frozenset[tuple[str, int]] = frozenset()
    network: bool = False


FIXTURE_ONLY = AllowedServices()


def connect(session: Session, reach: AllowedServices) -> None:
    """Allow the backends of a session and of its forks to send requests to web services."""
    if not session.backends.keys() <= BACKENDS.keys():
        for each in extension.load_extensions().values():
            each.connect(session, reach)


def require_up(entries: Sequence[Trajectory], reach: AllowedServices) -> None:
    """Check that the web services of entries are up. Raises DataError if a service is down."""
    for each, theirs in _of_extensions(entries):
        each.require_up(theirs, reach)


def notes(entries: Sequence[Trajectory], profile: Profile, reach: AllowedServices) -> Iterator[str]:
    """Yield messages that ``eval`` prints about entries before the run."""
    for each, theirs in _of_extensions(entries):
        yield from each.notes(theirs, profile, reach)


def _of_extensions(
    entries: Sequence[Trajectory],
) -> Iterator[tuple[Extension, Sequence[Trajectory]]]:
    theirs = [
        entry
        for entry in entries
        if entry.judged_by not in _OF_CORE or not BACKENDS.keys() >= {*entry.environments}
    ]
    if theirs:
        for each in extension.load_extensions().values():
            yield each, theirs
