"""Server for web applications that listens on 127.0.0.1 only."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from trajectories.errors import DataError

HOST = "127.0.0.1"
"""Address that only this machine can reach."""


@asynccontextmanager
async def listening(
    option: str, port: int, make_app: Callable[[str], ASGIApp]
) -> AsyncIterator[str]:
    """Run a web application and yield its URL. Raises DataError if the port is not available."""
    with _bound(option, port) as listener:
        url = f"http://{HOST}:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            make_app(url), log_config=None, ws="none", timeout_graceful_shutdown=1
        )
        server = _Server(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield url
        finally:
            server.should_exit = True
            await running


class _Server(uvicorn.Server):
    """A web server that leaves Ctrl-C to the event loop."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _bound(option: str, port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        # From here on, clients wait instead of being refused.
        listener.listen()
    except OSError as error:
        listener.close()
        advice = "choose another port, or 0 for any free port"
        raise DataError(option, f"port {port}: {error.strerror}; {advice}") from None
    return listener
