"""Base class of model clients, with pacing, timeouts, prices and connection errors."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

import aiohttp

from runner.models.history_rules import arrange, find_demands
from runner.models.model_types import (
    ChatMessage,
    FatalError,
    ModelError,
    RedirectError,
    Reply,
    Request,
    RequestError,
    RequestOptions,
    TransientError,
)
from runner.models.reply_reader import Endpoint, one_line, read_completion, refused_thoughts

_RESERVED_MEMBERS = ("messages", "input", "prompt", "tools", "functions", "stream", "n")
_IDLE_ROUND = 100e-6
_MAX_WAIT_SECONDS = 0.05
_MAX_REDIRECTS = 8
"""After this many refused redirects in a row, the server is regarded as unusable."""
_unreachable = partial(TransientError, unreachable=True, kind="connection")


class RequestPacer:
    """Pacer that delays requests until the event loop is idle.

    With hundreds of conversations, Turnwise's CPU time may be the bottleneck. Therefore, Turnwise
    reads all waiting answers before it builds a request. Otherwise, the measured latency would be
    too long.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._last_round = 0.0
        self._last_turn = 0.0
        self._last_task: asyncio.Task[object] | None = None

    async def turn(self) -> None:
        """Wait until the event loop is idle."""
        task, last = asyncio.current_task(), self._last_task
        self._last_task = None
        if task is last and task is not None:
            return
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waiting.append(future)
        if len(self._waiting) == 1:
            self._last_round = self._last_turn = perf_counter()
            loop.call_soon(self._check_round, loop)
        await future
        self._last_task = task

    def _check_round(self, loop: asyncio.AbstractEventLoop) -> None:
        now = perf_counter()
        idle = now - self._last_round < _IDLE_ROUND
        self._last_round = now
        if idle or now - self._last_turn > _MAX_WAIT_SECONDS:
            self._last_turn = now
            self._start_next()
        if self._waiting:
            loop.call_soon(self._check_round, loop)

    def _start_next(self) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                return


class Client(ABC):
    """A client for one model."""

    FAILURES: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, endpoint: Endpoint, options: RequestOptions) -> None:
        self._endpoint = endpoint
        self._timeout = options.timeout
        self._price = options.price
        self._pacer = RequestPacer()
        self._redirects = 0
        self._refused: frozenset[str] = frozenset()
        rules = options.provider.get("history_rules")
        self._demands: frozenset[str] = frozenset(rules.split(",") if rules else ())

    async def ask(self, request: Request) -> Reply:
        """Send a request; if the server refuses the form of the request, convert and resend it.

        Raises:
            TransientError: A retry may succeed.
            RequestError: A retry cannot succeed, but other requests may succeed.
            FatalError: No request will succeed.
        """
        while True:
            refused, demands = self._refused, self._demands
            try:
                return await self._ask(request)
            except RedirectError as error:
                self._redirects += 1
                if self._redirects >= _MAX_REDIRECTS:
                    raise
                raise TransientError(str(error), kind="connection") from None
            except ModelError as error:
                thoughts = refused_thoughts(error) - refused
                stated = find_demands(str(error))
                demanded = stated - demands
                if not (thoughts or demanded):
                    if "alternate" in stated and request.tools:
                        raise RequestError(f"{error}; use --mode prompt") from None
                    raise
                self._learn(thoughts, demanded)

    def _learn(self, thoughts: frozenset[str], demanded: frozenset[str]) -> None:
        self._refused |= thoughts
        self._demands |= demanded

    def _arranged(self, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        return arrange(messages, self._demands) if self._demands else messages

    def _accepted(self, message: ChatMessage) -> ChatMessage:
        if self._refused.isdisjoint(message):
            return message
        return {name: value for name, value in message.items() if name not in self._refused}

    async def _ask(self, request: Request) -> Reply:
        await self._pacer.turn()
        sending = self._send(request)
        start = perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                answer = await sending
        except TimeoutError:
            raise TransientError(
                f"{self._endpoint.address} did not answer within {self._timeout:g} seconds",
                kind="timeout",
            ) from None
        except self.FAILURES as error:
            raise self._explain(error) from None
        latency = perf_counter() - start
        await self._pacer.turn()
        reply = read_completion(self._body(answer), latency, self._endpoint)
        self._redirects = 0
        cost = self._price and self._price.of(reply.usage)
        return reply if cost is None else reply._replace(cost=cost)

    @abstractmethod
    async def close(self) -> None:
        """Release connections."""

    @abstractmethod
    def _send(self, request: Request) -> Awaitable[Any]:
        """Encode a request, and return an awaitable that sends the request."""

    @abstractmethod
    def _explain(self, error: Exception) -> ModelError:
        """Return the error for an exception of the library."""

    @abstractmethod
    def _body(self, answer: Any) -> object:
        """Return the parsed JSON of an answer."""


def check_members(settings: Mapping[str, Any]) -> None:
    """Check the fields of ``--body``. Raises FatalError for a reserved field."""
    for name in _RESERVED_MEMBERS:
        if name in settings:
            raise FatalError(f"{name!r} is set by Turnwise; leave it out of --body")


def secrets_in(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values; for the value ``Bearer abc``, also return ``abc``."""
    return tuple(text for value in values for text in (value, *value.split()[1:]))


def explain(error: BaseException, endpoint: Endpoint) -> ModelError:
    """Return the error for an exception during a request."""
    return known_cause(error, endpoint) or _make_lost_error(_find_innermost(error), endpoint)


def known_cause(error: BaseException, endpoint: Endpoint) -> ModelError | None:
    """Return the error for a failed connection, or None for another exception."""
    address = endpoint.address
    for cause in _walk_causes(error):
        if isinstance(cause, ModelError):
            return cause
        said = one_line(str(cause), endpoint.secrets)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return FatalError(f"the certificate of {address} is not trusted: {said}")
        if isinstance(cause, ssl.SSLError):
            return FatalError(f"the TLS handshake with {address} failed: {said}")
        if isinstance(cause, socket.gaierror | aiohttp.ClientConnectorDNSError):
            return _unreachable(f"{address}: unknown host name")
        if isinstance(cause, aiohttp.ClientProxyConnectionError):
            address += f" (through the proxy {cause.host}:{cause.port})"
        if isinstance(cause, aiohttp.ClientConnectorError | ConnectionRefusedError):
            reason = os.strerror(cause.errno).lower() if cause.errno else said
            return _unreachable(f"{address} cannot be reached: {reason}")
        if isinstance(cause, aiohttp.ConnectionTimeoutError):
            return _unreachable(f"{address} cannot be reached: timeout")
        if isinstance(cause, aiohttp.InvalidURL | aiohttp.TooManyRedirects):
            return FatalError(f"{address} is not a usable base URL: {said}")
        if isinstance(cause, aiohttp.ClientConnectionError | aiohttp.ClientPayloadError):
            return _make_lost_error(cause, endpoint)
    return None


def _make_lost_error(cause: BaseException, endpoint: Endpoint) -> TransientError:
    closed = isinstance(cause, aiohttp.ServerDisconnectedError)
    said = "the server closed it" if closed else one_line(str(cause), endpoint.secrets)
    message = f"the connection to {endpoint.address} was lost: {said or type(cause).__name__}"
    return TransientError(message, kind="connection")


def _find_innermost(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _walk_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
