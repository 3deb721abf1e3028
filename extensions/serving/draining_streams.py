"""Streams that stay open until all pending requests are answered.

The MCP library drops pending requests when the input ends. However, ``serve < requests`` must
answer all requests.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

_PATIENCE = 10.0
"""Maximum seconds to wait for the next answer."""


class PendingRequests:
    """Requests that have no answer yet."""

    def __init__(self) -> None:
        # A client may use an id again, although the protocol forbids it.
        self._ids: Counter[object] = Counter()
        self._answered = asyncio.Event()

    def asked(self, item: object) -> None:
        """Record a request or its cancellation."""
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, JSONRPCRequest):
            self._ids[message.id] += 1
        elif isinstance(message, JSONRPCNotification) and message.params:
            self._settle_one(message.params.get("requestId"))

    def given(self, item: SessionMessage) -> None:
        """Record an answer."""
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._settle_one(item.message.id)
            self._answered.set()

    def _settle_one(self, id: object) -> None:
        if isinstance(id, (str, int)):
            self._ids[id] -= 1
            self._ids = +self._ids

    async def settle(self) -> None:
        """Wait until all requests are answered; stop if the next answer takes too long."""
        while self._ids:
            self._answered.clear()
            try:
                await asyncio.wait_for(self._answered.wait(), _PATIENCE)
            except TimeoutError:
                return


class _Stream:
    """Wrapper of a message stream."""

    def __init__(self, stream: Any, unanswered: PendingRequests) -> None:
        self._stream = stream
        self._unanswered = unanswered

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        suppresses: bool | None = await self._stream.__aexit__(kind, error, trace)
        return suppresses


class IncomingStream(_Stream):
    """Stream of messages from the client; it ends when all requests are answered."""

    @property
    def last_context(self) -> Any:
        """Context variables of the task that sent the last message."""
        return self._stream.last_context

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message, or the error of a malformed message."""
        item: SessionMessage | Exception = await self._stream.receive()
        self._unanswered.asked(item)
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            item: SessionMessage | Exception = await self._stream.__anext__()
        except StopAsyncIteration:
            await self._unanswered.settle()
            raise
        self._unanswered.asked(item)
        return item


class OutgoingStream(_Stream):
    """Stream of messages to the client."""

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        await self._stream.send(item)
        self._unanswered.given(item)
