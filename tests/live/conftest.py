"""A fake server on real HTTP for the clients of live models, and nothing of the user's settings."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from tests.servers.faults import fault
from tests.servers.serving import FakeServer


@pytest.fixture(autouse=True)
def _nothing_of_the_users(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in os.environ:
        if name.upper().endswith(("_PROXY", "_API_KEY", "_BASE_URL", "_API_BASE")):
            monkeypatch.delenv(name)
    yield
    # A client is a cycle, and its TLS context takes nearly a megabyte.
    gc.collect(1)


@pytest.fixture(scope="session")
def _shared_server() -> Iterator[FakeServer]:
    with FakeServer(fault("text")) as server:
        yield server


@pytest.fixture
def server(_shared_server: FakeServer) -> FakeServer:
    """Return a server that answers with a text until told otherwise."""
    _shared_server.answer = fault("text")
    _shared_server.latency = 0.0
    _shared_server.requests = 0
    return _shared_server
