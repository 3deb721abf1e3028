"""HTTP transport on top of aiohttp; it needs a fraction of httpx's CPU time."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any, NamedTuple
from urllib.request import getproxies

import aiohttp
import certifi
from yarl import URL

from envs.lazy_modules import lazy_module
from runner.models.model_types import RedirectError, RequestError, TransientError
from runner.models.reply_reader import Endpoint, classify

resource: Any = lazy_module("resource")
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=30.0)
_MAX_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)
_MAX_ANSWER_BYTES = 8_000_000
_BUFFER = 1 << 16
_SIZE = "Content-Length"


class HttpRequest(NamedTuple):
    """An HTTP request."""

    url: URL
    headers: Mapping[str, str]
    content: Sequence[bytes]
    """Parts of the request body; the transport joins the parts when it sends the request."""


class HttpAnswer(NamedTuple):
    """An HTTP answer, decompressed."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    arrivals: Sequence[tuple[float, int]] = ()
    """For each received part: seconds since the request, and the number of bytes so far."""


class HttpRequestFailure(Exception):
    """Error of a request that got no HTTP answer; ``__cause__`` is the reason."""


class Transport:
    """Connections to servers.

    A session of aiohttp builds the same headers again for every request. To save time, this class
    writes the bytes itself, and uses aiohttp for connections and answers. With a proxy, this class
    uses an ordinary session.
    """

    def __init__(self, *, secure: bool) -> None:
        self._tls = _make_tls_context() if secure else True
        self._connector: aiohttp.TCPConnector | None = None
        self._session: aiohttp.ClientSession | None = None
        self._heads: dict[URL, _RequestHead] = {}

    async def post(self, request: HttpRequest) -> HttpAnswer:
        """Send one request and read its whole answer.

        Raises:
            HttpRequestFailure: The server did not answer.
            RequestError: The answer is too large, or its encoding is not gzip.
            RedirectError: The server redirects to another server, or in circles.
        """
        if self._connector is None:
            self._open()
        url = request.url
        for _ in range(_MAX_REDIRECTS):
            try:
                post = self._post if self._session is None else self._post_by_proxy
                got = await post(url, request)
            except (RequestError, TransientError):
                raise
            except Exception as error:
                raise HttpRequestFailure from error
            place = got.headers.get("location") if got.status in _REDIRECTS else None
            if place is None:
                return got
            url = resolve_redirect(url, place)
        raise RedirectError(f"{url.origin()} is not a usable base URL: it redirects in circles")

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
        elif self._connector is not None:
            await self._connector.close()

    def _open(self) -> None:
        # Each request needs a connection; by default, some systems allow only 256 open files.
        with suppress(ImportError, OSError, ValueError):
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 10_240)), hard))
        # The caller limits the number of requests.
        self._connector = aiohttp.TCPConnector(limit=0, ssl=self._tls)
        if getproxies():
            self._session = aiohttp.ClientSession(
                connector=self._connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=_TIMEOUT,
                # _read_whole() limits the decompressed size.
                auto_decompress=False,
                trust_env=True,
            )

    async def _post(self, url: URL, request: HttpRequest) -> HttpAnswer:
        head = self._heads.get(url)
        if head is None or (
            head.headers is not request.headers and head.headers != request.headers
        ):
            head = self._heads[url] = _RequestHead.of(url, request.headers)
        assert self._connector is not None
        try:
            connection = await self._connector.connect(head.request, [], _TIMEOUT)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError from error
        try:
            sending, protocol = connection.transport, connection.protocol
            if sending is None or protocol is None or sending.is_closing():
                raise aiohttp.ClientConnectionError("the server closed the new connection")
            protocol.set_response_params(
                read_until_eof=True, auto_decompress=False, read_bufsize=_BUFFER
            )
            size, sent = sum(map(len, request.content)), perf_counter()
            parts = (head.before, b"%d" % size, head.behind, *request.content)
            sending.write(b"".join(parts))
            message, payload = await protocol.read()
            while message.code < 200:
                message, payload = await protocol.read()
            body = await _read_whole(message.headers, payload, sent)
            answer = HttpAnswer(message.code, message.headers, *body)
            unsent = sending.get_write_buffer_size()
        except BaseException:
            connection.close()
            raise
        if unsent:
            # The server answered before it had read the whole request.
            connection.close()
        else:
            connection.release()
        return answer

    async def _post_by_proxy(self, url: URL, request: HttpRequest) -> HttpAnswer:
        assert self._session is not None
        sent = perf_counter()
        async with self._session.request(
            "POST",
            url,
            headers=request.headers,
            data=b"".join(request.content),
            allow_redirects=False,
        ) as got:
            body = await _read_whole(got.headers, got.content, sent)
            return HttpAnswer(got.status, got.headers, *body)


class _RequestHead(NamedTuple):
    headers: Mapping[str, str]
    request: aiohttp.ClientRequest
    before: bytes
    """Start of the request, up to the value of the header Content-Length."""
    behind: bytes
    """Part of the request between the value of Content-Length and the content."""

    @classmethod
    def of(cls, url: URL, headers: Mapping[str, str]) -> _RequestHead:
        loop = asyncio.get_running_loop()
        request = aiohttp.ClientRequest("POST", url, headers=headers, data=b"", loop=loop)
        lines = [f"POST {request.url.raw_path_qs} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in request.headers.items() if name != _SIZE]
        if any(each in line for each in "\r\n\0" for line in lines):
            raise ValueError("a header has more than one line")
        before = "\r\n".join([*lines, f"{_SIZE}: "])
        return cls(headers, request, before.encode(), b"\r\n\r\n")


def _make_tls_context() -> ssl.SSLContext:
    """Return the TLS settings. By default, certifi is used: the system may have no certificates."""
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    usual = None if folder else certifi.where()
    return ssl.create_default_context(cafile=file or usual, capath=folder)


async def _read_whole(
    headers: Mapping[str, str], answer: aiohttp.StreamReader, sent: float
) -> tuple[bytes, Sequence[tuple[float, int]]]:
    parts, size, arrivals = [], 0, []
    async for part in answer.iter_any():
        parts.append(part)
        size += len(part)
        arrivals.append((perf_counter() - sent, size))
        if size > _MAX_ANSWER_BYTES:
            raise _make_size_error()
    content = b"".join(parts)
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("", "identity", "none", "utf-8"):
        return content, arrivals
    if encoding not in ("gzip", "x-gzip", "deflate"):
        said = f"the server's answer is encoded as {encoding!r:.20}, not as gzip"
        raise RequestError(f"{said}; turn off compression in the server or its proxy")
    decoded = b""
    try:
        # A gzip file may have several members.
        while content and len(decoded) < _MAX_ANSWER_BYTES:
            member = zlib.decompressobj(47)
            decoded += member.decompress(content, _MAX_ANSWER_BYTES - len(decoded))
            content = member.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise TransientError(f"the server's answer is not valid gzip: {error}") from None
    if len(decoded) == _MAX_ANSWER_BYTES:
        raise _make_size_error()
    return decoded, ()


def _make_size_error() -> RequestError:
    return RequestError(f"the server's answer has more than {_MAX_ANSWER_BYTES} bytes")


def resolve_redirect(url: URL, place: str) -> URL:
    """Return the target of a redirect.

    Raises RedirectError if the target is invalid or is another server.
    """
    try:
        target = url.join(URL(place))
        is_elsewhere = target.origin() != url.origin()
    except ValueError:
        raise RedirectError(f"{url.origin()} is not a usable base URL: it redirects") from None
    if is_elsewhere:
        raise RedirectError(
            f"{url.origin()} redirects to another server; to send your key there, use "
            f"--base-url {target.origin()}"
        )
    return target


def check_status(answer: HttpAnswer, endpoint: Endpoint) -> None:
    """Raise ModelError if the HTTP status of an answer is an error."""
    if not 200 <= answer.status < 300:
        raise classify(answer.status, parsed(answer.content), answer.headers, endpoint)


def json_in(answer: HttpAnswer, address: str) -> object:
    """Return the parsed JSON of a server's answer.

    Raises TransientError if the answer is not JSON, or is only a JSON string.
    """
    body = parsed(answer.content)
    if not isinstance(body, str):
        return body
    kind = answer.headers.get("content-type", "no stated type")
    raise TransientError(
        f"{address} sent {len(answer.content)} bytes of {kind}, not a JSON object; check --base-url"
    )


def parsed(content: bytes) -> object:
    """Parse JSON, or return the text if it is not JSON; NaN and infinity become null."""
    try:
        return _JSON.decode(content.decode(json.detect_encoding(content), "surrogatepass"))
    except (ValueError, RecursionError):
        return content.decode(errors="replace")


# Created once: creating a decoder takes as long as reading a short answer.
_JSON = json.JSONDecoder(parse_constant=lambda _: None)
