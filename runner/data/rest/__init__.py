"""What the REST client of an episode asks: web services on this machine, and others if allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envs.lazy import lazily
from envs.session import Session

if TYPE_CHECKING:
    from runner.data.rest import web
else:
    # Most sessions have no REST client.
    web = lazily(".web", __package__)

REST_CLIENT = "RestClient"
"""Name of the backend that asks web services."""


def connect(session: Session, *, allow_network: bool) -> None:
    """Have the REST client of a session, if it has one, ask web services.

    Args:
        session: The session, whose forks will be connected too.
        allow_network: Whether others than this machine may be asked.
    """
    client = session.backends.get(REST_CLIENT)
    if client is not None:
        web.connect(client, allow_network=allow_network)
