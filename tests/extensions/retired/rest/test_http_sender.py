"""HTTP: this machine only, within bounds, and every failure a refusal that can be read."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from importlib import import_module
from threading import Thread
from typing import Any

import pytest

from envs.errors import AccessDenied, Refused
from extensions.retired.functions.web import WebRequest
from extensions.retired.rest.http_sender import HttpSender, is_public
from runner.data.web_services import AllowedServices
from tests.servers.serving import Answer, Asked, FakeServer, as_json

# The package has what stands for the module, where nobody has loaded it yet.
web = import_module("extensions.retired.rest.http_sender")


def answering(asked: Asked) -> Answer:
    """Return what the path asks for."""
    match asked.path.partition("?")[0]:
        case "/text":
            return Answer(b"plain \xff text", kind="text/plain")
        case "/deep":
            return Answer(b"[" * 100 + b"]" * 100)
        case "/deeper":
            return Answer(b"[" * 100_000)
        case "/number":
            return as_json(10**2000)
        case "/nan":
            return Answer(b"[NaN]")
        case "/large":
            return Answer(b'"' + b"x" * 1_000_001 + b'"')
        case "/away":
            return as_json({}, 302, location="http://example.com/")
        case "/reset":
            return Answer(manner="reset")
        case "/half":
            return Answer(b"{}" * 100, manner="half")
    return as_json({"path": asked.path, "headers": dict(asked.headers)})


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    """A server that gives all kinds of answers."""
    with FakeServer(answering) as running:
        yield running


@pytest.fixture
def base(server: FakeServer) -> str:
    """Where the server is; the user has named it."""
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture
def get(server: FakeServer) -> HttpSender:
    """What asks the server that the user has named, and no other."""
    return HttpSender({}, AllowedServices(frozenset({("localhost", server.port)})))


def test_path_query_and_headers_arrive(get: HttpSender, base: str) -> None:
    status, body, *_ = get(WebRequest(f"{base}/a/b?c=d+e", {"X-Key": "k"}))
    assert status == 200
    assert body["path"] == "/a/b?c=d+e"
    assert body["headers"]["x-key"] == "k"


def test_a_name_stands_for_a_port(server: FakeServer) -> None:
    get = HttpSender({"shop.localhost": lambda: server.port})
    assert get(WebRequest("http://shop.localhost/x")).body["headers"]["host"] == "shop.localhost"


@pytest.mark.parametrize("host", ["localhost", "any.localhost", "127.0.0.1"])
def test_this_machine_has_many_names(get: HttpSender, server: FakeServer, host: str) -> None:
    assert get(WebRequest(f"http://{host}:{server.port}/")).status == 200


@pytest.mark.parametrize(
    "host",
    ["example.com", "10.0.0.1", "169.254.169.254", "0.0.0.0", "2130706433", "localhost.evil.com"],
)
def test_no_other_machine_is_asked(host: str) -> None:
    with pytest.raises(AccessDenied, match="allow requests to it by --allow-network"):
        HttpSender({})(WebRequest(f"http://{host}/"))


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("host", ["localhost", "any.localhost", "127.0.0.1", "127.9.9.9", "[::1]"])
def test_nothing_else_on_this_machine_is_asked(host: str, network: bool) -> None:
    get = HttpSender(
        {"shop.localhost": lambda: 1}, AllowedServices(frozenset({("127.0.0.1", 2)}), network)
    )
    with pytest.raises(AccessDenied, match=r"allow other requests by --allow-host .*:8961"):
        get(WebRequest(f"http://{host}:8961/api/shutdown"))


def _resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    look_up = socket.getaddrinfo

    def resolved(host: str, *args: Any, **options: Any) -> Any:
        if host == "127.0.0.1":
            return look_up(host, *args, **options)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 80)) for each in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)


@pytest.mark.parametrize(
    "host",
    [
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2606:4700::5efe:7f00:1]",
        "[2606:4700::200:5efe:7f00:1]",
        "[::7f00:1]",
        "[::a9fe:a9fe]",
        "[::ffff:0:7f00:1]",
        "[fec0::1]",
        "[fe80::1]",
        "[fd00::1]",
        "[::]",
        "0.0.0.0",
        "10.0.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "192.0.0.192",
        "168.63.129.16",
        "100.64.0.1",
        "224.0.0.1",
        "2130706433",
        "127.1",
    ],
)
def test_network_access_covers_public_addresses_only(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))
    with pytest.raises(AccessDenied, match=r"--allow-host .*:8961"):
        HttpSender({}, AllowedServices(network=True))(WebRequest(f"http://{host}:8961/"))


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"),
        "2606:4700::5efe:808:808",
    ],
)
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


def test_a_name_with_one_private_address_is_refused_before_connecting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))
    _resolve_to(monkeypatch, "8.8.8.8", "10.0.0.1")
    with pytest.raises(AccessDenied, match="has no public address"):
        HttpSender({}, AllowedServices(network=True))(WebRequest("http://example.com/x"))


def test_a_public_address_of_this_machine_is_refused_at_the_connection(
    monkeypatch: pytest.MonkeyPatch, server: FakeServer
) -> None:
    connect = socket.create_connection

    def nearby(address: tuple[str, int], *args: object, **options: object) -> socket.socket:
        return connect(("127.0.0.1", server.port))

    monkeypatch.setattr(socket, "create_connection", nearby)
    monkeypatch.setattr(web, "is_public", lambda _: True)
    before = server.requests
    with pytest.raises(AccessDenied, match="has no public address"):
        HttpSender({}, AllowedServices(network=True))(WebRequest("http://8.8.8.8/x"))
    assert server.requests == before


def test_a_name_that_leads_to_this_machine_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, server: FakeServer
) -> None:
    connect = socket.create_connection

    def nearby(address: tuple[str, int], *args: object, **options: object) -> socket.socket:
        return connect(("127.0.0.1", server.port))

    monkeypatch.setattr(socket, "create_connection", nearby)
    _resolve_to(monkeypatch, "8.8.8.8")
    before = server.requests
    with pytest.raises(AccessDenied, match="needs --allow-host example"):
        HttpSender({}, AllowedServices(network=True))(WebRequest("http://example.com/x"))
    assert server.requests == before


def test_another_machine_may_be_allowed(
    monkeypatch: pytest.MonkeyPatch, server: FakeServer
) -> None:
    connect = socket.create_connection

    def nearby(address: tuple[str, int], *args: object, **options: object) -> socket.socket:
        assert address == ("example.com", 80)
        return connect(("127.0.0.1", server.port))

    monkeypatch.setattr(socket, "create_connection", nearby)
    _resolve_to(monkeypatch, "8.8.8.8")
    monkeypatch.setattr(web, "_peer", lambda _: "8.8.8.8")
    get = HttpSender({}, AllowedServices(network=True))
    assert get(WebRequest("http://example.com/x")).body["headers"]["host"] == "example.com"


def test_no_proxy_is_asked(get: HttpSender, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert get(WebRequest(f"{base}/")).status == 200


def test_whom_to_trust_is_read_once_for_all_requests(
    get: HttpSender, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    context = ssl.create_default_context()
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: read.append(1) or context)
    web._trusted.cache_clear()
    for _ in range(3):
        assert get(WebRequest(f"{base}/a")).status == 200
    web._trusted.cache_clear()
    assert len(read) == 1


def test_redirects_are_not_followed(get: HttpSender, base: str) -> None:
    assert get(WebRequest(f"{base}/away")).status == 302


def test_what_is_no_json_is_text(get: HttpSender, base: str) -> None:
    assert get(WebRequest(f"{base}/text")).body == "plain \ufffd text"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/deep", "nested too deeply"),
        ("/deeper", "nested too deeply"),
        ("/number", "numbers that are too large"),
        ("/nan", "numbers that are too large"),
        ("/large", "more than 1000000 bytes"),
        ("/reset", "did not respond"),
        ("/half", "did not respond"),
    ],
)
def test_an_answer_that_cannot_be_used_is_a_refusal(
    get: HttpSender, base: str, path: str, reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        get(WebRequest(base + path))


@pytest.mark.parametrize(
    "said", [b"HTTP/1.0 200 OK\r\n\r\nx", b"HTTP/1.1 100 Continue\r\n\r\n", b""]
)
def test_an_answer_that_takes_too_long_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(web, "_DEADLINE", 0.1)

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(said)
            while connection.recv(1024):
                pass  # until it is cut off

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = Thread(target=drip, args=(listening,))
        serving.start()
        port = listening.getsockname()[1]
        named = AllowedServices(frozenset({("127.0.0.1", port)}))
        with pytest.raises(Refused, match=r"it took more than 0\.1 seconds"):
            HttpSender({}, named)(WebRequest(f"http://127.0.0.1:{port}/"))
        serving.join()


def test_a_closed_port_is_a_refusal() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(Refused, match=f"127.0.0.1:{port} did not respond: "):
        HttpSender({}, AllowedServices(frozenset({("127.0.0.1", port)})))(
            WebRequest(f"http://127.0.0.1:{port}/")
        )


def test_the_body_of_the_model_is_json(get: HttpSender, base: str) -> None:
    assert json.dumps(get(WebRequest(f"{base}/")).body)
