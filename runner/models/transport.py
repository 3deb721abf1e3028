"""What carries requests: httpx's interface for the libraries, with aiohttp doing the work."""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from typing import Any
from urllib.request import getproxies

import aiohttp
import httpx
from yarl import URL

from runner.models.base import FatalError, RequestError, TransientError

_CONNECT_TIMEOUT = 30.0
_LARGEST_ANSWER = 10_000_000
"""Bytes of an answer that are read, and that it may decode to."""


class AiohttpClient(httpx.AsyncClient):
    """A client with httpx's interface that opens and reads connections through aiohttp.

    Args:
        secure: Whether connections are encrypted; certificates take a while to load.
    """

    def __init__(self, *, secure: bool) -> None:
        super().__init__(transport=httpx.AsyncBaseTransport(), trust_env=False)
        # The certificates that come with httpx, since a system's own are often missing.
        self._tls = httpx.create_ssl_context() if secure else True
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: httpx.Request, **_: Any) -> httpx.Response:
        """Send one request and read its whole answer."""
        if self._session is None:
            self._session = self._opened()
        async with self._session.request(
            request.method,
            URL(str(request.url), encoded=True),
            headers=request.headers.multi_items(),
            data=request.content,
        ) as answer:
            content = await _whole(answer)
        return httpx.Response(
            answer.status, headers=answer.raw_headers, content=content, request=request
        )

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
        await super().aclose()

    def _opened(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            # How many requests are under way is the caller's to say.
            connector=aiohttp.TCPConnector(limit=0, ssl=self._tls),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT),
            # httpx decodes what the headers say is encoded.
            auto_decompress=False,
            # Looking for a proxy takes a while and is done for every request.
            trust_env=bool(getproxies()),
            trace_configs=[_watching_redirects()],
        )


async def _whole(answer: aiohttp.ClientResponse) -> bytes:
    """Return the content of an answer as it was sent, if it can be kept, decoded, too.

    Raises:
        RequestError: It is too large, or encoded otherwise than by gzip.
    """
    parts, size = [], 0
    async for part in answer.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > _LARGEST_ANSWER:
            raise _too_large()
    content = b"".join(parts)
    encoding = answer.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "gzip":
        with suppress(zlib.error):  # what is no gzip is found out later
            if len(zlib.decompressobj(31).decompress(content, _LARGEST_ANSWER)) == _LARGEST_ANSWER:
                raise _too_large()
    elif encoding not in ("", "identity"):
        raise RequestError(
            f"the server's answer is encoded as {encoding[:20]!r}, only gzip is read"
        )
    return content


def _too_large() -> RequestError:
    return RequestError(f"the server's answer has more than {_LARGEST_ANSWER} bytes")


def _watching_redirects() -> aiohttp.TraceConfig:
    watching = aiohttp.TraceConfig()
    watching.on_request_redirect.append(_refuse_another_origin)
    return watching


async def _refuse_another_origin(
    _session: object, _context: object, redirected: aiohttp.TraceRequestRedirectParams
) -> None:
    """Refuse to go on elsewhere, where keys in headers would go along.

    Raises:
        FatalError: The answer leads to another server.
    """
    headers = redirected.response.headers
    try:
        target = redirected.url.join(URL(headers.get("location") or headers.get("uri") or ""))
        elsewhere = target.origin() != redirected.url.origin()
    except ValueError:
        # It leads nowhere, which is told like any other address that is none.
        return
    if elsewhere:
        raise FatalError(
            f"{redirected.url.origin()} sends requests on to {target.origin()}; keys do not go "
            "there unasked: if that is the server, name it by --base-url"
        )


def json_in(answer: httpx.Response, address: str) -> object:
    """Return the parsed JSON of an answer.

    Args:
        answer: Read as a whole.
        address: Of who sent it, for the wording of the error.

    Raises:
        TransientError: It is no JSON, or a mere text.
    """
    body = parsed(answer.content)
    if not isinstance(body, str):
        return body
    kind = answer.headers.get("content-type", "no stated type")
    raise TransientError(
        f"{address} sent {len(answer.content)} bytes of {kind} that are no "
        "JSON object; should this go on, check the base URL"
    )


def parsed(content: bytes) -> object:
    """Return the value of a JSON text, or the text if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(errors="replace")
