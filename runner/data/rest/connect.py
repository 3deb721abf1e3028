"""The connection of a session's REST client: to the fixture service, and to others if allowed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from envs.session import Session

if TYPE_CHECKING:
    from envs.library.rest import Getter

REST_CLIENT = "RestClient"
"""Name of the environment that asks web services."""


def connect(session: Session, *, allow_network: bool) -> None:
    """Have the REST client of a session, if it has one, ask web services.

    Args:
        session: The session, whose forks will be connected too.
        allow_network: Whether others than this machine may be asked.
    """
    client = session.backends.get(REST_CLIENT)
    if client is None:
        return
    # It brings much along that sessions without one, which are most, do not need.
    from envs.library.rest import RestClient

    assert isinstance(client, RestClient)
    client.connect(getter(allow_network))


@cache
def getter(allow_network: bool) -> Getter:
    """Return what asks web services.

    Args:
        allow_network: Whether others than this machine may be asked.
    """
    from runner.data.rest.fixture import HOST
    from runner.data.rest.getter import HttpGetter

    return HttpGetter({HOST: _fixture_port()}, allow_network=allow_network)


@cache
def _fixture_port() -> int:
    """Return where the fixture service is: up from the first time it is needed to the very end."""
    from runner.data.rest.fixture import Service

    return Service().port
