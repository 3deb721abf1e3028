"""What an episode asks of the web: services on this machine, and others if allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envs.lazy import lazily
from envs.session import Session
from extensions.retired.functions.web import ASKING
from runner.data.services import Reach
from trajectories.errors import DataError
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from extensions.retired.rest import web
else:
    # Most sessions have no REST client.
    web = lazily("extensions.retired.rest.web")


def connect(session: Session, reach: Reach) -> None:
    """Have the backends of a session that do so ask web services, and those of its forks."""
    for name in ASKING:
        backend = session.backends.get(name)
        if backend is not None:
            web.connect(backend, reach)


def require_up(trajectories: Sequence[Trajectory], reach: Reach) -> None:
    """Make sure, before a run, that all services that its entries ask are up.

    Raises:
        DataError: Some are down; names them.
    """
    asking = _asking(trajectories)
    endpoints = web.ask_all(asking, web.sender(reach)) if asking else []
    down = sorted({f"{e.url} ({e.problem})" for e in endpoints if e.problem})
    if down:
        raise DataError("rest", f"{len(down)} endpoints are down: {'; '.join(down)}")


def asking_public(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """Return those that ask public services, for which a fixture answers without the network."""
    return [each for each in _asking(trajectories) if web.asks_public(each)]


def _asking(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    return [each for each in trajectories if not {*ASKING}.isdisjoint(each.environments)]
