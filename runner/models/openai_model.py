"""Models behind an OpenAI-compatible endpoint, by either of its APIs, through openai's client.

The client's usual methods walk the whole conversation and tool list in Python for every request,
and its usual transport takes several times the CPU that the rest of a request takes. So the body
is encoded here, with the tools as they were encoded before, and goes out through aiohttp.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.request import getproxies

import aiohttp
import httpx
import openai
from yarl import URL

from runner.models.apis import APIS
from runner.models.base import (
    ChatMessage,
    FatalError,
    ModelError,
    Request,
    RequestError,
    RequestOptions,
    TransientError,
)
from runner.models.connection import Client, check_members, explain, secrets_in
from runner.models.reply import Endpoint, classify

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"

_NO_KEY = "no-key-needed"
"""What a server is sent where there is no key; the client insists on one."""
_CONNECT_TIMEOUT = 30.0
_MOST_CONVERSATIONS = 512
_LARGEST_ANSWER = 10_000_000
"""Bytes of an answer that are read, and that it may decode to."""
_HEADERS = {"Accept-Encoding": "gzip", "Content-Type": "application/json"}
"""How many conversations are kept in encoded form."""
_JSON = json.JSONEncoder(separators=(",", ":"))


class OpenAIModel(Client):
    """A model of an OpenAI-compatible endpoint.

    ``OPENAI_API_KEY`` has its key; only OpenAI itself must have one.

    Args:
        name: The model's name as the endpoint knows it.
        options: How it is reached; without a base URL it is where ``OPENAI_BASE_URL`` says, or else
            OpenAI itself.

    Raises:
        FatalError: No request can work: there is no key, or a setting makes no sense.
    """

    FAILURES = (openai.APIStatusError, openai.APIConnectionError)

    def __init__(self, name: str, options: RequestOptions) -> None:
        url = _checked_url(options.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL)
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not key and url.host == OPENAI_HOST:
            raise FatalError(
                "OpenAI wants an API key: set OPENAI_API_KEY, or name another base URL"
            )
        headers = _checked_headers({"OPENAI_API_KEY": key, **options.extra_headers})
        address = f"{url.scheme}://{url.netloc.decode('ascii')}{url.path}"
        secrets = secrets_in(headers.values())
        advice = "set OPENAI_API_KEY to one that it accepts"
        super().__init__(Endpoint(name, address, secrets, advice), options)
        del headers["OPENAI_API_KEY"]
        # The client takes longer to complete a URL than to send the request.
        self._api = APIS[options.api or "chat"]
        self._url = str(url.copy_with(path=f"{url.path.rstrip('/')}/{self._api.path}"))
        self._name = name
        self._options = options
        self._heads = {0: self._head(0)}
        calling = {k: v for k, v in options.calling.items() if k not in options.extra_body}
        self._calling = _encoded(calling).replace(b"{", b",", 1)[:-1] if calling else b""
        self._encoder = _Encoder(self._items)
        self._client = openai.AsyncOpenAI(
            api_key=key or _NO_KEY,
            base_url=str(url),
            default_headers={**_HEADERS, **headers},
            max_retries=0,
            http_client=_AiohttpClient(secure=url.scheme == "https"),
        )

    async def close(self) -> None:
        """Release connections."""
        await self._client.close()

    def _head(self, trial: int) -> bytes:
        """Return the beginning of every body of a trial, up to the conversation."""
        options = self._options
        settings = _merged(self._api.settings(options.sampling_of(trial)), options.extra_body)
        check_members(settings)
        return _encoded({"model": self._name, **settings})[:-1] + (
            f',"{self._api.conversation}":'.encode()
        )

    def _items(self, message: ChatMessage) -> Sequence[Mapping[str, Any]]:
        return self._api.items(self._accepted(message))

    def _leave_out(self, thoughts: frozenset[str]) -> None:
        super()._leave_out(thoughts)
        self._encoder = _Encoder(self._items)

    def _send(self, request: Request) -> Awaitable[httpx.Response]:
        if request.trial not in self._heads:
            self._heads[request.trial] = self._head(request.trial)
        parts = [self._heads[request.trial], self._encoder.encoded(request.messages)]
        if request.tools is not None and request.tools.tools:
            parts += [b',"tools":', self._api.tools(request.tools), self._calling]
        content = b"".join([*parts, b"}"])
        return self._client.post(self._url, content=content, cast_to=httpx.Response)

    def _explained(self, error: Exception) -> ModelError:
        if not isinstance(error, openai.APIStatusError):
            return explain(error, self._endpoint)
        said = error.response
        return classify(said.status_code, _parsed(said.content), said.headers, self._endpoint)

    def _body(self, answer: httpx.Response) -> object:
        body = _parsed(answer.content)
        if not isinstance(body, str):
            return self._api.completion(body)
        kind = answer.headers.get("content-type", "no stated type")
        raise TransientError(
            f"{self._endpoint.address} sent {len(answer.content)} bytes of {kind} that are no "
            "JSON object; should this go on, check the base URL"
        )


class _Encoder:
    """Conversations as JSON, each message encoded once, since a conversation only grows.

    Args:
        items: Makes of a message what stands for it in a request.
    """

    def __init__(self, items: Callable[[ChatMessage], Sequence[Mapping[str, Any]]]) -> None:
        self._items = items
        self._known: OrderedDict[int, _Known] = OrderedDict()

    def encoded(self, messages: Sequence[ChatMessage]) -> bytes:
        """Return a conversation as a JSON list."""
        known = self._known.pop(id(messages), None)
        parts = known.parts if known and known.begins(messages) else []
        parts += [self._part(message) for message in messages[len(parts) :]]
        if messages:
            self._known[id(messages)] = _Known(messages, messages[-1], parts)
        if len(self._known) > _MOST_CONVERSATIONS:
            self._known.popitem(last=False)
        return b"[%b]" % b",".join(filter(None, parts))

    def _part(self, message: ChatMessage) -> bytes:
        return ",".join(map(_JSON.encode, self._items(message))).encode()


class _Known(NamedTuple):
    """What was encoded of a conversation."""

    messages: Sequence[ChatMessage]
    """Kept, so that no other list gets its number."""
    last: ChatMessage
    parts: list[bytes]

    def begins(self, messages: Sequence[ChatMessage]) -> bool:
        """Tell whether a conversation begins with what was encoded."""
        size = len(self.parts)
        return size <= len(messages) and messages[size - 1] is self.last


class _AiohttpClient(httpx.AsyncClient):
    """httpx's interface, for openai's client, with aiohttp doing the work.

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


def _checked_url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise FatalError(f"the base URL is not valid: {error}") from None
    if url.userinfo:
        raise FatalError("the base URL holds a password; send it as an Authorization header")
    if url.scheme not in ("http", "https") or not url.host:
        raise FatalError(f"the base URL {text!r} must be like http://localhost:8000/v1")
    return url


def _checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not (name + value).isascii() or not (name + value).isprintable():
            raise FatalError(f"{name} has characters that cannot be sent")
    return dict(headers)


def _merged(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the user's own, which win; those in an object win there."""
    both = {
        name: {**ours[name], **value}
        for name, value in theirs.items()
        if isinstance(value, Mapping) and isinstance(ours.get(name), Mapping)
    }
    return {**ours, **theirs, **both}


def _encoded(settings: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(settings, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise FatalError(f"a setting cannot be sent: {error}") from None


def _parsed(content: bytes) -> object:
    """Return the value of a JSON text, or the text if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(errors="replace")
