"""A viewer for the time of a test, and runs for it to show."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from extensions.viewer.viewer import Viewer, serve
from runner.records.durable_files import LOCK_FILE
from runner.records.episode_record import EpisodeRecord
from runner.records.run_definition import RunDefinition
from runner.records.run_store import RunStore

TOKEN = "only the viewer's user has this"


class Viewing(NamedTuple):
    """A viewer that is up."""

    url: str
    """With the token."""

    @property
    def host(self) -> str:
        """The address without the token."""
        return self.url.split("/")[2]

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """Return status and text of a page."""
        return fetched(self.url + path, **headers)

    def data(self, path: str) -> Any:
        """Return what a page asks for."""
        status, text = self.get(f"data/{path}")
        assert status == 200
        return json.loads(text)

    def post(self, path: str, body: object) -> Any:
        """Return the answer to a JSON body."""
        sent = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}data/{path}", sent, method="POST")
        with urllib.request.urlopen(request, timeout=30) as got:
            return json.loads(got.read())


def fetched(url: str, **headers: str) -> tuple[int, str]:
    """Return status and text of an answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=named), timeout=30) as got:
            return got.status, got.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@contextmanager
def serving(serve: Callable[[Callable[[str], object]], Coroutine[Any, Any, None]]) -> Iterator[str]:
    """Run a server in a thread for the time of a ``with``, and yield its address."""
    loop = asyncio.new_event_loop()
    up = threading.Event()
    urls: list[str] = []

    def started(url: str) -> None:
        urls.append(url)
        up.set()

    async def main() -> None:
        with suppress(asyncio.CancelledError):
            await serve(started)

    task = loop.create_task(main())
    thread = threading.Thread(target=loop.run_until_complete, args=(task,))
    thread.start()
    try:
        assert up.wait(30)
        yield urls[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(30)
        loop.close()


@contextmanager
def viewing(folder: Path, errata: str = "none") -> Iterator[Viewing]:
    """View a folder for the time of a ``with``; every look at it is due."""
    time = iter(range(10_000_000))
    viewer = Viewer(folder, errata, now=lambda: next(time))
    with serving(lambda started: serve(viewer, 0, TOKEN.replace(" ", "-"), started)) as url:
        yield Viewing(url)


def write_noted(
    folder: Path,
    defining: RunDefinition,
    records: Sequence[EpisodeRecord],
    planned: int | None = None,
    created: str = "2026-01-02T03:04:05",
) -> Path:
    """Write a run folder that says how many episodes it is to have, and when it began."""
    note = {"created": created, "command": ["turnwise", "eval", "--model", "m"]}
    if planned is not None:
        note |= {"episodes": planned}
    with RunStore.create(folder, defining, note=note) as store:
        for each in records:
            store.append(each)
    # Who wrote it has gone.
    (folder / LOCK_FILE).unlink()
    return folder
