"""What carries requests: aiohttp, which takes a fraction of the CPU that httpx takes."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import zlib
from collections.abc import Mapping
from typing import NamedTuple
from urllib.request import getproxies

import aiohttp
import certifi
from yarl import URL

from runner.models.base import FatalError, RequestError, TransientError
from runner.models.reply import Endpoint, classify

_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=30.0)
_MOST_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)
_LARGEST_ANSWER = 8_000_000
"""Bytes of an answer that are read, and that it may decode to."""
_BUFFER = 1 << 16
_PROVISIONAL = range(100, 200)
"""Statuses after which the answer is yet to come."""
_SIZE = "Content-Length"


class HttpRequest(NamedTuple):
    """A request as it goes out."""

    url: URL
    headers: Mapping[str, str]
    content: bytes


class HttpAnswer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """By name, in whatever case."""
    content: bytes
    """Decoded."""


class NoHttpAnswer(Exception):
    """A request got no answer; the cause says why."""


class Transport:
    """Connections to servers.

    A client session of aiohttp puts together anew for every request what is the same in all. So the
    bytes are put together here, and aiohttp does what is hard: it connects, keeps connections and
    reads answers. Where a proxy may be in between, it does all.

    Args:
        secure: Whether they are encrypted; certificates take a while to load.
    """

    def __init__(self, *, secure: bool) -> None:
        self._tls = _trusted() if secure else True
        self._connector: aiohttp.TCPConnector | None = None
        self._session: aiohttp.ClientSession | None = None
        self._heads: dict[URL, _Head] = {}

    async def post(self, request: HttpRequest) -> HttpAnswer:
        """Send one request and read its whole answer.

        Raises:
            NoHttpAnswer: There is none.
            RequestError: It is too large, or encoded otherwise than by gzip.
            FatalError: The server sends requests on to another one, where keys in headers would go
                along, or in circles.
        """
        if self._connector is None:
            self._open()
        url = request.url
        for _ in range(_MOST_REDIRECTS):
            try:
                got = await (self._post if self._session is None else self._post_by_proxy)(
                    url, request
                )
            except (RequestError, TransientError):
                raise
            except Exception as error:
                raise NoHttpAnswer from error
            place = got.headers.get("location") if got.status in _REDIRECTS else None
            if place is None:
                return got
            url = within(url, place)
        raise FatalError(f"{url.origin()} is no usable base URL: it sends requests on in circles")

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
        elif self._connector is not None:
            await self._connector.close()

    def _open(self) -> None:
        # How many requests are under way is the caller's to say.
        self._connector = aiohttp.TCPConnector(limit=0, ssl=self._tls)
        if getproxies():
            self._session = aiohttp.ClientSession(
                connector=self._connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=_TIMEOUT,
                # What is decoded is bounded.
                auto_decompress=False,
                trust_env=True,
            )

    async def _post(self, url: URL, request: HttpRequest) -> HttpAnswer:
        head = self._heads.get(url)
        if head is None or (
            head.headers is not request.headers and head.headers != request.headers
        ):
            head = self._heads[url] = _Head.of(url, request.headers)
        assert self._connector is not None
        try:
            connection = await self._connector.connect(head.request, [], _TIMEOUT)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError from error
        try:
            sending, protocol = connection.transport, connection.protocol
            if sending is None or protocol is None or sending.is_closing():
                raise aiohttp.ClientConnectionError("it was closed at once")
            protocol.set_response_params(
                read_until_eof=True, auto_decompress=False, read_bufsize=_BUFFER
            )
            content = request.content
            sending.write(b"%b%d%b%b" % (head.before, len(content), head.behind, content))
            message, payload = await protocol.read()
            while message.code in _PROVISIONAL:
                message, payload = await protocol.read()
            answer = HttpAnswer(
                message.code, message.headers, await _whole(message.headers, payload)
            )
            unsent = sending.get_write_buffer_size()
        except BaseException:
            connection.close()
            raise
        if unsent:
            # The server has answered before it had read everything.
            connection.close()
        else:
            connection.release()
        return answer

    async def _post_by_proxy(self, url: URL, request: HttpRequest) -> HttpAnswer:
        assert self._session is not None
        async with self._session.request(
            "POST", url, headers=request.headers, data=request.content, allow_redirects=False
        ) as got:
            return HttpAnswer(got.status, got.headers, await _whole(got.headers, got.content))


class _Head(NamedTuple):
    """What requests to one address have in common."""

    headers: Mapping[str, str]
    request: aiohttp.ClientRequest
    """Says to what it connects."""
    before: bytes
    """What is sent before the size of the content."""
    behind: bytes
    """And between that and the content."""

    @classmethod
    def of(cls, url: URL, headers: Mapping[str, str]) -> _Head:
        """Return what is sent ahead of contents.

        Raises:
            ValueError: A header is none.
        """
        loop = asyncio.get_running_loop()
        request = aiohttp.ClientRequest("POST", url, headers=headers, data=b"", loop=loop)
        lines = [f"POST {request.url.raw_path_qs} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in request.headers.items() if name != _SIZE]
        if any(each in line for each in "\r\n\0" for line in lines):
            raise ValueError("a header has more than one line")
        before = "\r\n".join([*lines, f"{_SIZE}: "])
        return cls(headers, request, before.encode(), b"\r\n\r\n")


def _trusted() -> ssl.SSLContext:
    """Return how servers prove who they are; a system's own certificates are often missing."""
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if not (file or folder):
        file = certifi.where()
    return ssl.create_default_context(cafile=file, capath=folder)


async def _whole(headers: Mapping[str, str], answer: aiohttp.StreamReader) -> bytes:
    """Return the content of an answer, decoded.

    Raises:
        RequestError: It is too large, or encoded otherwise than by gzip.
        TransientError: It is not encoded as it says.
    """
    parts, size = [], 0
    async for part in answer.iter_any():
        parts.append(part)
        size += len(part)
        if size > _LARGEST_ANSWER:
            raise _too_large()
    content = b"".join(parts)
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("", "identity"):
        return content
    if encoding != "gzip":
        raise RequestError(
            f"the server's answer is encoded as {encoding[:20]!r}, only gzip is read"
        )
    try:
        decoded = zlib.decompressobj(31).decompress(content, _LARGEST_ANSWER)
    except zlib.error as error:
        raise TransientError(f"the server's answer is no gzip, as it says: {error}") from None
    if len(decoded) == _LARGEST_ANSWER:
        raise _too_large()
    return decoded


def _too_large() -> RequestError:
    return RequestError(f"the server's answer has more than {_LARGEST_ANSWER} bytes")


def within(url: URL, place: str) -> URL:
    """Return where a server sends a request on to.

    Raises:
        FatalError: To another server, where keys in headers would go along, or nowhere.
    """
    try:
        target = url.join(URL(place))
        elsewhere = target.origin() != url.origin()
    except ValueError:
        raise FatalError(f"{url.origin()} is no usable base URL: it sends requests on") from None
    if elsewhere:
        raise FatalError(
            f"{url.origin()} sends requests on to {target.origin()}; keys do not go "
            "there unasked: if that is the server, name it by --base-url"
        )
    return target


def check_status(answer: HttpAnswer, endpoint: Endpoint) -> None:
    """Refuse an answer that is an error.

    Raises:
        ModelError: It is; the message says what it means.
    """
    if not 200 <= answer.status < 300:
        raise classify(answer.status, parsed(answer.content), answer.headers, endpoint)


def json_in(answer: HttpAnswer, address: str) -> object:
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
    """Return the value of a JSON text, or the text if it is not JSON; NaN and the like are null."""
    try:
        return _JSON.decode(content.decode(json.detect_encoding(content), "surrogatepass"))
    except (ValueError, RecursionError):
        return content.decode(errors="replace")


def _nothing(_: str) -> None:
    """Stand for a number that is none."""


# Made once: to make one takes as long as to read a short answer.
_JSON = json.JSONDecoder(parse_constant=_nothing)
