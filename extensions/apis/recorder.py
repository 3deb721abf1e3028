"""Requests to the real service of a collection; the answers are recorded."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from envs.errors import DataError
from extensions.apis.collection import ApiAnswer, ApiCollection, ApiFunction, Arguments

MAX_BODY_BYTES = 1_000_000
_NO_ANSWER = 599
"""Status of a request that got no answer."""


def record(
    collection: ApiCollection,
    calls: Sequence[tuple[str, Arguments]],
    allowed: Sequence[str],
    headers: Mapping[str, str],
    seconds: float,
) -> Iterator[ApiAnswer]:
    """Yield the answer of the service to each call.

    Raises DataError if a call has an unknown function, or its address is not allowed.
    """
    requests, functions = [], collection.by_name
    for name, arguments in calls:
        function = functions.get(name)
        if function is None:
            raise DataError("calls", f"{collection.name} has no function {name!r:.60}")
        url, rest = _address(function, arguments)
        host = urlsplit(url).netloc
        if not host:
            message = f"the URL {url!r:.60} of {name} has no host; write the whole URL"
            raise DataError(collection.name, message)
        if host not in allowed:
            raise DataError("--allow", f"{name} calls {host}; add --allow {host}")
        requests.append((function, arguments, url, rest))
    for function, arguments, url, rest in requests:
        yield asyncio.run(_ask(headers, seconds, function, arguments, url, rest))


def _address(function: ApiFunction, arguments: Arguments) -> tuple[str, dict[str, Any]]:
    """Return the URL of a call, and the arguments that are not part of the URL."""
    rest = {function.sent.get(name, name): value for name, value in arguments.items()}

    def fill(match: re.Match[str]) -> str:
        return quote(str(rest.pop(match[1], "")), safe="")

    return re.sub(r"\{([^{}]+)\}", fill, function.url), rest


async def _ask(
    headers: Mapping[str, str],
    seconds: float,
    function: ApiFunction,
    arguments: Arguments,
    url: str,
    rest: Any,
) -> ApiAnswer:
    start = time.monotonic()
    sends_body = not function.reads and function.method != "DELETE"
    given = {"json": rest} if sends_body else {"params": rest}
    status, body = _NO_ANSWER, b""
    try:
        # The timeout of httpx is that of one read, and a service may send a byte at a time.
        async with (
            asyncio.timeout(seconds),
            httpx.AsyncClient(timeout=seconds, headers=headers, trust_env=False) as client,
            client.stream(function.method, url, **given) as answer,
        ):
            status = answer.status_code
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > MAX_BODY_BYTES:
                    status, body = _NO_ANSWER, b"the answer is too long"
                    break
    except TimeoutError:
        status, body = _NO_ANSWER, f"no answer within {seconds:g} seconds".encode()
    except httpx.HTTPError as error:
        body = f"{type(error).__name__}: {error}".encode()
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    taken = round(time.monotonic() - start, 3)
    return ApiAnswer(function.name, dict(arguments), status, taken, value)
