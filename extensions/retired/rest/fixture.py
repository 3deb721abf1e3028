"""Fixture web service (a small library) for entries of the category ``rest``.

The service runs on loopback during a run and answers with JSON. The service confirms changes
without storing the changes. The function ``answer`` contains the logic of the service.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from extensions.retired.functions.web import WebAnswer

HOST = "fixture.localhost"
"""Host name of the fixture in the URLs of entries; the port does not matter."""
API_KEY = "reader-7"
TOKEN = "staff-42"

_BOOKS: tuple[dict[str, Any], ...] = (
    {"id": 1, "title": "The Salt Road", "author": "I. Maren", "year": 1998, "copies": 3},
    {"id": 2, "title": "Night Ferries", "author": "I. Maren", "year": 2004, "copies": 1},
    {"id": 3, "title": "A Field Guide to Fog", "author": "P. Oduya", "year": 2011, "copies": 2},
    {"id": 4, "title": "Counting Herons", "author": "L. Brandt", "year": 2016, "copies": 4},
    {"id": 5, "title": "The Quiet Lathe", "author": "P. Oduya", "year": 2019, "copies": 1},
    {"id": 6, "title": "Letters from Pier 9", "author": "S. Ito", "year": 2021, "copies": 2},
)
_ROOMS: tuple[dict[str, Any], ...] = (
    {"room": "1.01", "floor": 1, "seats": 24, "projector": True},
    {"room": "1.04", "floor": 1, "seats": 6, "projector": False},
    {"room": "2.01", "floor": 2, "seats": 8, "projector": True},
    {"room": "2.07", "floor": 2, "seats": 40, "projector": True},
)
_BRANCHES: Mapping[str, dict[str, Any]] = {
    "harbour": {"branch": "harbour", "city": "Oslo", "hours": {"open": "09:00", "close": "19:00"}},
    "hill": {"branch": "hill", "city": "Bergen", "hours": {"open": "10:00", "close": "16:00"}},
}
_LOANS: Mapping[str, list[dict[str, Any]]] = {
    "r-100": [{"book": 1, "due": "2026-04-10"}, {"book": 5, "due": "2026-04-17"}],
    "r-200": [],
}
_GREETINGS = {"en": "Welcome", "de": "Willkommen", "fr": "Bienvenue", "es": "Bienvenidos"}
_METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


def answer(
    path: str,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    method: str = "GET",
    content: bytes = b"",
) -> WebAnswer:
    """Return the service's answer; header names are in lower case."""
    parts = path.strip("/").split("/")
    if method == "OPTIONS":
        return WebAnswer(204, None, {"allow": ", ".join(_METHODS)})
    if method not in ("GET", "HEAD"):
        return _change(method, parts, headers, content)
    found = _read(parts, query, headers)
    return found._replace(body=None) if method == "HEAD" else found


def _change(method: str, path: list[str], headers: Mapping[str, str], content: bytes) -> WebAnswer:
    """Return the answer to a request that would change data; nothing is stored."""
    if headers.get("x-api-key") != API_KEY:
        return WebAnswer(401, {"error": "the header X-Api-Key is missing or wrong"})
    said = _parse_body(headers.get("content-type", ""), content)
    match method, path:
        case "POST", ["v1", "holds"]:
            return _hold(said)
        case "POST", ["v1", "questions"] if isinstance(said, dict) and said.get("text"):
            return WebAnswer(201, {"question": {"id": 7, "text": said["text"]}})
        case (("PUT" | "PATCH"), ["v1", "readers", reader]) if reader in _LOANS:
            return _reader(method, reader, said)
        case "DELETE", ["v1", "holds", id] if id.isdecimal():
            return WebAnswer(200, {"deleted": int(id)})
    return WebAnswer(404, {"error": "wrong path or method, or the body lacks a needed field"})


def _parse_body(kind: str, content: bytes) -> Any:
    """Parse a body as a form or as JSON; return None if this is not possible."""
    text = content.decode("utf-8", errors="replace")
    if kind.startswith("application/x-www-form-urlencoded"):
        return dict(parse_qsl(text, keep_blank_values=True))
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _hold(said: Any) -> WebAnswer:
    wanted = said if isinstance(said, dict) else {}
    book = next((each["id"] for each in _BOOKS if each["id"] == wanted.get("book")), None)
    reader = wanted.get("reader")
    if book is None or not isinstance(reader, str) or reader not in _LOANS:
        return WebAnswer(
            400, {"error": "`book` must be the id of a book, and `reader` the id of a reader"}
        )
    return WebAnswer(201, {"hold": {"id": 900 + book, "book": book, "reader": reader}})


def _reader(method: str, reader: str, said: Any) -> WebAnswer:
    known = ("email", "phone")
    if not isinstance(said, dict) or not said or {*said} - {*known}:
        return WebAnswer(
            400, {"error": f"the body must contain {' or '.join(known)}, and nothing else"}
        )
    if method == "PUT" and len(said) < len(known):
        return WebAnswer(
            400,
            {"error": "PUT needs all fields; PATCH needs the fields to change"},
        )
    return WebAnswer(
        200, {"reader": reader, "changed": {name: said[name] for name in sorted(said)}}
    )


def _read(path: list[str], query: Mapping[str, str], headers: Mapping[str, str]) -> WebAnswer:
    match path:
        case ["v1", "books"]:
            return _books(query)
        case ["v1", "books", id]:
            return _one([book for book in _BOOKS if str(book["id"]) == id], "book")
        case ["v1", "books", id, "availability"]:
            there = [{"id": b["id"], "copies": b["copies"]} for b in _BOOKS if str(b["id"]) == id]
            return _one(there, "book")
        case ["v1", "authors"]:
            return WebAnswer(200, sorted({book["author"] for book in _BOOKS}))
        case ["v1", "rooms"]:
            return _rooms(query)
        case ["v1", "rooms", name]:
            return _one([room for room in _ROOMS if room["room"] == name], "room")
        case ["v1", "branches"]:
            return WebAnswer(200, list(_BRANCHES.values()))
        case ["v1", "branches", name, "hours"]:
            return _one([b["hours"] for b in _BRANCHES.values() if b["branch"] == name], "branch")
        case ["v1", "readers", reader, "loans"]:
            return _loans(reader, headers)
        case ["v1", "reports", "circulation"]:
            return _circulation(query, headers)
        case ["v1", "greeting"]:
            return _greeting(headers)
    return _missing("resource")


def _books(query: Mapping[str, str]) -> WebAnswer:
    found = [
        book
        for book in _BOOKS
        if query.get("author", book["author"]) == book["author"]
        and query.get("title", "").lower() in book["title"].lower()
    ]
    since, limit = query.get("since", "0"), query.get("limit", "100")
    if not (since.isdecimal() and limit.isdecimal()):
        return WebAnswer(400, {"error": "`since` and `limit` must be whole numbers"})
    found = [book for book in found if book["year"] >= int(since)]
    return WebAnswer(200, {"total": len(found), "books": found[: int(limit)]})


def _rooms(query: Mapping[str, str]) -> WebAnswer:
    found = [
        room for room in _ROOMS if query.get("floor", str(room["floor"])) == str(room["floor"])
    ]
    seats = query.get("min_seats", "0")
    if not seats.isdecimal():
        return WebAnswer(400, {"error": "`min_seats` must be a whole number"})
    wants_projector = query.get("projector") == "true"
    return WebAnswer(
        200,
        [r for r in found if r["seats"] >= int(seats) and (r["projector"] or not wants_projector)],
    )


def _loans(reader: str, headers: Mapping[str, str]) -> WebAnswer:
    if headers.get("x-api-key") != API_KEY:
        return WebAnswer(401, {"error": "the header X-Api-Key is missing or wrong"})
    if reader not in _LOANS:
        return _missing("reader")
    return WebAnswer(200, {"reader": reader, "loans": _LOANS[reader]})


def _circulation(query: Mapping[str, str], headers: Mapping[str, str]) -> WebAnswer:
    if headers.get("authorization") != f"Bearer {TOKEN}":
        return WebAnswer(403, {"error": "only for staff"})
    year = query.get("year", "2025")
    return WebAnswer(200, {"year": year, "loans": 18250, "by_month": [1400, 1350, 1600, 1500]})


def _greeting(headers: Mapping[str, str]) -> WebAnswer:
    language = headers.get("accept-language", "en")[:2]
    greeting = _GREETINGS.get(language, _GREETINGS["en"])
    return WebAnswer(200, {"language": language, "greeting": greeting})


def _one(found: list[Any], kind: str) -> WebAnswer:
    return WebAnswer(200, found[0]) if found else _missing(kind)


def _missing(kind: str) -> WebAnswer:
    return WebAnswer(404, {"error": f"no such {kind}"})


class FixtureService:
    """Running service on a daemon thread; it listens on ``port``."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.port: int = self._server.server_address[1]
        Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Stop the service."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        length = self.headers.get("Content-Length", "0")
        sent = self.rfile.read(int(length)) if length.isdecimal() else b""
        query = dict(parse_qsl(parts.query))
        found = answer(unquote(parts.path), query, headers, self.command, sent)
        content = b"" if found.body is None else json.dumps(found.body).encode()
        self.send_response(found.status)
        for name, value in found.headers.items():
            self.send_header(name.title(), value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, because the run records all requests."""
