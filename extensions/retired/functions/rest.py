"""Web client environment with one function per HTTP method.

This module uses no network: the runner connects a sender, which also checks access. A client
without a sender returns the answers recorded in its state or in the fixture. The client itself
refuses only invalid requests.
"""

from __future__ import annotations

import json as json_format
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from typing_extensions import TypedDict

from envs.backend import Backend, reads, writes
from envs.errors import InvalidArgument, NotFound, Refused
from envs.state import cut_repr
from extensions.library.bounds import check_count
from extensions.retired.functions import public_answers
from extensions.retired.functions.web import Sender, WebAnswer, WebRequest

_MAX_URL_CHARS = 2_000
_MAX_BODY_CHARS = 20_000
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADERS_OF_OURS = (
    *("connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization"),
    *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
)
"""Headers that only the client sets, for routing and framing."""
_HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,1000}")
_SHOWN_HEADERS = ("allow", "content-type", "location")
_PLACEHOLDER = re.compile(r"\{(\w{1,100})\}", re.ASCII)
_FORM = "application/x-www-form-urlencoded"
_BODY = "body: Response body: parsed JSON, or text."
_HEADERS = "headers: Headers allow, content-type and location of the response, if present."
_ROOMS = '"body": [{"room": "2.01", "seats": 8}]'
_NO_HEADERS = '"headers": {}'
_SEATS = "?floor=2', json={'seats': 8}"
Scalar = str | int | float | bool
Json = dict[str, Any] | list[Any] | str | float | bool | None
Query = Mapping[str, Scalar | list[Scalar] | None]


class RestConfig(TypedDict, total=False):
    """Initial config of the REST client."""

    answers: dict[str, Any]
    """Maps a URL with a sorted query to a response body."""


def _asking(method: str, does: str, returned: str, answer: str) -> Callable[..., dict[str, Any]]:
    """Return the function that sends requests without a body, such as GET."""
    called = f"http_{method.lower()}"

    def ask(
        self: RestClient,
        url: str,
        params: dict[str, Scalar] | None = None,
        headers: dict[str, str] | None = None,
        path_params: dict[str, str | int] | None = None,
    ) -> dict[str, Any]:
        return self._told(_request(method, url, params, headers, path_params))

    ask.__doc__ = f"""Send an HTTP {method} request {does}.

    Args:
        url: URL, beginning with http:// or https://; {{name}} is a path parameter.
        params: Query parameters by name, or null.
        headers: Request headers by name, or null.
        path_params: Path parameters by name, or null if the URL has none.

    Returns:
        status: HTTP status of the response, from 200 to 299.
        {returned}

    Examples:
        >>> {called}(url='http://fixture.localhost/v1/rooms', params={{'floor': 2}})
        {{"status": 200, {answer}}}
        >>> {called}(url='http://fixture.localhost/v1/rooms', params={{'floor': 9}})
        {{"error": "No service answers at http://fixture.localhost/v1/rooms?floor=9."}}
    """
    return reads(ask)


def _sending(method: str, does: str, shown: str) -> Callable[..., dict[str, Any]]:
    """Return the function for a method of HTTP that sends JSON or a form."""
    called = f"http_{method.lower()}"

    def send(
        self: RestClient,
        url: str,
        json: Json = None,
        form: dict[str, Scalar] | None = None,
        params: dict[str, Scalar] | None = None,
        headers: dict[str, str] | None = None,
        path_params: dict[str, str | int] | None = None,
    ) -> dict[str, Any]:
        return self._told(
            _request(
                method,
                url,
                params=params,
                headers=headers,
                path_params=path_params,
                json=json,
                form=form,
            )
        )

    send.__doc__ = f"""Send an HTTP {method} request {does}.

    Args:
        url: URL, beginning with http:// or https://; {{name}} is a path parameter.
        json: JSON value to send as the body, or null.
        form: Form fields to send as the body, or null.
        params: Query parameters by name, or null.
        headers: Request headers by name, or null.
        path_params: Path parameters by name, or null if the URL has none.

    Returns:
        status: HTTP status of the response, from 200 to 299.
        {_BODY}

    Examples:
        >>> {called}(url='http://fixture.localhost/v1/rooms{shown})
        {{"status": 200, {_ROOMS}}}
        >>> {called}(url='http://fixture.localhost/v1/rooms', json={{}}, form={{'a': 'b'}})
        {{"error": "Set json or form, not both."}}
    """
    return writes(send)


class RestClient(Backend):
    """A client for web services."""

    Config = RestConfig
    aliases = {"requests.get": "requests_get"}

    answers: dict[str, Any] = {}
    _send: Sender | None = None

    def connect(self, send: Sender) -> None:
        """Use a sender for all requests; without a sender, the fixture answers."""
        self._send = send

    http_get = _asking("GET", "to read a resource of a web service", _BODY, _ROOMS)
    http_head = _asking("HEAD", "to read the headers of a resource", _HEADERS, _NO_HEADERS)
    http_options = _asking("OPTIONS", "to list the allowed methods", _HEADERS, _NO_HEADERS)
    http_post = _sending("POST", "to submit data", "', params={'floor': 2}, json={}")
    http_put = _sending("PUT", "to replace a resource", _SEATS)
    http_patch = _sending("PATCH", "to change parts of a resource", _SEATS)

    @writes
    def http_delete(
        self,
        url: str,
        json: Json = None,
        params: dict[str, Scalar] | None = None,
        headers: dict[str, str] | None = None,
        path_params: dict[str, str | int] | None = None,
    ) -> dict[str, Any]:
        """Send an HTTP DELETE request to delete a resource.

        Args:
            url: URL, beginning with http:// or https://; {name} is a path parameter.
            json: JSON value to send as the body, or null.
            params: Query parameters by name, or null.
            headers: Request headers by name, or null.
            path_params: Path parameters by name, or null if the URL has none.

        Returns:
            status: HTTP status of the response, from 200 to 299.
            body: Response body: parsed JSON, or text.

        Examples:
            >>> http_delete(url='http://fixture.localhost/v1/rooms', params={'floor': 2})
            {"status": 200, "body": [{"room": "2.01", "seats": 8}]}
            >>> http_delete(url='http://fixture.localhost/v1/rooms', params={'floor': 9})
            {"error": "No service answers at http://fixture.localhost/v1/rooms?floor=9."}
        """
        return self._told(_request("DELETE", url, params, headers, path_params, json))

    @reads
    def requests_get(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        timeout: float | list[float] | None = None,
        params: dict[str, Scalar | list[Scalar] | None] | None = None,
        allow_redirects: bool = True,
        auth: Sequence[str] | None = None,
        cert: str | list[str] | None = None,
        cookies: dict[str, str] | None = None,
        proxies: dict[str, str] | None = None,
        stream: bool = False,
        verify: bool | str = True,
    ) -> dict[str, Any]:
        """Send an HTTP GET request. The parameters are those of Python's requests.get.

        Args:
            url: URL, beginning with http:// or https://.
            headers: Request headers by name, or null.
            timeout: Timeout in seconds; ignored.
            params: Query parameters by name, or null. A list sends one parameter for each value.
            allow_redirects: Whether to follow redirects; ignored.
            auth: User name and password for basic authentication, or null.
            cert: Client certificate; not supported.
            cookies: Cookies by name, or null.
            proxies: Proxies; not supported.
            stream: Whether to stream the response; ignored.
            verify: Whether to verify the server's certificate; ignored.

        Returns:
            status: HTTP status of the response, from 200 to 299.
            body: Response body: parsed JSON, or text.

        Examples:
            >>> requests_get(url='http://fixture.localhost/v1/rooms', params={'floor': 2})
            {"status": 200, "body": [{"room": "2.01", "seats": 8}]}
            >>> requests_get(url='http://fixture.localhost/v1/rooms', params={'floor': 9})
            {"error": "No service answers at http://fixture.localhost/v1/rooms?floor=9."}
        """
        if (cert and cert != "None") or proxies:
            raise InvalidArgument("cert and proxies are not supported; leave them out.")
        return self._told(_request("GET", url, params, _signed(headers, auth, cookies)))

    def _told(self, request: WebRequest) -> dict[str, Any]:
        """Send a request and return the result that the model reads.

        Raises ToolError if the service does not answer, or answers with an error status.
        """
        status, body, headers, fixture = (self._send or self._recorded)(request)
        if not 200 <= status < 300:
            raise Refused(f"The service returned status {status}: {cut_repr(body, 500)}")
        told: dict[str, Any] = {"status": status}
        if request.method in ("HEAD", "OPTIONS"):
            told["headers"] = {n: headers[n] for n in _SHOWN_HEADERS if n in headers}
        else:
            told["body"] = body
        return {**told, "answered_by": "fixture"} if fixture else told

    def _recorded(self, request: WebRequest) -> WebAnswer:
        if request.url in self.answers:
            return WebAnswer(200, self.answers[request.url])
        if public_answers.is_known(urlsplit(request.url).hostname or ""):
            return public_answers.answer(request)
        raise NotFound(f"No service answers at {request.url[:200]}.")


def _request(
    method: str,
    url: str,
    params: Query | None,
    headers: Mapping[str, str] | None,
    path_params: Mapping[str, str | int] | None = None,
    json: Any = None,
    form: Mapping[str, Scalar] | None = None,
) -> WebRequest:
    """Build a request. Raises InvalidArgument if the arguments do not make a valid request."""
    address = full_url(_filled(url, path_params), params or {})
    given = dict(headers or {})
    _check_headers(given)
    if json is not None and form is not None:
        raise InvalidArgument("Set json or form, not both.")
    content = b""
    if json is not None:
        content, kind = json_format.dumps(json).encode(), "application/json"
    elif form is not None:
        content, kind = _query(list(form.items())).encode(), _FORM
    if content and "content-type" not in map(str.lower, given):
        given["Content-Type"] = kind
    check_count("the body", content.decode(), 0, _MAX_BODY_CHARS)
    return WebRequest(address, given, method, content)


def _filled(url: str, path_params: Mapping[str, str | int] | None) -> str:
    if path_params is None:
        return url
    check_count("url", url, 1, _MAX_URL_CHARS)
    places = _PLACEHOLDER.findall(url)
    if sorted({*places}) != sorted(path_params):
        raise InvalidArgument(
            f"path_params must have the path parameters of the URL ({', '.join(places) or 'none'})."
        )
    try:
        written = {name: quote(str(value), safe="") for name, value in path_params.items()}
    except UnicodeEncodeError:
        raise _half_a_character("path_params") from None
    return _PLACEHOLDER.sub(lambda place: written[place[1]], url)


def _signed(
    headers: Mapping[str, str] | None,
    auth: Sequence[str] | None,
    cookies: Mapping[str, str] | None,
) -> dict[str, str]:
    """Add headers for authentication and cookies; return all headers."""
    signed = dict(headers or {})
    if cookies:
        signed["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    if not auth or auth == "None":
        return signed
    if isinstance(auth, str) or len(auth) != 2:
        raise InvalidArgument("auth must be a list of two strings: user name and password.")
    try:
        signed["Authorization"] = f"Basic {b64encode(':'.join(auth).encode()).decode()}"
    except UnicodeEncodeError:
        raise _half_a_character("auth") from None
    return signed


def full_url(url: str, params: Query) -> str:
    """Add parameters to a URL's query, and sort the whole query by name.

    Raises InvalidArgument if the text is not a URL of a web service.
    """
    check_count("url", url, 1, _MAX_URL_CHARS)
    try:
        parts = urlsplit(url)
        named = parts.hostname and parts.port != 0 and "@" not in parts.netloc
        valid = parts.scheme in ("http", "https") and named
    except ValueError:
        valid = False
    if not valid or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidArgument(f"{url!r:.200} is not a URL such as http://host/path.")
    query: list[tuple[str, Any]] = [*parse_qsl(parts.query, keep_blank_values=True)]
    for name, value in params.items():
        query += [(name, each) for each in (value if isinstance(value, list) else [value])]
    written = _query(sorted([(name, _written(each)) for name, each in query if each is not None]))
    address = urlunsplit((*parts[:3], written, ""))
    check_count("the URL", address, 1, _MAX_URL_CHARS)
    return address


def _query(pairs: list[tuple[str, Any]]) -> str:
    try:
        return urlencode([(name, _written(value)) for name, value in pairs])
    except UnicodeEncodeError:
        raise _half_a_character("params") from None


def _half_a_character(name: str) -> InvalidArgument:
    return InvalidArgument(f"{name} contains a lone surrogate; remove it.")


def _written(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_headers(headers: Mapping[str, str]) -> None:
    check_count("headers", list(headers), 0, 20)
    for name, value in headers.items():
        if name.lower() in _HEADERS_OF_OURS:
            raise InvalidArgument(f"The client sets {name} itself; leave it out.")
        if not (_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)):
            raise InvalidArgument(f"{name!r:.100}: {value!r:.100} is not a valid header.")
