"""A small HTTP server that says what it is told to: whole answers, broken ones, and none at all.

It runs on loopback, on a thread of its own, and speaks the protocol by hand, since it must take
less CPU than the clients that are measured against it.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

HOST = "127.0.0.1"
_BACKLOG = 1024
_DRIP = 0.05
"""Seconds between the bytes of a slow answer."""


class Asked(NamedTuple):
    """One request as the server saw it."""

    number: int
    """How many came before."""
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    """The parsed JSON; None where there is none."""


class Answer(NamedTuple):
    """What to send back, and how."""

    body: bytes = b""
    status: int = 200
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    manner: Literal["whole", "reset", "hang", "drip", "half"] = "whole"
    """At once; or a reset connection, nothing ever, a byte at a time, half and a closed one."""


Answerer = Callable[[Asked], Answer]


def as_json(value: object, status: int = 200, **headers: str) -> Answer:
    """Return an answer with a JSON body; underscores in names of headers stand for dashes."""
    named = tuple([(name.replace("_", "-"), text) for name, text in headers.items()])
    return Answer(json.dumps(value).encode(), status, headers=named)


class FakeServer:
    """The server, as a context manager on its own thread.

    Args:
        answer: What to answer; it is called on the server's thread.
        latency: Seconds until an answer goes out.
        tls: Serve HTTPS with this context.
        port: Where to listen; 0 for any free port.

    Attributes:
        requests: How many chat requests came.
        last: The last of them.
    """

    def __init__(
        self,
        answer: Answerer,
        *,
        latency: float = 0.0,
        tls: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        self.answer = answer
        self.latency = latency
        self.requests = 0
        self.last: Asked | None = None
        self.port = port
        self._tls = tls
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.connections: set[asyncio.Transport] = set()

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"{'https' if self._tls else 'http'}://{HOST}:{self.port}/v1"

    def __enter__(self) -> FakeServer:
        self._loop = asyncio.new_event_loop()
        self._thread.start()
        assert self._ready.wait(10), "the fake server does not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def wait(self) -> None:
        """Serve until the thread that called this is interrupted."""
        while self._thread.is_alive():
            self._thread.join(1)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = self._loop.create_server(
            lambda: _Connection(self, self._loop), HOST, self.port, backlog=_BACKLOG, ssl=self._tls
        )
        server = self._loop.run_until_complete(listening)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        # A closed server cannot complete a connection that it has just accepted.
        self._loop.run_until_complete(asyncio.sleep(0))
        server.close()
        for transport in list(self.connections):
            transport.abort()
        # One more round, in which the connections notice.
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()


class _Connection(asyncio.Protocol):
    """One connection; HTTP/1.1 with one request at a time."""

    def __init__(self, server: FakeServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._received = bytearray()
        self._wanted = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.connections.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while len(self._received) >= self._wanted:
            end = self._received.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self._received[:end].decode("latin-1").split("\r\n")
            headers = {}
            for line in head[1:]:
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            self._wanted = end + 4 + int(headers.get("content-length", 0))
            if len(self._received) < self._wanted:
                return
            body = bytes(self._received[end + 4 : self._wanted])
            del self._received[: self._wanted]
            self._wanted = 0
            self._take(head[0].split(" ")[1], headers, body)

    def _take(self, path: str, headers: Mapping[str, str], body: bytes) -> None:
        server = self._server
        if path.endswith("/models"):
            listed = {"object": "list", "data": [{"id": "fake", "object": "model"}]}
            self._send(as_json(listed))
            return
        if path.endswith("/stats"):
            self._send(as_json({"requests": server.requests, "cpu": time.process_time()}))
            return
        asked = Asked(server.requests, path, headers, json.loads(body) if body else None)
        server.requests += 1
        server.last = asked
        try:
            answer = server.answer(asked)
        except Exception as error:
            answer = as_json({"error": {"message": f"the fake server broke: {error!r}"}}, 500)
        if server.latency and answer.manner != "hang":
            self._loop.call_later(server.latency, self._send, answer)
        else:
            self._send(answer)

    def _send(self, answer: Answer) -> None:
        if self._transport.is_closing() or answer.manner == "hang":
            return
        if answer.manner == "reset":
            self._reset()
            return
        lines = [
            f"HTTP/1.1 {answer.status} X",
            f"content-type: {answer.kind}",
            f"content-length: {len(answer.body)}",
            *(f"{name}: {value}" for name, value in answer.headers),
        ]
        head = "\r\n".join([*lines, "\r\n"]).encode("latin-1")
        if answer.manner == "drip":
            self._transport.write(head)
            self._drip(iter(answer.body))
        elif answer.manner == "half":
            self._transport.write(head + answer.body[: len(answer.body) // 2])
            self._transport.close()
        else:
            self._transport.write(head + answer.body)

    def _drip(self, rest: Iterator[int]) -> None:
        byte = next(rest, None)
        if byte is not None and not self._transport.is_closing():
            self._transport.write(bytes([byte]))
            self._loop.call_later(_DRIP, self._drip, rest)

    def _reset(self) -> None:
        # Closing without lingering makes the kernel send a reset.
        linger = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, linger
        )
        self._transport.abort()
