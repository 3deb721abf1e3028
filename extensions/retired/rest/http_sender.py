"""Send the HTTP requests of entries, and check the services before a run.

URLs come from a model, so requests reach only fixtures unless the user allows more. With network
access, requests reach public addresses, but no private ones. Each address is checked twice: before
the connection, and while the connection is made. Proxies and redirects are not used. Time and size
are limited. Without network access, ``functions/public_answers.py`` answers for public services.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from socket import SHUT_RDWR, SOCK_STREAM
from ssl import SSLContext
from threading import Timer
from typing import Any, NamedTuple

import httpx

from envs.backend import Backend
from envs.calls import Call, check_bounds, parse_call
from envs.errors import AccessDenied, MalformedCall, Refused, ToolError
from envs.registry import list_tools
from envs.session import Session
from envs.tool import bind
from extensions.retired.functions import public_answers
from extensions.retired.functions.public_services import PublicServices
from extensions.retired.functions.rest import RestClient
from extensions.retired.functions.web import ASKING, Sender, WebAnswer, WebRequest
from extensions.retired.rest.fixture import HOST, FixtureService
from runner.data.web_services import FIXTURE_ONLY, AllowedServices
from trajectories.schema import Trajectory

_TIMEOUT = 10.0
"""Maximum seconds to wait for a connection or more data."""
_DEADLINE = 30.0
"""Maximum seconds of a request."""
_MAX_BYTES = 1_000_000
"""Maximum bytes of an answer."""
_PORTS = {"http": 80, "https": 443}
_NAT64 = IPv6Network("64:ff9b::/96")
"""IPv6 addresses that contain an IPv4 address in their last four bytes."""
_PUBLIC = (IPv4Network("0.0.0.0/0"), IPv6Network("2000::/3"))
"""Networks with public addresses."""
_PROTOCOLS = IPv4Network("192.0.0.0/24")
"""Addresses that are reserved for protocols, for example for a cloud's metadata service."""
_PLATFORM = IPv4Address("168.63.129.16")
"""Address of Azure's internal services; only Azure's virtual machines can reach it."""
_KEYS = {
    "YOUR-RAPID-API-KEY": ("RAPID_API_KEY", ".p.rapidapi.com"),
    "YOUR-EXCHANGERATE-API-KEY": ("EXCHANGERATE_API_KEY", "v6.exchangerate-api.com"),
    "YOUR-GEOCODE-API-KEY": ("GEOCODE_API_KEY", "geocode.maps.co"),
    "YOUR-OMDB-API-KEY": ("OMDB_API_KEY", "www.omdbapi.com"),
}
"""For each API key: its placeholder, the environment variable and the host."""


def connect(backend: Backend, reach: AllowedServices) -> None:
    """Connect a backend to web services."""
    assert isinstance(backend, (RestClient, PublicServices))
    backend.connect(sender(reach))


@cache
def sender(reach: AllowedServices) -> Sender:
    """Return a sender that can reach the fixtures and the allowed services."""
    return HttpSender({HOST: _fixture_port}, reach)


@cache
def _fixture_port() -> int:
    """Return the fixture service's port; the first use starts the service."""
    return FixtureService().port


class HttpSender:
    """Sender of requests to web services.

    Args:
        ports: Functions that return the port of a local service, by host name.
        reach: Other services that are allowed.
    """

    def __init__(
        self, ports: Mapping[str, Callable[[], int]], reach: AllowedServices = FIXTURE_ONLY
    ) -> None:
        self._ports = ports
        self._services = {(_place(host), port) for host, port in reach.services}
        self._network = reach.network

    def __call__(self, request: WebRequest) -> WebAnswer:
        """Send a request.

        Raises ToolError if the request is not allowed or gets no readable answer.
        """
        url = _parse_url(request.url)
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
            url = _parse_url(request.url)
        return _send(request, url, (place, port), anywhere=named_by_user)

    def _is_ours(self, place: str, port: int) -> bool:
        return any(_place(host) == place and find() == port for host, find in self._ports.items())


def _parse_url(url: str) -> httpx.URL:
    try:
        return httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Refused(f"{url[:100]!r} is not a valid URL: {error}.") from None


def _with_keys(request: WebRequest, host: str) -> WebRequest:
    """Insert the user's API key if the request goes to the service that needs this key."""

    def filled(text: str) -> str:
        for mark, (variable, end) in _KEYS.items():
            if host.endswith(end):
                text = text.replace(mark, os.environ.get(variable, mark))
        return text

    headers = {name: filled(value) for name, value in request.headers.items()}
    return request._replace(url=filled(request.url), headers=headers)


def _send(
    request: WebRequest, url: httpx.URL, where: tuple[str, int], *, anywhere: bool
) -> WebAnswer:
    """Send a request to a host and port, and return the answer.

    If ``anywhere`` is false, the address must be public.

    Raises ToolError if the request gets no readable answer.
    """
    if not anywhere:
        _check_public(url.host, where[1])
    watch = _ConnectionGuard(anywhere=anywhere, denied=_not_public(url.host, where[1]))
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
        raise Refused(f"{netloc} did not respond: {reason[:200]}.") from None
    headers = {name.lower(): value for name, value in response.headers.items()}
    return WebAnswer(response.status_code, _read(content), headers)


@cache
def _trusted() -> SSLContext:
    return httpx.create_ssl_context(trust_env=False)


_WAITS = ("connect", "read", "write", "pool")


def _content(response: httpx.Response) -> bytes:
    """Return the content of an answer, cut if it is too long.

    Raises Refused if the content is encoded.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused("The response is encoded, although the request did not ask for an encoding.")
    content = b""
    for part in response.iter_raw():
        content += part
        if len(content) > _MAX_BYTES:
            break
    return content[: _MAX_BYTES + 1]


class _ConnectionGuard:
    """Guard that checks the address of a connection before the request is sent."""

    def __init__(self, *, anywhere: bool, denied: AccessDenied) -> None:
        self._anywhere = anywhere
        self._denied = denied
        self._connected: socket.socket | None = None
        self.late = False

    def trace(self, event: str, information: Mapping[str, Any]) -> None:
        """Close each new connection to an address that is not allowed."""
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            return
        stream = information["return_value"]
        self._connected = stream.get_extra_info("socket")
        peer, own = _peer(self._connected), self._connected.getsockname()[0]
        # A connection to an own address comes from the same address.
        if not self._anywhere and (peer == own or not is_public(peer)):
            stream.close()
            raise self._denied

    @contextmanager
    def in_time(self) -> Iterator[None]:
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
    if _is_local(host):
        what = "the fixture is the only permitted local server"
        return AccessDenied(f"{what}; allow other requests by --allow-host {host[:100]}:{port}.")
    what = f"{host[:100]} is another machine"
    return AccessDenied(f"{what}; allow requests to it by --allow-network or --allow-host.")


def _not_public(host: str, port: int) -> AccessDenied:
    named = host[:100]
    return AccessDenied(f"{named} has no public address; it needs --allow-host {named}:{port}.")


def _check_public(host: str, port: int) -> None:
    """Check that all addresses of a host are public.

    Raises AccessDenied if an address is not public, and Refused if the host has no address.
    """
    try:
        found = socket.getaddrinfo(host, port, type=SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Refused(f"{host[:100]} cannot be resolved: {str(error)[:200]}.") from None
    if not all(is_public(str(address[0])) for *_, address in found):
        raise _not_public(host, port)


def is_public(text: str) -> bool:
    """Tell whether an address is public.

    If an IPv6 address contains an IPv4 address, only the IPv4 address counts.
    """
    address = ip_address(text)
    inner: IPv4Address | None = None
    if isinstance(address, IPv6Address):
        in_nat = IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
        tunnel = address.teredo[1] if address.teredo else None
        in_isatap = IPv4Address(int(address) & 0xFFFFFFFF) if _is_isatap(address) else None
        inner = address.ipv4_mapped or address.sixtofour or tunnel or in_nat or in_isatap
    if inner is not None:
        return is_public(str(inner))
    if address in _PROTOCOLS or address == _PLATFORM:
        return False
    in_public = any(address in network for network in _PUBLIC)
    return in_public and address.is_global and not address.is_multicast


def _is_isatap(address: IPv6Address) -> bool:
    """Tell whether an address contains an IPv4 address by RFC 5214 (ISATAP)."""
    return int(address) >> 32 & 0xFCFFFFFF == 0x00005EFE


def _peer(connected: socket.socket) -> str:
    return str(connected.getpeername()[0])


def _place(host: str) -> str:
    """Return a host's name or address; for any name of this machine, return 127.0.0.1."""
    return "127.0.0.1" if _is_local(host) and not _is_address(host) else host


def _is_local(host: str) -> bool:
    """Tell whether a host name or address means this machine."""
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
    """Return an answer as a JSON value, or else as a string.

    Raises Refused if the answer is too large or nested too deep.
    """
    if len(content) > _MAX_BYTES:
        raise Refused(f"The response has more than {_MAX_BYTES} bytes.")
    text = content.decode("utf-8", errors="replace")
    try:
        body = json.loads(text)
        check_bounds(body)
    except (MalformedCall, RecursionError):
        raise Refused(
            "The response is nested too deeply, or contains numbers that are too large."
        ) from None
    except ValueError:
        return text
    return body


class HealthProbe(NamedTuple):
    """Result of one ground-truth call that was sent to test its web service."""

    trajectory: str
    call: Call
    problem: str | None
    """Reason for a missing answer; None if there is an answer."""
    fixture: bool = False
    """Whether the fixture answered in place of the public service."""

    @property
    def url(self) -> str:
        """The call's URL without query parameters; the whole call if it has no URL argument."""
        return _url_of(self.call) or str(self.call)


def ask_all(trajectories: Iterable[Trajectory], send: Sender) -> list[HealthProbe]:
    """Send the requests of the entries' ground truths, and return the outcome of each request.

    Requests that may change data on the server are not sent.
    """
    session = Session.load(ASKING, {})
    for backend in session.backends.values():
        assert isinstance(backend, (RestClient, PublicServices))
        backend.connect(send)
    found = []
    for trajectory in trajectories:
        for call in _requests(trajectory, changing=False):
            # A session counts its calls, so each request gets a fork.
            result = session.fork().call(call)
            problem = result.error.message if result.error else None
            recorded = result.ok and result.value.get("answered_by") == "fixture"
            found.append(HealthProbe(trajectory.id, call, problem, recorded))
    return found


def asks_public(trajectory: Trajectory) -> bool:
    """Tell whether an entry's ground truth uses a public service."""
    made = _requests(trajectory, changing=True)
    if PublicServices.__name__ in trajectory.environments:
        return any(call.name in PublicServices.TOOLS for call in made)
    return any(public_answers.is_known(_host(_url_of(call) or "")) for call in made)


def _host(url: str) -> str:
    """Return the host of a URL; empty if the URL is invalid."""
    try:
        return httpx.URL(url).host
    except (httpx.InvalidURL, UnicodeError):
        return ""


def _url_of(call: Call) -> str | None:
    """Return the URL argument of a call; None if the called function has a fixed URL."""
    arguments = bind(list_tools(ASKING)[call.name], call.args, call.kwargs)
    return str(arguments["url"]) if "url" in arguments else None


def _requests(trajectory: Trajectory, *, changing: bool) -> Iterator[Call]:
    if {*ASKING}.isdisjoint(trajectory.environments):
        return
    tools = list_tools(ASKING)
    for text in [text for turn in trajectory.turns for text in turn.ground_truth]:
        with suppress(MalformedCall, ToolError):
            call = parse_call(text)
            if call.name in tools and (changing or not tools[call.name].writes):
                bind(tools[call.name], call.args, call.kwargs)
                yield call
