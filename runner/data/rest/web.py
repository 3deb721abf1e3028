"""Web services as REST entries ask them: by HTTP GET, and found out before a run to be up.

The URL comes from a model. So nothing but the fixture is reached unless the user names more, on
this machine neither; no proxy is used, no redirect is followed, and how long is waited for more and
how much is read is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from socket import SHUT_RDWR, socket
from threading import Event, Timer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from envs.backend import Backend
from envs.calls import Call, check_bounds, parse_call
from envs.errors import AccessDenied, MalformedCall, Refused, ToolError
from envs.library.rest import Getter, RestClient, WebAnswer
from envs.tool import bind
from runner.data.rest.fixture import HOST, Service
from runner.data.rest.reach import FIXTURE_ONLY, Reach
from trajectories.errors import DataError
from trajectories.schema import Trajectory

_TOOL = RestClient.TOOLS["http_get"]
_TIMEOUT = 10.0
"""Seconds to wait for a connection, or for more of an answer."""
_DEADLINE = 30.0
"""Seconds that one request may take in all."""
_LARGEST = 1_000_000
"""Bytes of an answer that are read."""


def connect(client: Backend, reach: Reach) -> None:
    """Have a REST client ask web services."""
    assert isinstance(client, RestClient)
    client.connect(getter(reach))


@cache
def getter(reach: Reach) -> Getter:
    """Return what asks the fixture, and what else may be asked."""
    return HttpGetter({HOST: _fixture_port()}, reach)


@cache
def _fixture_port() -> int:
    """Return where the fixture service is: up from the first time it is needed to the very end."""
    return Service().port


class HttpGetter:
    """Asks web services.

    Args:
        ports: Port by host name, for services that were started here.
        reach: Which others may be asked.
    """

    def __init__(self, ports: Mapping[str, int], reach: Reach = FIXTURE_ONLY) -> None:
        self._ports = ports
        self._services = {(_place(host), port) for host, port in (*ports.items(), *reach.services)}
        self._network = reach.network

    def __call__(self, url: str, headers: Mapping[str, str]) -> WebAnswer:
        """Ask for a URL.

        Raises:
            ToolError: It may not be asked, or there is no answer that can be read.
        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        place, port = _place(host), parts.port or self._ports.get(host) or kind.default_port
        named_by_user = (place, port) in self._services
        if not named_by_user and (_is_local(host) or not self._network):
            raise _denied(host, port)
        connection = kind(place, port, timeout=_TIMEOUT)
        target = parts._replace(scheme="", netloc="").geturl() or "/"
        late = Event()
        try:
            named = {name.lower(): value for name, value in headers.items()}
            connection.connect()
            if not named_by_user and _is_local(_peer(connection.sock)):
                raise _denied(host, port)
            with _cut_off(connection.sock, late):
                connection.request("GET", target, headers={"host": parts.netloc, **named})
                response = connection.getresponse()
                content = response.read(_LARGEST + 1)
            if late.is_set():
                raise TimeoutError
            if response.length and len(content) <= _LARGEST:
                raise HTTPException("the connection was closed too early")
        except (OSError, HTTPException) as error:
            reason = str(error) or type(error).__name__
            if late.is_set():
                reason = f"it took more than {_DEADLINE:g} seconds"
            raise Refused(f"{parts.netloc[:100]} gives no answer: {reason[:200]}.") from None
        finally:
            connection.close()
        return WebAnswer(response.status, _read(content))


@contextmanager
def _cut_off(connected: socket, late: Event) -> Iterator[None]:
    """End a connection that takes too long, however often something comes; note that it was so."""

    def cut() -> None:
        late.set()
        with suppress(OSError):
            connected.shutdown(SHUT_RDWR)

    timer = Timer(_DEADLINE, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


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

    @property
    def url(self) -> str:
        """The URL without query parameters."""
        return str(_arguments(self.call)["url"])


def ask_all(trajectories: Iterable[Trajectory], get: Getter) -> list[Probe]:
    """Make every request of the ground truths of REST entries, and return what became of each."""
    client = RestClient.load({})
    client.connect(get)
    return [
        Probe(trajectory.id, call, _problem(client, call))
        for trajectory in trajectories
        for call in _requests(trajectory)
    ]


def require_up(trajectories: Sequence[Trajectory], reach: Reach) -> None:
    """Do what ``rest.require_up`` does for trajectories with a REST client."""
    endpoints = ask_all(trajectories, getter(reach))
    down = sorted({f"{e.url} ({e.problem})" for e in endpoints if e.problem})
    if down:
        raise DataError("rest", f"{len(down)} endpoints are down: {'; '.join(down)}")


def _requests(trajectory: Trajectory) -> list[Call]:
    if RestClient.__name__ not in trajectory.environments:
        return []
    calls = [parse_call(text) for turn in trajectory.turns for text in turn.ground_truth]
    return [call for call in calls if call.name == _TOOL.name]


def _problem(client: RestClient, call: Call) -> str | None:
    try:
        client.http_get(**_arguments(call))
    except ToolError as error:
        return error.message
    return None


def _arguments(call: Call) -> Mapping[str, Any]:
    return bind(_TOOL, call.args, call.kwargs)
