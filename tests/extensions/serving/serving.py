"""Servers for the time of a test, and ways to talk to them."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from extensions.serving.mcp_server import serve
from extensions.serving.session_pool import SessionPool

TOKEN = "only the runner has this"


class Serving(NamedTuple):
    """A server that is up."""

    url: str
    control_url: str
    pool: SessionPool

    @property
    def mcp(self) -> str:
        """Where clients connect."""
        return f"{self.url}/mcp"

    def control(
        self, method: str, path: str, body: Any = None, token: str = TOKEN
    ) -> tuple[int, Any]:
        """Return status and JSON of a request to the control."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.control_url + path, data, method=method)
        request.add_header("Authorization", f"Bearer {token}")
        return answer(request)


def answer(request: urllib.request.Request) -> tuple[int, Any]:
    """Return status and JSON of a request."""
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            text = error.read().decode()
            return error.code, json.loads(text) if text.startswith("{") else text


@contextmanager
def served_over_http(pool: SessionPool) -> Iterator[Serving]:
    """Serve a pool with its control for the time of a ``with``."""
    loop = asyncio.new_event_loop()
    up = threading.Event()
    urls: list[str] = []

    def started(url: str | None, control_url: str | None) -> None:
        urls.extend([str(url), str(control_url)])
        up.set()

    async def main() -> None:
        with suppress(asyncio.CancelledError):
            await serve(pool, 0, 0, TOKEN, started)

    task = loop.create_task(main())
    thread = threading.Thread(target=loop.run_until_complete, args=(task,))
    thread.start()
    try:
        assert up.wait(30)
        yield Serving(urls[0], urls[1], pool)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(30)
        loop.close()
