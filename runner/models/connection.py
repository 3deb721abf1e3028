"""What all clients do with a request, and what it means when there was no answer at all."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterator
from time import perf_counter
from typing import Any, ClassVar

import aiohttp

from runner.models.base import (
    FatalError,
    ModelError,
    Reply,
    Request,
    RequestOptions,
    TransientError,
)
from runner.models.pacing import Pacer
from runner.models.reply import Endpoint, one_line, read_completion


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

    async def ask(self, request: Request) -> Reply:
        """Make one request, once.

        Raises:
            TransientError: It may work if tried again.
            RequestError: This request will never work; others may.
            FatalError: No request will work.
        """
        await self._pacer.turn()
        sending = self._send(request)
        start = perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                answer = await sending
        except TimeoutError:
            raise TransientError(
                f"no answer of {self._endpoint.address} within {self._timeout:g} seconds"
            ) from None
        except self.FAILURES as error:
            raise self._explained(error) from None
        latency = perf_counter() - start
        await self._pacer.turn()
        reply = read_completion(self._body(answer), latency, self._endpoint)
        return reply._replace(cost=self._price and self._price.of(reply.usage))

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


def explain(error: BaseException, endpoint: Endpoint) -> ModelError:
    """Return what it means that a client got no answer.

    Args:
        error: What the client raised.
        endpoint: Who was asked.
    """
    return known_cause(error, endpoint) or _lost(list(_causes(error))[-1], endpoint)


def known_cause(error: BaseException, endpoint: Endpoint) -> ModelError | None:
    """Return what an error means if it comes from a failed connection, else None."""
    address = endpoint.address
    for cause in _causes(error):
        said = one_line(str(cause), endpoint.secrets)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return FatalError(f"the certificate of {address} is not to be trusted: {said}")
        if isinstance(cause, ssl.SSLError):
            return FatalError(f"{address} does not speak TLS as it should: {said}")
        if isinstance(cause, socket.gaierror | aiohttp.ClientConnectorDNSError):
            return TransientError(f"{address}: there is no server of that name", unreachable=True)
        if isinstance(cause, aiohttp.ClientConnectorError | ConnectionRefusedError):
            reason = os.strerror(cause.errno).lower() if cause.errno else said
            return TransientError(f"{address} cannot be reached: {reason}", unreachable=True)
        if isinstance(cause, aiohttp.ConnectionTimeoutError):
            return TransientError(f"{address} cannot be reached: timeout", unreachable=True)
        if isinstance(cause, aiohttp.InvalidURL | aiohttp.TooManyRedirects):
            return FatalError(f"{address} is no usable base URL: {said}")
        if isinstance(cause, aiohttp.ClientConnectionError | aiohttp.ClientPayloadError):
            return _lost(cause, endpoint)
    return None


def _lost(cause: BaseException, endpoint: Endpoint) -> TransientError:
    said = one_line(str(cause), endpoint.secrets) or type(cause).__name__
    return TransientError(f"the connection to {endpoint.address} was lost: {said}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
