"""What an episode asks of the web: services on this machine, and others if allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envs.lazy import lazily
from envs.session import Session
from extensions.retired.rest.asking import ASKING
from runner.data.services import Reach
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from extensions.retired.rest import web
else:
    # Most sessions have no REST client.
    web = lazily("extensions.retired.rest.web")


def connect(session: Session, reach: Reach) -> None:
    """Have the backends of a session that do so ask web services."""
    for name in ASKING:
        backend = session.backends.get(name)
        if backend is not None:
            web.connect(backend, reach)


def require_up(trajectories: Sequence[Trajectory], reach: Reach) -> None:
    """Make sure, before a run, that all services that its entries ask are up.

    Args:
        trajectories: What is to be run; nothing is asked where none asks web services.
        reach: Which may be asked.

    Raises:
        DataError: Some are down; names them.
    """
    asking = asking_services(trajectories)
    if asking:
        web.require_up(asking, reach)


def asking_services(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """Return those of the trajectories that ask web services."""
    return [each for each in trajectories if not {*ASKING}.isdisjoint(each.environments)]


def asking_public(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """Return those that ask public services, for which a fixture answers without the network."""
    return [each for each in asking_services(trajectories) if web.asks_public(each)]
