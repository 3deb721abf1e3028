"""What all clients do with a request, and what it means when there was no answer at all."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from time import perf_counter
from typing import Any, ClassVar

import aiohttp

from runner.models.base import (
    ChatMessage,
    FatalError,
    ModelError,
    Reply,
    Request,
    RequestError,
    RequestOptions,
    TransientError,
)
from runner.models.reply import Endpoint, one_line, read_completion, refused_thoughts

_PROTOCOL = ("messages", "input", "prompt", "tools", "functions", "stream", "n")
"""Members of the body that are not settings."""
_IDLE_ROUND = 100e-6
"""A round of the event loop that takes fewer seconds had nothing to do."""
_LONGEST_WAIT = 0.05
"""Seconds after which someone is let through even if the loop is never idle."""


class Pacer:
    """Lets a request start once there is nothing else to do, one after the other.

    With hundreds of conversations at once our own work, not the servers, may be what takes the
    time. Answers that have arrived would then wait unread behind requests being built, and the wait
    would count as the server's latency. So answers are read first: whatever takes time waits for a
    round of the event loop that had nothing to do, or for a moment in any case. No throughput is
    lost by it, for the loop is never idle while someone waits.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._last_round = 0.0
        self._last_turn = 0.0
        self._last_task: asyncio.Task[object] | None = None

    async def turn(self) -> None:
        """Wait until there is time for work.

        A task whose turn it was last, with nobody after it, goes on without a wait, once.
        """
        task, last = asyncio.current_task(), self._last_task
        self._last_task = None
        if task is last and task is not None:
            return
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waiting.append(future)
        if len(self._waiting) == 1:
            self._last_round = self._last_turn = perf_counter()
            loop.call_soon(self._round, loop)
        await future
        self._last_task = task

    def _round(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let the next task through if the round since the last call was short."""
        now = perf_counter()
        idle = now - self._last_round < _IDLE_ROUND
        self._last_round = now
        if idle or now - self._last_turn > _LONGEST_WAIT:
            self._last_turn = now
            self._let_through()
        if self._waiting:
            loop.call_soon(self._round, loop)

    def _let_through(self) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                return


class Client(ABC):
    """A client for one model: waits its turn, watches the clock, reads the answer, counts dollars.

    Args:
        endpoint: Who is asked.
        options: How.
    """

    FAILURES: ClassVar[tuple[type[Exception], ...]]
    """What the library raises."""

    def __init__(self, endpoint: Endpoint, options: RequestOptions) -> None:
        self._endpoint = endpoint
        self._timeout = options.timeout
        self._price = options.price
        self._pacer = Pacer()
        self._refused: frozenset[str] = frozenset()

    async def ask(self, request: Request) -> Reply:
        """Make one request, and again where a server refuses the thoughts that it had sent.

        Raises:
            TransientError: It may work if tried again.
            RequestError: This request will never work; others may.
            FatalError: No request will work.
        """
        while True:
            refused = self._refused
            try:
                return await self._ask(request)
            except RequestError as error:
                found = refused_thoughts(error) - refused
                if not found:
                    raise
                self._leave_out(found)

    def _leave_out(self, thoughts: frozenset[str]) -> None:
        """Send members of some names no more."""
        self._refused |= thoughts

    def _accepted(self, message: ChatMessage) -> ChatMessage:
        """Return a message without what the server refuses."""
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
                f"no answer of {self._endpoint.address} within {self._timeout:g} seconds",
                kind="timeout",
            ) from None
        except self.FAILURES as error:
            raise self._explained(error) from None
        latency = perf_counter() - start
        await self._pacer.turn()
        reply = read_completion(self._body(answer), latency, self._endpoint)
        cost = self._price and self._price.of(reply.usage)
        return reply if cost is None else reply._replace(cost=cost)

    @abstractmethod
    async def close(self) -> None:
        """Release connections."""

    @abstractmethod
    def _send(self, request: Request) -> Awaitable[Any]:
        """Encode a request, and return what sends it once it is awaited."""

    @abstractmethod
    def _explained(self, error: Exception) -> ModelError:
        """Return what it means that the library raised something."""

    @abstractmethod
    def _body(self, answer: Any) -> object:
        """Return what an answer says, as parsed JSON."""


def check_members(settings: Mapping[str, Any]) -> None:
    """Refuse further members of a body that are not settings.

    Raises:
        FatalError: There is one.
    """
    for name in _PROTOCOL:
        if name in settings:
            raise FatalError(f"{name!r} cannot be set: it is part of how models are talked to")


def secrets_in(values: Iterable[str]) -> tuple[str, ...]:
    """Return values, and of such as ``Bearer abc`` also what follows the scheme."""
    return tuple(text for value in values for text in (value, *value.split()[1:]))


def explain(error: BaseException, endpoint: Endpoint) -> ModelError:
    """Return what it means that a client got no answer."""
    return known_cause(error, endpoint) or _lost(list(_causes(error))[-1], endpoint)


def known_cause(error: BaseException, endpoint: Endpoint) -> ModelError | None:
    """Return what an error means if it comes from a failed connection, else None."""
    address = endpoint.address
    for cause in _causes(error):
        if isinstance(cause, ModelError):
            return cause
        said = one_line(str(cause), endpoint.secrets)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return FatalError(f"the certificate of {address} is not to be trusted: {said}")
        if isinstance(cause, ssl.SSLError):
            return FatalError(f"{address} does not speak TLS as it should: {said}")
        if isinstance(cause, socket.gaierror | aiohttp.ClientConnectorDNSError):
            return _unreachable(f"{address}: there is no server of that name")
        if isinstance(cause, aiohttp.ClientConnectorError | ConnectionRefusedError):
            reason = os.strerror(cause.errno).lower() if cause.errno else said
            return _unreachable(f"{address} cannot be reached: {reason}")
        if isinstance(cause, aiohttp.ConnectionTimeoutError):
            return _unreachable(f"{address} cannot be reached: timeout")
        if isinstance(cause, aiohttp.InvalidURL | aiohttp.TooManyRedirects):
            return FatalError(f"{address} is no usable base URL: {said}")
        if isinstance(cause, aiohttp.ClientConnectionError | aiohttp.ClientPayloadError):
            return _lost(cause, endpoint)
    return None


def _unreachable(message: str) -> TransientError:
    return TransientError(message, unreachable=True, kind="connection")


def _lost(cause: BaseException, endpoint: Endpoint) -> TransientError:
    said = one_line(str(cause), endpoint.secrets) or type(cause).__name__
    message = f"the connection to {endpoint.address} was lost: {said}"
    return TransientError(message, kind="connection")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
