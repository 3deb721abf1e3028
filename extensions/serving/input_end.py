"""Input that ends before what it asked for is answered: all of it still is.

The server's library takes the end of its input for a client that has gone, and gives up what it is
at. ``serve < requests`` has a client that still reads.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

_PATIENCE = 10.0
"""Seconds without any answer, after which there will be none."""


class Unanswered:
    """The requests that are under way."""

    def __init__(self) -> None:
        self._ids: set[object] = set()
        self._answered = asyncio.Event()

    def asked(self, item: object) -> None:
        """Take note of a request, or of one that is taken back."""
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.params:
            self._ids.discard(message.params.get("requestId"))

    def given(self, item: SessionMessage) -> None:
        """Take note of an answer."""
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._ids.discard(item.message.id)
            self._answered.set()

    async def settle(self) -> None:
        """Wait until all requests are answered."""
        while self._ids:
            self._answered.clear()
            try:
                await asyncio.wait_for(self._answered.wait(), _PATIENCE)
            except TimeoutError:
                return


class _Stream:
    """A stream of messages that passes everything on."""

    def __init__(self, stream: Any, unanswered: Unanswered) -> None:
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


class Incoming(_Stream):
    """What a client sends; it ends when all of that is answered."""

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent."""
        return self._stream.last_context

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message, or what is wrong with it."""
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


class Outgoing(_Stream):
    """What a client is sent."""

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        await self._stream.send(item)
        self._unanswered.given(item)
