"""Operator API: a separate HTTP API that inspects and resets sessions.

Models cannot use this API: it has a separate port, and session clients never get the token.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from extensions.serving.session_pool import (
    SessionOrSnapshotLimit,
    SessionOrSnapshotNotFound,
    SessionPool,
)

_MAX_BODY_BYTES = 10_000
_Handler = Callable[[Request], Awaitable[JSONResponse]]


def control_app(pool: SessionPool, token: str, base_url: str | None) -> Starlette:
    """Return the web application of the operator API; ``base_url`` is None for stdio.

    Requests and responses are JSON. Requests need the header ``Authorization: Bearer TOKEN``.

    - ``GET /sessions``: list sessions, ``{"sessions": [{"id", "calls", "ended"}]}``
    - ``POST /sessions``: open a session, ``{"id", "url"}`` with the URL for its client
    - ``GET /sessions/ID``: ``{"id", "calls", "ended", "digest", "state"}``
    - ``POST /sessions/ID/reset``: reset to the initial state and show it
    - ``POST /sessions/ID/snapshots``: save the state, ``{"snapshot": NUMBER}``
    - ``POST /sessions/ID/restore`` with ``{"snapshot": NUMBER}``: restore a snapshot and show it
    - ``DELETE /sessions/ID``: close the session
    """
    control = _OperatorApi(pool, base_url)
    routes = [
        ("GET", "/sessions", control.list),
        ("POST", "/sessions", control.open),
        ("GET", "/sessions/{id}", control.show),
        ("POST", "/sessions/{id}/reset", control.reset),
        ("POST", "/sessions/{id}/snapshots", control.snapshot),
        ("POST", "/sessions/{id}/restore", control.restore),
        ("DELETE", "/sessions/{id}", control.close),
    ]
    return Starlette(
        routes=[
            Route(path, _guarded(handler, token), methods=[method])
            for method, path, handler in routes
        ]
    )


class AsciiResponse(JSONResponse):
    """JSON in ASCII, because UTF-8 cannot encode a lone surrogate of a client."""

    def render(self, content: Any) -> bytes:
        """Encode the content."""
        return json.dumps(content, allow_nan=False).encode()


class _OperatorApi:
    def __init__(self, pool: SessionPool, base_url: str | None) -> None:
        self._pool = pool
        self._base_url = base_url

    async def list(self, request: Request) -> JSONResponse:
        return AsciiResponse({"sessions": [self._about(id) for id in self._pool.served]})

    async def open(self, request: Request) -> JSONResponse:
        if self._base_url is None:
            raise SessionOrSnapshotLimit("stdio serves one session only; use --http to open more.")
        id = token_urlsafe(16)
        self._pool.open(id)
        return AsciiResponse({"id": id, "url": f"{self._base_url}/mcp/{id}"}, 201)

    async def show(self, request: Request) -> JSONResponse:
        id = request.path_params["id"]
        snapshot = self._pool.find(id).session.snapshot()
        state = {"digest": snapshot.digest(), "state": snapshot.to_json()}
        return AsciiResponse({**self._about(id), **state})

    async def reset(self, request: Request) -> JSONResponse:
        self._pool.reset(request.path_params["id"])
        return await self.show(request)

    async def snapshot(self, request: Request) -> JSONResponse:
        return AsciiResponse({"snapshot": self._pool.snapshot(request.path_params["id"])}, 201)

    async def restore(self, request: Request) -> JSONResponse:
        self._pool.restore(request.path_params["id"], await _number(request))
        return await self.show(request)

    async def close(self, request: Request) -> JSONResponse:
        self._pool.close(request.path_params["id"])
        return AsciiResponse({})

    def _about(self, id: str) -> dict[str, Any]:
        served = self._pool.served[id]
        return {"id": id, "calls": served.calls, "ended": served.ended}


async def _number(request: Request) -> int:
    """Return the snapshot number in a request. Raises ValueError if the body has no number."""
    sent = b""
    async for part in request.stream():
        sent += part
        if len(sent) > _MAX_BODY_BYTES:
            raise ValueError
    body = json.loads(sent)
    number = body.get("snapshot") if isinstance(body, dict) else None
    if type(number) is not int:
        raise ValueError
    return number


def _guarded(handler: _Handler, token: str) -> _Handler:
    wanted = f"Bearer {token}".encode()

    async def answer(request: Request) -> JSONResponse:
        if not compare_digest(request.headers.get("authorization", "").encode(), wanted):
            return refusal(401, "The header Authorization: Bearer TOKEN is missing or wrong.")
        try:
            return await handler(request)
        except SessionOrSnapshotNotFound as error:
            return refusal(404, str(error))
        except SessionOrSnapshotLimit as error:
            return refusal(409, str(error))
        except (RecursionError, ValueError):
            return refusal(400, 'The body must be {"snapshot": NUMBER}.')

    return answer


def refusal(status: int, message: str) -> JSONResponse:
    """Return a response with an error message."""
    return AsciiResponse({"error": message}, status)
