"""Web services as entries ask them: by any method of HTTP, and found out before a run to be up.

The URL comes from a model. So nothing but our fixtures is reached unless the user names more, on
this machine neither; no proxy is used, no redirect is followed, and how long is waited for more and
how much is read is bounded. What stands for public services (``functions/public_answers.py``) is no
server: it is asked in this process, unless the network is allowed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from ipaddress import ip_address
from socket import SHUT_RDWR, socket
from ssl import SSLContext
from threading import Timer
from typing import Any, NamedTuple

import httpx

from envs.backend import Backend
from envs.calls import Call, check_bounds, parse_call
from envs.errors import AccessDenied, MalformedCall, Refused, ToolError
from envs.registry import tools_of
from envs.session import Session
from envs.tool import bind
from extensions.retired.functions import public_answers
from extensions.retired.functions.public_services import PublicServices
from extensions.retired.functions.rest import RestClient
from extensions.retired.functions.web import ASKING, Sender, WebAnswer, WebRequest
from extensions.retired.rest.fixture import HOST, Service
from runner.data.services import FIXTURE_ONLY, Reach
from trajectories.schema import Trajectory

_TIMEOUT = 10.0
"""Seconds to wait for a connection, or for more of an answer."""
_DEADLINE = 30.0
"""Seconds that one request may take in all."""
_LARGEST = 1_000_000
"""Bytes of an answer that are read."""
_PORTS = {"http": 80, "https": 443}
_KEYS = {
    "YOUR-RAPID-API-KEY": ("RAPID_API_KEY", ".p.rapidapi.com"),
    "YOUR-EXCHANGERATE-API-KEY": ("EXCHANGERATE_API_KEY", "v6.exchangerate-api.com"),
    "YOUR-GEOCODE-API-KEY": ("GEOCODE_API_KEY", "geocode.maps.co"),
    "YOUR-OMDB-API-KEY": ("OMDB_API_KEY", "www.omdbapi.com"),
}
"""What stands for a key in requests, the variable that has it, and how the names of the hosts end
that get it."""


def connect(backend: Backend, reach: Reach) -> None:
    """Have a backend ask web services."""
    assert isinstance(backend, (RestClient, PublicServices))
    backend.connect(sender(reach))


@cache
def sender(reach: Reach) -> Sender:
    """Return what asks the fixtures, and what else may be asked."""
    return HttpSender({HOST: _fixture_port}, reach)


@cache
def _fixture_port() -> int:
    """Return where the fixture service is: up from the first time it is needed to the very end."""
    return Service().port


class HttpSender:
    """Puts requests to web services.

    Args:
        ports: By host name what gives the port, for services that are started here.
        reach: Which others may be asked.
    """

    def __init__(self, ports: Mapping[str, Callable[[], int]], reach: Reach = FIXTURE_ONLY) -> None:
        self._ports = ports
        self._services = {(_place(host), port) for host, port in reach.services}
        self._network = reach.network

    def __call__(self, request: WebRequest) -> WebAnswer:
        """Put a request.

        Raises:
            ToolError: It may not be put, or there is no answer that can be read.
        """
        url = _parsed(request.url)
        host, place = url.host, _place(url.host)
        if url.port is None and host in self._ports:
            port, named_by_user = self._ports[host](), True
        else:
            port = url.port or _PORTS[url.scheme]
            named_by_user = (place, port) in self._services or self._is_ours(place, port)
        public = public_answers.is_known(host)
        if public and not self._network and not named_by_user:
            return public_answers.answer(request)
        if not named_by_user and (_is_local(host) or not self._network):
            raise _denied(host, port)
        if public:
            request = _with_keys(request, host)
            url = _parsed(request.url)
        return _asked(request, url, (place, port), anywhere=named_by_user)

    def _is_ours(self, place: str, port: int) -> bool:
        return any(_place(host) == place and find() == port for host, find in self._ports.items())


def _parsed(url: str) -> httpx.URL:
    try:
        return httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Refused(f"{url[:100]!r} is no address that can be asked: {error}.") from None


def _with_keys(request: WebRequest, host: str) -> WebRequest:
    """Return a request to a public service with the user's key for it where it says that it goes.

    A model may write anywhere what stands for a key; no other host gets it.
    """

    def filled(text: str) -> str:
        for mark, (variable, end) in _KEYS.items():
            if host.endswith(end):
                text = text.replace(mark, os.environ.get(variable, mark))
        return text

    headers = {name: filled(value) for name, value in request.headers.items()}
    return request._replace(url=filled(request.url), headers=headers)


def _asked(
    request: WebRequest, url: httpx.URL, where: tuple[str, int], *, anywhere: bool
) -> WebAnswer:
    """Return what a service answers at a host and port, on this machine only if ``anywhere``.

    Raises:
        ToolError: There is no answer that can be read.
    """
    watch = _Watch(anywhere=anywhere, denied=_denied(url.host, where[1]))
    named = {name.lower(): value for name, value in request.headers.items()}
    outgoing = httpx.Request(
        request.method,
        url.copy_with(host=where[0], port=where[1], fragment=None),
        headers={"accept-encoding": "identity", "connection": "close", **named}
        | {"host": url.netloc.decode()},
        content=request.content,
        extensions={"timeout": dict.fromkeys(_WAITS, _TIMEOUT), "trace": watch.trace},
    )
    try:
        with watch.in_time(), httpx.HTTPTransport(verify=_trusted()) as transport:
            response = transport.handle_request(outgoing)
            content = _content(response)
        if watch.late:
            raise TimeoutError
    except (OSError, httpx.HTTPError) as error:
        reason = str(error) or type(error).__name__
        if watch.late:
            reason = f"it took more than {_DEADLINE:g} seconds"
        netloc = url.netloc.decode()[:100]
        raise Refused(f"{netloc} gives no answer: {reason[:200]}.") from None
    headers = {name.lower(): value for name, value in response.headers.items()}
    return WebAnswer(response.status_code, _read(content), headers)


@cache
def _trusted() -> SSLContext:
    """Return whom to trust; to read that takes longer than a request."""
    return httpx.create_ssl_context(trust_env=False)


_WAITS = ("connect", "read", "write", "pool")


def _content(response: httpx.Response) -> bytes:
    """Return the content of an answer, one byte more than what is read at most.

    Raises:
        Refused: It is encoded.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused("The answer is encoded, which was not asked for.")
    content = b""
    for part in response.iter_raw():
        content += part
        if len(content) > _LARGEST:
            break
    return content[: _LARGEST + 1]


class _Watch:
    """Watches one connection be made, before anything is sent through it."""

    def __init__(self, *, anywhere: bool, denied: AccessDenied) -> None:
        self._anywhere = anywhere
        self._denied = denied
        self._connected: socket | None = None
        self.late = False

    def trace(self, event: str, information: Mapping[str, Any]) -> None:
        """Keep the connection, and let none come to be with what may not be asked."""
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            return
        stream = information["return_value"]
        self._connected = stream.get_extra_info("socket")
        if not self._anywhere and _is_local(_peer(self._connected)):
            stream.close()
            raise self._denied

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """End the connection when it takes too long, however often something comes."""
        timer = Timer(_DEADLINE, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _cut(self) -> None:
        self.late = True
        if self._connected is not None:
            with suppress(OSError):
                self._connected.shutdown(SHUT_RDWR)


def _denied(host: str, port: int) -> AccessDenied:
    """Return what a model is told of a service that may not be asked."""
    if _is_local(host):
        who = "nothing but the fixture is asked on this machine"
        return AccessDenied(f"{who} without --allow-host {host[:100]}:{port}.")
    who = f"{host[:100]} is not this machine; other services are"
    return AccessDenied(f"{who} only asked with --allow-network or --allow-host.")


def _peer(connected: socket) -> str:
    """Return the address that a name came to."""
    return str(connected.getpeername()[0])


def _place(host: str) -> str:
    """Return where a host is: this machine has many names."""
    return "127.0.0.1" if _is_local(host) and not _is_address(host) else host


def _is_local(host: str) -> bool:
    """Tell whether a host is this machine by its name; no other name is looked up to find out."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return _is_address(host) and ip_address(host).is_loopback


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _read(content: bytes) -> Any:
    """Return the JSON of an answer, or its text where it is none.

    Raises:
        Refused: It is too large, or nested too deep.
    """
    if len(content) > _LARGEST:
        raise Refused(f"The answer has more than {_LARGEST} bytes.")
    text = content.decode("utf-8", errors="replace")
    try:
        body = json.loads(text)
        check_bounds(body)
    except (MalformedCall, RecursionError):
        raise Refused("The answer is nested too deep, or has numbers that are too large.") from None
    except ValueError:
        return text
    return body


class Probe(NamedTuple):
    """One request of a ground truth, and what became of it."""

    trajectory: str
    call: Call
    problem: str | None
    """Why there is no answer; None where there is one."""
    fixture: bool = False
    """Whether a recorded answer of ours stands in for that of a public service."""

    @property
    def url(self) -> str:
        """The URL without query parameters, or the call where it names none."""
        return _url_of(self.call) or str(self.call)


def ask_all(
    trajectories: Iterable[Trajectory], send: Sender, *, changing: bool = False
) -> list[Probe]:
    """Make the requests of the ground truths of entries, and return what became of each.

    With ``changing`` also those are made that may change something where they are sent.
    """
    session = Session.load(ASKING, {})
    for backend in session.backends.values():
        assert isinstance(backend, (RestClient, PublicServices))
        backend.connect(send)
    found = []
    for trajectory in trajectories:
        for call in _requests(trajectory, changing=changing):
            # In one of its own, since the calls of a session are counted.
            result = session.fork().call(call)
            problem = result.error.message if result.error else None
            recorded = result.ok and result.value.get("answered_by") == "fixture"
            found.append(Probe(trajectory.id, call, problem, recorded))
    return found


def asks_public(trajectory: Trajectory) -> bool:
    """Tell whether a request of an entry's ground truth is for a public service."""
    made = _requests(trajectory, changing=True)
    if PublicServices.__name__ in trajectory.environments:
        return any(call.name in PublicServices.TOOLS for call in made)
    return any(public_answers.is_known(_host(_url_of(call) or "")) for call in made)


def _host(url: str) -> str:
    """Return the host of a URL, nothing of what is none."""
    try:
        return httpx.URL(url).host
    except (httpx.InvalidURL, UnicodeError):
        return ""


def _url_of(call: Call) -> str | None:
    """Return the URL that a request names, None where it is the function that knows it."""
    arguments = bind(tools_of(ASKING)[call.name], call.args, call.kwargs)
    return str(arguments["url"]) if "url" in arguments else None


def _requests(trajectory: Trajectory, *, changing: bool) -> Iterator[Call]:
    """Yield the requests of a ground truth, but for those that would be refused."""
    if {*ASKING}.isdisjoint(trajectory.environments):
        return
    tools = tools_of(ASKING)
    for text in [text for turn in trajectory.turns for text in turn.ground_truth]:
        with suppress(MalformedCall, ToolError):
            call = parse_call(text)
            if call.name in tools and (changing or not tools[call.name].writes):
                bind(tools[call.name], call.args, call.kwargs)
                yield call
