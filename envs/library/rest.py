"""A client for web services, whose one function is an HTTP GET.

Nothing here touches a network. The runner connects the client with what does; a client that is not
connected gives the answers that are recorded in its state, by URL. What is asked, and who may be,
is checked by whoever answers; here only what could be no request is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from typing_extensions import TypedDict

from envs.backend import Backend, reads
from envs.errors import InvalidArgument, NotFound, Refused
from envs.library.bounds import check_count
from envs.state import brief

_LONGEST_URL = 2_000
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADERS_OF_OURS = ("host", "connection", "content-length", "transfer-encoding")
"""They say whom is asked, and where a request ends."""
_HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,1000}")


class WebAnswer(NamedTuple):
    """What a web service answered."""

    status: int
    """HTTP status."""
    body: Any
    """The parsed JSON, or the text where it is none."""


Getter = Callable[[str, Mapping[str, str]], WebAnswer]
"""Asks for a URL with headers; raises ToolError where there is no answer."""


class RestConfig(TypedDict, total=False):
    """Initial config of the REST client."""

    answers: dict[str, Any]
    """URL, its query sorted by name, to the body that a client without a connection gives."""


class RestClient(Backend):
    """A client for web services."""

    Config = RestConfig

    answers: dict[str, Any] = {}
    _get: Getter | None = None

    def connect(self, get: Getter) -> None:
        """Have requests answered by something else than the recorded answers."""
        self._get = get

    @reads
    def http_get(
        self,
        url: str,
        params: dict[str, str | int | float | bool] | None = None,
        headers: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send an HTTP GET request to a web service.

        Args:
            url: The address, beginning with http:// or https://, path parameters filled in.
            params: Query parameters by name, or null.
            headers: Request headers by name, or null.

        Returns:
            status: HTTP status of the answer, below 300.
            body: The answer: parsed JSON, or text.

        Examples:
            >>> http_get(url='http://fixture.localhost/v1/rooms', params={'floor': 2})
            {"status": 200, "body": [{"room": "2.01", "seats": 8}]}
            >>> http_get(url='http://fixture.localhost/v1/rooms', params={'floor': 9})
            {"error": "Nothing answers at http://fixture.localhost/v1/rooms?floor=9."}
        """
        address = full_url(url, params or {})
        _check_headers(headers or {})
        status, body = (self._get or self._recorded)(address, headers or {})
        if not 200 <= status < 300:
            raise Refused(f"The service answers with status {status}: {brief(body, 500)}")
        return {"status": status, "body": body}

    def _recorded(self, address: str, headers: Mapping[str, str]) -> WebAnswer:
        if address not in self.answers:
            raise NotFound(f"Nothing answers at {address[:200]}.")
        return WebAnswer(200, self.answers[address])


def full_url(url: str, params: Mapping[str, str | int | float | bool]) -> str:
    """Return a URL with parameters added to its query, all sorted by name.

    Raises:
        InvalidArgument: It is no URL of a web service.
    """
    check_count("url", url, 1, _LONGEST_URL)
    try:
        parts = urlsplit(url)
        named = parts.hostname and parts.port != 0 and "@" not in parts.netloc
        valid = parts.scheme in ("http", "https") and named
    except ValueError:
        valid = False
    if not valid or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidArgument(f"{url!r:.200} is no address: give one such as http://host/path.")
    query = parse_qsl(parts.query, keep_blank_values=True)
    query += [(name, _written(value)) for name, value in params.items()]
    try:
        written = urlencode(sorted(query))
    except UnicodeEncodeError:
        raise InvalidArgument("params has half a character (a surrogate): leave it out.") from None
    address = urlunsplit((*parts[:3], written, ""))
    check_count("the address", address, 1, _LONGEST_URL)
    return address


def _written(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_headers(headers: Mapping[str, str]) -> None:
    check_count("headers", list(headers), 0, 20)
    for name, value in headers.items():
        if name.lower() in _HEADERS_OF_OURS:
            raise InvalidArgument(f"{name} is set by the client itself: leave it out.")
        if not (_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)):
            raise InvalidArgument(f"{name!r:.100}: {value!r:.100} is no header.")
