"""What the REST client of an episode asks: web services on this machine, and others if allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envs.lazy import lazily
from envs.session import Session
from runner.data.rest.reach import Reach
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from runner.data.rest import web
else:
    # Most sessions have no REST client.
    web = lazily(".web", __package__)

REST_CLIENT = "RestClient"
"""Name of the backend that asks web services."""


def connect(session: Session, reach: Reach) -> None:
    """Have the REST client of a session, if it has one, ask web services.

    Args:
        session: The session, whose forks will be connected too.
        reach: Which may be asked.
    """
    client = session.backends.get(REST_CLIENT)
    if client is not None:
        web.connect(client, reach)


def require_up(trajectories: Sequence[Trajectory], reach: Reach) -> None:
    """Make sure, before a run, that all services that its REST entries ask are up.

    Args:
        trajectories: What is to be run; nothing is asked where none has a REST client.
        reach: Which may be asked.

    Raises:
        DataError: Some are down; names them.
    """
    asking = [each for each in trajectories if REST_CLIENT in each.environments]
    if asking:
        web.require_up(asking, reach)
