"""Request handlers that answer with JSON. A request body must be JSON of limited size."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from envs.errors import BackendFault, ConfigError, DataError
from trajectories.jsonl import parse_object

MAX_BODY_BYTES = 4_000_000


class JsonText(str):
    """Serialized JSON."""


def reading(read: Callable[[Mapping[str, str]], Any]) -> Callable[[Request], Response]:
    """Return a handler that calls ``read`` with the URL's query, and answers with its result."""
    return lambda request: _answer(lambda: read(request.query_params))


def writing(write: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Any]:
    """Return a handler that calls ``write`` with the body's JSON, and answers with its result."""

    async def answer(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                return problem(f"the request has more than {MAX_BODY_BYTES:,} bytes")
        text = body.decode(errors="replace")
        return await run_in_threadpool(_answer, lambda: write(parse_object(text, "request")))

    return answer


def problem(text: str) -> Response:
    """Return a response that a page shows as an error."""
    return as_json({"problem": text})


def as_json(found: object) -> Response:
    """Return a value as a JSON response."""
    # ASCII, because model text may contain lone surrogates.
    text = found if isinstance(found, JsonText) else json.dumps(found, allow_nan=False)
    return Response(text, media_type="application/json")


def _answer(make: Callable[[], Any]) -> Response:
    try:
        return as_json(make())
    except (BackendFault, ConfigError, DataError, OSError) as error:
        return problem(str(error))
