"""Fixtures that the tests of several extensions share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tests.environments.installing import install
from tests.live.conftest import _nothing_of_the_users, _shared_server, server
from tests.runner.conftest import data

__all__ = ["_nothing_of_the_users", "_shared_server", "data", "install", "server"]


@pytest.fixture(scope="session", autouse=True)
def _servers_end_soon() -> Iterator[None]:
    # uvicorn looks ten times a second whether it should end, and a test has up to two servers.
    try:
        import uvicorn.server
    except ModuleNotFoundError:
        yield
        return
    hurried = {**vars(asyncio), "sleep": lambda seconds: asyncio.sleep(seconds / 10)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.server, "asyncio", SimpleNamespace(**hurried))
        yield
