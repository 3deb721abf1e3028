"""What it means when there was no answer at all: which failures pass and which will not."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator

import aiohttp

from runner.models.base import FatalError, ModelError, TransientError
from runner.models.reply import Endpoint, one_line


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
