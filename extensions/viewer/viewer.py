"""Viewer: a local web application for all runs of a folder.

The viewer writes only tags, notes and saved chats. URLs begin with a secret token, and requests
must name this machine as their host. The viewer finds a requested run by its name in the list, so
no part of a request becomes a file path.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from envs.errors import BackendFault, DataError
from extensions.align.align_page import ALIGN_ASSETS, align_file
from extensions.align.alignment import MAX_RUNS
from extensions.viewer import viewer_pages
from extensions.viewer.annotation_writer import write_annotation
from extensions.viewer.chat_room import ChatRoom
from extensions.viewer.examined_run_cache import (
    examination_path,
    keep_examination,
    read_examination,
)
from extensions.viewer.json_routes import JsonText, as_json, problem, reading, writing
from extensions.viewer.local_server import guarded, listening
from extensions.viewer.run_cache import OpenedRun, RunCache, file_stamp, titled
from extensions.viewer.run_index import RunIndex, RunRow
from extensions.viewer.tried_call import try_call
from runner.analysis.report.page_parts import parts_of
from runner.analysis.report.pages import COMPARISON_ASSETS, comparison_json
from runner.analysis.report.run_report import BOUNDS, about_run, report
from runner.records.annotations import TagsAndNote
from runner.records.episode_record import Key
from runner.records.recorded_run import open_run
from trajectories.dataset import pause_collector

_FRESH = 0.5
"""Seconds between two scans of the folder."""
_PATIENCE = 0.3
"""Maximum seconds that a page waits for the first scan."""
_PAUSE = 0.005
"""Seconds that the background thread pauses after it has scored a run."""
_MAX_DIGITS = 9

_Handler = Callable[[Request], Any]
"""Function that takes a request and returns a page, or the data of a page."""


async def serve(viewer: Viewer, port: int, token: str, started: Callable[[str], object]) -> None:
    """Serve until the task is cancelled; port 0 selects a free port.

    As soon as the server accepts connections, ``started`` is called with the URL.

    Raises DataError if the port is not available.
    """
    async with listening("--port", port, lambda url: viewer_app(viewer, url, token)) as url:
        viewer.begin()
        try:
            started(f"{url}/{token}/")
            await asyncio.Event().wait()
        finally:
            viewer.end()


def viewer_app(viewer: Viewer, base_url: str, token: str) -> ASGIApp:
    """Return the web application; it refuses requests for other hosts or without the token."""
    pages: dict[str, tuple[_Handler, _Handler, _Handler]] = {
        "": (viewer.home, viewer.home_data, viewer.home_file),
        "run/{name:path}": (viewer.run, viewer.run_data, viewer.run_file),
        "compare": (viewer.compare, viewer.compare_data, viewer.compare_file),
        "align": (viewer.align, viewer.align_data, viewer.align_file),
    }
    data: dict[str, _Handler] = {
        "runs": viewer.changes,
        "state/{name:path}": viewer.state,
        "entry": viewer.entry,
        "try": viewer.try_call,
    }
    data |= {path: handlers[1] for path, handlers in pages.items()}
    chats = _chat_routes(viewer.chats) if viewer.chats else []
    routes = [
        Route(f"/{{token}}/data/{path}", _answering(found, as_json, problem))
        for path, found in data.items()
    ]
    routes.append(
        Route(
            "/{token}/data/annotation",
            _answering(viewer.annotate, as_json, problem),
            methods=["POST"],
        )
    )
    for path, (shown, _, file) in pages.items():
        routes += [
            Route(f"/{{token}}/export/{path}", _answering(file, _attached, _problem)),
            Route(f"/{{token}}/{path}", _answering(shown, HTMLResponse, _problem)),
        ]
    routes += [*chats, Route("/{token}/chat", _answering(viewer.chat, HTMLResponse, _problem))]
    routes.append(Route("/{token}", _to_home))
    return guarded(Starlette(routes=routes), base_url, token)


def _chat_routes(chats: ChatRoom) -> list[Route]:
    reads = {"": chats.home, "/source": chats.source, "/shown": chats.show}
    writes = {
        "/start": chats.start,
        "/send": chats.send,
        "/again": chats.ask_again,
        "/back": chats.take_back,
        "/stop": chats.stop,
        "/save": chats.save,
    }
    found = [Route(f"/{{token}}/data/chat{path}", reading(read)) for path, read in reads.items()]
    for path, write in writes.items():
        found.append(Route(f"/{{token}}/data/chat{path}", writing(write), methods=["POST"]))
    return found


def _to_home(request: Request) -> Response:
    return RedirectResponse(f"{request.url.path}/")


class Viewer:
    """Viewer of the runs in a folder. Each answer is a page, JSON data, or a standalone file."""

    def __init__(
        self,
        folder: Path,
        errata: str = "none",
        now: Callable[[], float] = time.monotonic,
        chats: ChatRoom | None = None,
    ) -> None:
        self.chats = chats
        self._folder = folder
        self._errata = errata
        self._now = now
        self._library = RunCache(errata)
        mend = None if errata == "none" else self._library.mended
        self._index = RunIndex(folder, mend, self._library.judged)
        self._looked = now()
        self._complete = Event()
        self._wanted = Event()
        self._stopping = Event()
        self._annotating = Lock()

    # Background work: the first scan, and scores that take longer.

    def begin(self) -> None:
        """Start scanning the folder in the background."""
        Thread(target=self._reckon, daemon=True).start()

    def end(self) -> None:
        """Stop the background work."""
        self._stopping.set()
        self._wanted.set()

    def _reckon(self) -> None:
        self._index.refresh()
        self._complete.set()
        self._library.warm(self._index.newest())
        while not self._stopping.is_set():
            self._wanted.clear()
            while not self._stopping.is_set() and self._index.reckon():
                # Requests take priority.
                self._stopping.wait(_PAUSE)
            self._wanted.wait()

    def _look(self) -> None:
        if self._complete.is_set() and self._now() - self._looked > _FRESH:
            self._looked = self._now()
            self._index.refresh()
            self._wanted.set()

    # The runs of the folder

    def home(self, request: Request) -> str:
        """Return the list of runs as a page."""
        return viewer_pages.served_page(str(self._folder), viewer_pages.RUNS_ASSETS)

    def home_data(self, request: Request) -> Any:
        """Return the data of all runs."""
        self._complete.wait(_PATIENCE)
        self._look()
        return JsonText(self._since(0, folder=str(self._folder), errata=self._errata))

    def home_file(self, request: Request) -> tuple[str, str]:
        """Return the list of runs as a file."""
        self._complete.wait()
        self._look()
        listed = json.loads(self._index.since(0))
        return "runs", viewer_pages.runs_page(str(self._folder), listed["runs"], self._errata)

    def changes(self, request: Request) -> Any:
        """Return the runs that changed since a version."""
        self._look()
        version = request.query_params.get("since", "")
        is_number = version.isdecimal() and len(version) <= _MAX_DIGITS
        return JsonText(self._since(int(version) if is_number else 0))

    def _since(self, version: int, **more: str) -> str:
        found = self._index.since(version)
        return f"{json.dumps(more)[:-1]}{', ' if more else ''}{found[1:]}"

    # One run

    def run(self, request: Request) -> str:
        """Return the page of a run."""
        return viewer_pages.served_page(self._named(request).name, viewer_pages.run_assets())

    def run_data(self, request: Request) -> Any:
        """Return the requested data of a run or of an episode."""
        found = self._named(request)
        key = _key(request)
        if key is None:
            return JsonText(self._about_whole(found, first="first" in request.query_params))
        opened = self._library.one(found.run.folder, key)
        part = request.query_params.get("part")
        if part == "episode":
            return viewer_pages.episode_json(opened.run)
        if part == "shared":
            return viewer_pages.shared(opened.run).to_json(BOUNDS[0])
        return self._about(found, opened)

    def run_file(self, request: Request) -> tuple[str, str]:
        """Return the page of a run or episode as a file."""
        found, key = self._named(request), _key(request)
        if key is None:
            return found.name, "".join(report([self._library.whole(found.run.folder).run]))
        opened = self._library.one(found.run.folder, key)
        return f"{found.name}-{key[0]}-{key[1]}", "".join(report([opened.run]))

    def state(self, request: Request) -> Any:
        """Return the progress of a run."""
        self._look()
        found = self._named(request)
        run = found.run
        return {
            "seen": _seen(found.stamp),
            "state": run.state,
            "episodes": len(run.episodes),
            "planned": run.planned,
        }

    def annotate(self, request: Request) -> Any:
        """Set the tags and the note of a run or of one of its episodes."""
        query, key = request.query_params, None
        found = self._find(query.get("run", ""))
        if (wanted := _key(request)) is not None:
            key = open_run(found.run.folder, only=wanted[0]).episode(*wanted).record.key
        changed = TagsAndNote(tuple(dict.fromkeys(query.getlist("tag"))), query.get("note", ""))
        with self._annotating:
            write_annotation(found.run.folder, key, changed)
        return changed.to_json()

    def entry(self, request: Request) -> Any:
        """Return the episodes of an entry in all runs."""
        self._complete.wait()
        self._look()
        id = request.query_params.get("id", "")
        found = [
            {
                "run": each.name,
                "model": each.run.definition and each.run.definition.model,
                "trial": episode.trial,
                "outcome": episode.outcome,
            }
            for each in self._index.all()
            for episode in each.run.episodes
            if episode.id == id
        ]
        return {"found": found, "most": MAX_RUNS}

    def try_call(self, request: Request) -> Any:
        """Execute a call on an episode's state; return the result and the state changes."""
        query, key = request.query_params, _key(request)
        folder = self._find(query.get("run", "")).run.folder
        if key is None:
            raise DataError("id", "is missing")
        [episode] = self._library.one(folder, key).run.episodes
        return try_call(
            episode, _whole_number("turn", query.get("turn", "")), query.get("call", "")
        )

    def chat(self, request: Request) -> str:
        """Return the page of chats. Raises DataError if the viewer has no model."""
        if self.chats is None:
            raise DataError("chat", "needs a model; start turnwise view with --model NAME")
        return viewer_pages.served_page("chat", viewer_pages.CHAT_ASSETS)

    # Several runs

    def compare(self, request: Request) -> str:
        """Return the page that compares runs."""
        return viewer_pages.served_page(" and ".join(self._several(request)), COMPARISON_ASSETS)

    def compare_data(self, request: Request) -> Any:
        """Return the comparison of two or more runs."""
        folders = self._several(request)
        compared, notes = self._library.compared(folders)
        several = len(compared) > 1
        shown = viewer_pages.several_json(compared) if several else comparison_json(compared[0])
        return {**shown, "served": list(folders), "notes": list(notes)}

    def compare_file(self, request: Request) -> tuple[str, str]:
        """Return the file name and the page that compares runs."""
        names = list(self._several(request))
        return "-".join(names), viewer_pages.comparison_file(names, self.compare_data(request))

    def align(self, request: Request) -> str:
        """Return the page that shows episodes side by side."""
        return viewer_pages.served_page(self._aligned(request)[0], ALIGN_ASSETS)

    def align_data(self, request: Request) -> Any:
        """Return episodes of an entry side by side."""
        id, places = self._aligned(request)
        found = [self._library.one(each.run.folder, (id, trial)).run for each, trial in places]
        names = [f"{each.name}, trial {trial}" if trial else each.name for each, trial in places]
        at = [{"run": each.name, "trial": trial} for each, trial in places]
        return {**viewer_pages.side_by_side(names, found), "served": at}

    def align_file(self, request: Request) -> tuple[str, str]:
        """Return the file name and the page that shows episodes side by side."""
        shown = {**self.align_data(request), "served": None}
        return str(shown["id"]), align_file(shown)

    def _several(self, request: Request) -> dict[str, Path]:
        """Return the folders of the requested runs, by name.

        Raises DataError if a run does not exist, or if too few or too many runs are requested.
        """
        names = request.query_params.getlist("run")
        found = {each.name: each.run.folder for each in map(self._find, names)}
        if not 2 <= len(found) <= viewer_pages.MOST_RUNS:
            most = viewer_pages.MOST_RUNS
            raise DataError("run", f"select 2 to {most} runs to compare, not {len(found)}")
        return found

    def _aligned(self, request: Request) -> tuple[str, list[tuple[RunRow, int]]]:
        """Return the id of the requested entry, and the run and trial of each requested episode.

        Raises DataError if a run does not exist, or if too few or too many runs are requested.
        """
        id = request.query_params.get("id", "")
        runs = [self._find(name) for name in request.query_params.getlist("run")]
        trials = [_whole_number("trial", text) for text in request.query_params.getlist("trial")]
        if not 2 <= len(runs) <= MAX_RUNS:
            raise DataError("run", f"select 2 to {MAX_RUNS} episodes to align, not {len(runs)}")
        return id, list(zip(runs, [*trials, *[0] * len(runs)], strict=False))

    def _about_whole(self, listed: RunRow, first: bool) -> str:
        """Return the data of a run as JSON, from the cache if possible.

        If ``first`` is true and the data are not cached, return only the recorded outcomes.
        """
        folder, data = listed.run.folder, None
        if (definition := listed.run.definition) is not None:
            data = definition.dataset.name
        stamps = [file_stamp(each) for each in (data, self._errata)]
        path = examination_path(folder, listed.name, data, self._errata, stamps)
        if listed.run.state == "running":
            path = None
        text = read_examination(path)
        first = first and text is None and not self._library.is_open(folder)
        if first and (recorded := self._library.recorded(folder)) is not None:
            return json.dumps(self._about(listed, recorded, is_partial=True), allow_nan=False)
        if text is None:
            text = json.dumps(self._about(listed, self._library.whole(folder)), allow_nan=False)
            keep_examination(path, text)
        return text

    @pause_collector()
    def _about(self, listed: RunRow, opened: OpenedRun, *, is_partial: bool = False) -> Any:
        # Parts examine all entries, which takes seconds.
        parts = () if is_partial else parts_of(opened.run)
        return {
            **about_run(opened.run, opened.outlines.values(), parts),
            "partial": is_partial,
            "first_pack": 2,
            "name": titled(listed.name, opened.run.source),
            "folder": str(listed.run.folder),
            "notes": list(opened.notes),
            "seen": _seen(opened.stamp),
        }

    def _named(self, request: Request) -> RunRow:
        return self._find(request.path_params["name"])

    def _find(self, name: str) -> RunRow:
        """Find a run in the folder. Raises DataError if the run is missing or cannot be read."""
        self._complete.wait()
        self._look()
        found = self._index.find(name)
        if found.run.problem is not None:
            raise DataError(found.name, found.run.problem)
        return found


def _seen(stamp: tuple[int, ...]) -> str:
    return "-".join(map(str, stamp))


def _key(request: Request) -> Key | None:
    id, trial = (request.query_params.get(name) for name in ("id", "trial"))
    return None if id is None else (id, _whole_number("trial", trial or "0"))


def _whole_number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > _MAX_DIGITS:
        raise DataError(name, f"{text!r:.40} must be a whole number of at least 0")
    return int(text)


def _answering(
    handler: _Handler, respond: Callable[[Any], Response], refuse: Callable[[str], Response]
) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        try:
            found = handler(request)
        except (BackendFault, DataError, OSError) as error:
            return refuse(str(error))
        return respond(found)

    return answer


def _problem(text: str) -> Response:
    return HTMLResponse(viewer_pages.problem_page(text), 404)


def _attached(named: tuple[str, str]) -> Response:
    name, text = named
    plain = "".join(each if each.isalnum() and each.isascii() else "-" for each in name)[:100]
    kept = f'attachment; filename="turnwise-{plain.strip("-") or "page"}.html"'
    return HTMLResponse(text, headers={"content-disposition": kept})
