"""A help desk, and a server that offers it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from envs.session import Session
from extensions.serving.session_pool import SessionPool
from tests.environments.installing import install
from tests.extensions.serving.serving import Serving, served_over_http

__all__ = ["install"]


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock at 0."""
    return Clock()


@pytest.fixture
def desk() -> Session:
    """A help desk with a user and no tickets, as it is served."""
    config = {"TicketAPI": {"current_user": "ann"}}
    return Session.load(["TicketAPI"], config, checks_arguments=True)


@pytest.fixture
def serving(clock: Clock, desk: Session) -> Iterator[Serving]:
    """A served help desk for up to three clients, each for up to 100 idle seconds."""
    with served_over_http(SessionPool(desk, 3, 100.0, clock)) as served:
        yield served
