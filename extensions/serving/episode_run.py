"""Run whose agents are clients over MCP or HTTP."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

from starlette.applications import Starlette

from envs.errors import DataError
from envs.registry import backend_class
from extensions.serving.episode_broker import EpisodeBroker, RequestLinkedPlayer
from extensions.serving.episode_http import episode_routes
from extensions.serving.episode_mcp import OWN_TOOLS, ClientEpisode, episode_server
from extensions.serving.mcp_server import (
    Context,
    client_of,
    request_of,
    serve_stdio,
    web_app,
)
from extensions.viewer.local_server import listening
from runner.live.engine import JobEngine, RequestLimits
from runner.live.live_run import EpisodeJob, LiveRun, RunInputs
from runner.live.run_control import open_jobs, open_store
from runner.records.episode_record import EpisodeRecord
from runner.records.run_definition import Selection
from runner.records.run_store import create_folder, default_folder
from trajectories.schema import Trajectory

_SPARE_CLIENTS = 4
"""Maximum number of MCP clients per open episode."""

Started = Callable[[str | None, Path, int], object]
"""Callback after the start of the server. Its arguments are the URL (None for stdio), the run
folder and the number of open episodes.
"""


class EpisodeServerSettings(NamedTuple):
    """Settings of the server."""

    port: int | None
    """HTTP port (0: any free port); None means standard input and output."""
    limit: int
    """Maximum number of open episodes with clients."""
    idle: float
    """An episode ends in an error after this many seconds without a message of its client."""
    hides_verdict: bool
    """Whether verdicts are hidden from clients."""

    def play(
        self,
        plan: RunInputs,
        entries: Sequence[Trajectory],
        selection: Selection,
        folder: Path | None,
        *,
        resumes: bool,
        started: Started,
    ) -> Path:
        """Serve the episodes of a run until the user or the only client stops the server.

        Return the run folder. Raises DataError if the folder or the port cannot be used.
        """
        trials = selection.trials
        folder = folder or create_folder(default_folder(plan.model, datetime.now()))
        with open_store(
            folder, plan, selection, sys.argv, episodes=len(entries) * trials, resumes=resumes
        ) as store:
            errors = {key for key, outcome in store.done.items() if outcome == "error"}
            store.supersede(errors)
            jobs = open_jobs(store, entries, trials, None)
            broker = EpisodeBroker(
                folder,
                jobs,
                self.limit,
                self.idle,
                time.monotonic,
                restarted=errors,
                hides_verdict=self.hides_verdict,
            )
            live_run = LiveRun(plan, store, player=RequestLinkedPlayer)
            limits = RequestLimits(concurrency=self.limit)
            engine: JobEngine[EpisodeJob, EpisodeRecord] = JobEngine(broker, limits, Random(0))

            async def run() -> None:
                await live_run.run(engine, broker.in_order(jobs), broker.finish)

            def started_here(url: str | None) -> None:
                started(url, folder, len(jobs))

            asyncio.run(self._serve(broker, engine, run, started_here))
        return folder

    async def _serve(
        self,
        broker: EpisodeBroker,
        engine: JobEngine[EpisodeJob, EpisodeRecord],
        run: Callable[[], Coroutine[None, None, None]],
        started: Callable[[str | None], object],
    ) -> None:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(broker.close)
            url, port = None, self.port
            if port is not None:
                web = listening("--http", port, lambda url: self._app(broker, url))
                url = await stack.enter_async_context(web)
            running = asyncio.create_task(run())
            started(url)
            if url is not None:
                await running
                if engine.stop_reason is None:
                    await _interrupted()
                return
            client = ClientEpisode(broker)
            server = episode_server(lambda _: client, hides_verdict=self.hides_verdict)
            serving = asyncio.create_task(serve_stdio(server))
            await asyncio.wait({running, serving}, return_when=asyncio.FIRST_COMPLETED)
            if engine.stop_reason is None:
                await serving
            engine.stop("the client ended the run", at_once=True)
            await running

    def _app(self, broker: EpisodeBroker, base_url: str) -> Starlette:
        clients: dict[str, ClientEpisode] = {}

        def seat(context: Context) -> ClientEpisode:
            request = request_of(context)
            name = request.path_params.get("session")
            id = client_of(request) if name is None else f"/{name}"
            return clients.setdefault(id, ClientEpisode(broker, name))

        server = episode_server(seat, hides_verdict=self.hides_verdict)
        most = self.limit * _SPARE_CLIENTS
        return web_app(
            server,
            base_url,
            self.idle,
            most,
            lambda id: clients.pop(id, None),
            episode_routes(broker),
        )


def require_servable(entries: Sequence[Trajectory]) -> None:
    """Check that clients can play the entries call by call.

    Raises DataError if a function has the name of a server tool.
    """
    offered = {
        (name, tool)
        for entry in entries
        for name in entry.environments
        for tool in backend_class(name).TOOLS
    }
    offered |= {
        (entry.id, document["name"]) for entry in entries for document in entry.documents or ()
    }
    for owner, tool in sorted(offered):
        if tool in OWN_TOOLS:
            raise DataError(owner, f"the entry's function {tool} has the name of a server tool")


async def _interrupted() -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    # Outside of the main thread, the caller cancels this task.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number in signals:
            loop.add_signal_handler(number, ended.set)
    await ended.wait()
