"""Server for web applications that listens on 127.0.0.1 only.

URLs begin with a secret token, and requests must name this machine as their host.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from hmac import compare_digest

import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from envs.errors import DataError, describe_exception
from runner.commands.common_options import note

HOST = "127.0.0.1"
"""Loopback address. Other machines cannot connect to this address."""
_HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class _ErrorLog(logging.Handler):
    """Log of web servers: one line per message, without tracebacks or control characters."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        # A request is cancelled if the server ends before the answer.
        if not isinstance(error, asyncio.CancelledError):
            note(record.getMessage().strip() + (f": {describe_exception(error)}" if error else ""))


_LOG = _ErrorLog(logging.WARNING)


@asynccontextmanager
async def listening(
    option: str, port: int, make_app: Callable[[str], ASGIApp]
) -> AsyncIterator[str]:
    """Serve a web application, and yield the URL. Raises DataError if the port is not available."""
    with _bound(option, port) as listener:
        url = f"http://{HOST}:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            make_app(url), log_config=None, ws="none", timeout_graceful_shutdown=1
        )
        loggers = [logging.getLogger(name) for name in ("uvicorn", "mcp")]
        silent = [logger for logger in loggers if _LOG not in logger.handlers]
        for logger in silent:
            logger.addHandler(_LOG)
        server = _Server(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield url
        finally:
            server.should_exit = True
            await running
            for logger in silent:
                logger.removeHandler(_LOG)


def guarded(app: ASGIApp, base_url: str, token: str) -> ASGIApp:
    """Return an application that refuses requests for other hosts or without the token."""
    host = base_url.removeprefix("http://")
    return _RequestGuard(app, {host, host.replace(HOST, "localhost")}, token)


class _RequestGuard:
    """Middleware that checks host, token and origin of requests."""

    def __init__(self, app: ASGIApp, hosts: set[str], token: str) -> None:
        self._app = app
        self._hosts = hosts
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        refusal = self._refusal(Request(scope))
        await (refusal or self._app)(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("host", "").lower() not in self._hosts:
            text = "Wrong host; open the URL that the command printed.\n"
            return Response(text, 421, media_type="text/plain")
        given = request.url.path.split("/")[1].encode("utf-8", "replace")
        if not compare_digest(given, self._token):
            text = "Missing or wrong token; open the URL that the command printed.\n"
            return Response(text, 403, media_type="text/plain")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            text = "Requests from other sites are refused; open the URL in a new tab.\n"
            return Response(text, 403, media_type="text/plain")
        return None


class _Server(uvicorn.Server):
    """Web server that does not handle Ctrl-C."""

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
