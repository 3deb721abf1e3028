"""Web application of ``turnwise dataset author``; it stores drafts, entries and reviews.

The server keeps no state in memory: a page sends the whole entry, which is executed from the
initial config. URLs begin with a secret token. Request bodies are JSON of limited size.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from envs.errors import DataError
from envs.registry import names
from extensions.authoring.author.drafts import Draft, DraftFolder
from extensions.authoring.author.entry_file import (
    EntryFile,
    check_name,
    entry_version,
    review_json,
)
from extensions.authoring.author.played_draft import (
    check_draft,
    draft_state,
    finding_json,
    play_draft,
    read_draft,
)
from extensions.authoring.rules.finding import Severity
from extensions.viewer.entry_search import (
    check_has_state,
    entry_row,
    example_configs,
    find_entries,
    get_entry,
    read_names,
)
from extensions.viewer.json_routes import reading, writing
from extensions.viewer.local_server import guarded, listening
from runner.analysis.report.pages import page
from trajectories.dataset import Dataset
from trajectories.record_validation import to_json
from trajectories.schema import MULTI_TURN, Trajectory

_MAX_ID_CHARS = 200
_SERVED = ("report.css", "author.css")
_ASSETS = Path(__file__).parents[1] / "assets"

Json = dict[str, Any]


async def serve(author: Author, port: int, token: str, started: Callable[[str], object]) -> None:
    """Serve until cancelled, and pass the URL to ``started``; port 0 selects a free port.

    Raises DataError if the port is not available.
    """
    async with listening("--port", port, lambda url: author_app(author, url, token)) as url:
        started(f"{url}/{token}/")
        await asyncio.Event().wait()


def author_app(author: Author, base_url: str, token: str) -> ASGIApp:
    """Return the web application. It refuses other hosts, and requests without the token."""
    reads: dict[str, Callable[[Mapping[str, str]], Any]] = {
        "": author.home,
        "source": author.source,
        "draft": author.draft,
        "state": author.state,
    }
    writes: dict[str, Callable[[Json], Any]] = {
        "new": author.new,
        "open": author.open,
        "play": author.play,
        "check": author.check,
        "save": author.save,
        "review": author.review,
        "discard": author.discard,
    }
    routes = [Route(f"/{{token}}/data/{path}", reading(read)) for path, read in reads.items()]
    for path, write in writes.items():
        routes.append(Route(f"/{{token}}/data/{path}", writing(write), methods=["POST"]))
    home = page(
        f"Turnwise: {author.path.name}",
        (),
        (*_SERVED, "forms.js", _ASSETS / "author_home.js"),
        served=True,
    )
    draft = page("Turnwise: draft", (), (*_SERVED, "texts.js", _ASSETS / "author.js"), served=True)
    routes += [
        Route("/{token}/export/draft", _exporting(author.exported)),
        Route("/{token}/", lambda _: HTMLResponse(home)),
        Route("/{token}/draft", lambda _: HTMLResponse(draft)),
        Route("/{token}", lambda request: RedirectResponse(f"{request.url.path}/")),
    ]
    return guarded(Starlette(routes=routes), base_url, token)


def _exporting(read: Callable[[str], tuple[str, str]]) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        try:
            name, text = read(request.query_params.get("id", ""))
        except DataError as error:
            return Response(f"{error}\n", 404, media_type="text/plain")
        plain = "".join(each if each.isalnum() and each.isascii() else "_" for each in name)
        kept = {"content-disposition": f'attachment; filename="{plain[:80] or "entry"}.jsonl"'}
        return Response(text, media_type="application/jsonl", headers=kept)

    return answer


class Author:
    """File of entries that people write and review, or copy from a data set."""

    def __init__(self, path: Path, source: Callable[[], Dataset], name: str = "") -> None:
        self.path = path
        self._file = EntryFile(path)
        self._drafts = DraftFolder(self._file.folder)
        self._source = source
        self._name = name

    def home(self, query: Mapping[str, str]) -> Json:
        """Return the entries of the file, the drafts, and the environments."""
        entries = self._file.entries()
        statuses = self._file.statuses(entries)
        drafts = [
            {"draft": key, "id": draft.id, "saved": _is_saved(draft, entries)}
            for key, draft in self._drafts.all()
        ]
        return {
            "file": str(self.path),
            "name": self._name,
            "entries": [
                {**entry_row(each), **review_json(statuses[id])} for id, each in entries.items()
            ],
            "drafts": [each for each in drafts if not each["saved"]],
            "environments": names(),
            "categories": [category.value for category in MULTI_TURN],
        }

    def source(self, query: Mapping[str, str]) -> Json:
        """Return the source's entries whose id or messages contain all words of the search."""
        return find_entries(self._source(), query.get("find", ""))

    def new(self, given: Json) -> Json:
        """Create a draft with the example configs of its environments."""
        environments = read_names(given.get("environments"))
        entry: Json = {
            "id": _check_id(given.get("id")),
            "category": given.get("category"),
            "environments": environments,
            "config": example_configs(environments),
            "turns": [{"messages": [], "ground_truth": []}],
        }
        read_draft(entry)
        return {"draft": self._create(entry)}

    def open(self, given: Json) -> Json:
        """Create a draft from a saved entry or from a source entry; return the draft's key."""
        id = str(given.get("id", ""))
        if given.get("from") == "source":
            return {"draft": self._create(_copied(self._source(), id))}
        entries = self._file.entries()
        if id not in entries:
            raise DataError(str(self.path), f"has no entry {id!r:.80}; reload the page")
        check_has_state(entries[id])
        version = entry_version(entries[id])
        return {"draft": self._create(to_json(entries[id]), version)}

    def draft(self, query: Mapping[str, str]) -> Json:
        """Return a draft with its executed calls."""
        key = query.get("id", "")
        return self._shown(key, self._drafts.read(key))

    def state(self, query: Mapping[str, str]) -> Json:
        """Return the state of a draft at the end of a turn."""
        turn = query.get("turn", "")
        if not (turn.isascii() and turn.isdecimal()) or len(turn) > 3:
            raise DataError("turn", f"{turn!r:.40} must be a whole number of at least 0")
        return {"state": draft_state(self._drafts.read(query.get("id", "")).entry, int(turn))}

    def play(self, given: Json) -> Json:
        """Store a changed entry and execute it."""
        key, draft = self._given(given)
        entry = given.get("entry")
        if not isinstance(entry, dict):
            raise DataError("entry", "must be a JSON object")
        return self._shown(key, self._drafts.change(key, draft.revision, entry, draft.base))

    def check(self, given: Json) -> Json:
        """Apply the rules to a draft and return the findings."""
        _, draft = self._given(given)
        found = check_draft(read_draft(draft.entry), self._file.entries().values())
        return {"findings": [finding_json(each) for each in found]}

    def save(self, given: Json) -> Json:
        """Save a draft in the file, unless a rule finds an error."""
        key, draft = self._given(given)
        author = check_name(str(given.get("name", "")))
        trajectory = read_draft(draft.entry)
        _check_id(trajectory.id)
        entries = self._file.entries()
        found = check_draft(trajectory, entries.values())
        findings = [finding_json(each) for each in found]
        if any(each.severity is Severity.ERROR for each in found):
            return {"saved": False, "findings": findings}
        if _is_saved(draft, entries):
            return {"saved": True, "findings": findings, **self._shown(key, draft)}
        entry = _signed(to_json(trajectory), author)
        base = self._file.save(read_draft(entry), draft.base)
        changed = self._drafts.change(key, draft.revision, entry, base)
        return {"saved": True, "findings": findings, **self._shown(key, changed)}

    def review(self, given: Json) -> Json:
        """Store a person's review of the open entry; the draft must have no unsaved changes."""
        key, draft = self._given(given)
        version = entry_version(read_draft(draft.entry))
        words = [str(given.get(name, "")) for name in ("name", "class", "reason")]
        self._file.review(draft.id, version, *words)
        return self._shown(key, draft)

    def discard(self, given: Json) -> Json:
        """Delete a draft."""
        key, _ = self._given(given)
        self._drafts.discard(key)
        return {"discarded": key}

    def exported(self, key: str) -> tuple[str, str]:
        """Return a draft's id, and its entry as a JSON line."""
        draft = self._drafts.read(key)
        return draft.id, f"{json.dumps(draft.entry)}\n"

    def _create(self, entry: Json, base: str | None = None) -> str:
        """Store a new draft; if the folder is full, first discard drafts without changes."""
        if self._drafts.is_full:
            entries = self._file.entries()
            for key, draft in list(self._drafts.all()):
                if _is_saved(draft, entries):
                    self._drafts.discard(key)
        return self._drafts.create(entry, base)

    def _given(self, given: Json) -> tuple[str, Draft]:
        """Return the named draft. Raises DataError if another window has changed the draft."""
        key = given.get("draft")
        draft = self._drafts.read(key if isinstance(key, str) else "")
        if given.get("revision") != draft.revision:
            raise DataError("draft", "another window has changed this draft; reload the page")
        return str(key), draft

    def _shown(self, key: str, draft: Draft) -> Json:
        entries = self._file.entries()
        saved = entries.get(draft.id)
        status = self._file.statuses({draft.id: saved})[draft.id] if saved else None
        return {
            "draft": key,
            "revision": draft.revision,
            "entry": draft.entry,
            "saved": _is_saved(draft, entries),
            "name": self._name,
            "status": review_json(status) if status else None,
            "played": play_draft(draft.entry),
        }


def _is_saved(draft: Draft, entries: Mapping[str, Trajectory]) -> bool:
    saved = entries.get(draft.id)
    if saved is None or entry_version(saved) != draft.base:
        return False
    try:
        return entry_version(read_draft(draft.entry)) == draft.base
    except DataError:
        return False


def _check_id(id: object) -> str:
    if not isinstance(id, str) or not id.isprintable() or not 1 <= len(id) <= _MAX_ID_CHARS:
        raise DataError("id", f"must have 1 to {_MAX_ID_CHARS} printable characters")
    return id


def _copied(source: Dataset, id: str) -> Json:
    """Return a copy of an entry; the copy's provenance contains only the id of the original."""
    entry = to_json(get_entry(source, id))
    return {**entry, "provenance": {"source": f"{source.name}: {id}"}}


def _signed(entry: Json, author: str) -> Json:
    """Return the entry with the author or the last editor in its provenance."""
    before = entry.get("provenance", {})
    role = "author" if before.get("author", author) == author else "editor"
    return {**entry, "provenance": {**before, role: author}}
