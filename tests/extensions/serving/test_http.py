"""MCP over HTTP: a session for each client, and strangers and giants that do no harm."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.request
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError

from envs.calls import Call
from envs.session import Session
from extensions.serving.session_pool import SessionPool
from extensions.viewer.local_server import listening
from tests.extensions.serving.serving import Serving, answer, served_over_http

TITLES = ("Dark screen", "Loud fan")
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}


def tickets(serving: Serving) -> list[list[str]]:
    """Return the titles of the tickets of each session."""
    queues = [
        served.session.snapshot().states["TicketAPI"]["ticket_queue"]
        for served in serving.pool.served.values()
    ]
    return [[ticket["title"] for ticket in queue] for queue in queues]


def post(serving: Serving, body: bytes, headers: Mapping[str, str] = HEADERS) -> tuple[int, Any]:
    """Return status and answer of a raw request."""
    return answer(urllib.request.Request(serving.mcp, body, dict(headers), method="POST"))


async def create(url: str, *titles: str, mode: Any = "auto") -> None:
    """Create tickets as one client."""
    async with Client(url, mode=mode) as client:
        for title in titles:
            assert not (await client.call_tool("create_ticket", {"title": title})).is_error


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_each_client_has_a_session_of_its_own(serving: Serving, mode: str) -> None:
    async def main() -> None:
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(Client(serving.mcp, mode=mode)) for _ in TITLES
            ]
            for title, client in zip(TITLES, clients, strict=True):
                await client.call_tool("create_ticket", {"title": title})
            assert tickets(serving) == [[title] for title in TITLES]

    asyncio.run(main())


@pytest.mark.parametrize("clients", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_clients_at_once_are_kept_apart(desk: Session, clock, clients: int) -> None:
    async def main(url: str) -> None:
        jobs = [create(url, *(f"{n} {k}" for k in range(5))) for n in range(clients)]
        await asyncio.gather(*jobs)

    with served_over_http(SessionPool(desk, clients, 100.0, clock)) as serving:
        asyncio.run(main(serving.mcp))
        assert sorted(tickets(serving)) == sorted(
            [f"{n} {k}" for k in range(5)] for n in range(clients)
        )


def test_a_client_of_the_latest_revision_alone_is_told_to_shake_hands(serving: Serving) -> None:
    async def main() -> None:
        async with Client(serving.mcp, mode="2026-07-28") as client:
            with pytest.raises(MCPError, match="Connect with a protocol revision before"):
                await client.call_tool("create_ticket", {"title": "x"})

    asyncio.run(main())
    assert not serving.pool.served


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_an_opened_session_is_shared_by_whoever_has_its_url(serving: Serving, mode: str) -> None:
    _, opened = serving.control("POST", "/sessions")
    for title in TITLES:
        asyncio.run(create(opened["url"], title, mode=mode))
    assert tickets(serving) == [list(TITLES)]


def test_of_pending_requests_with_the_same_id_all_are_answered_or_refused(serving: Serving) -> None:
    async def main() -> list[int]:
        async with httpx.AsyncClient(headers=HEADERS, timeout=20) as client:
            about = {"protocolVersion": "2025-06-18", "capabilities": {}}
            about["clientInfo"] = {"name": "x", "version": "1"}
            start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
            begun = await client.post(serving.mcp, json=start)
            client.headers["mcp-session-id"] = begun.headers["mcp-session-id"]
            call = {"name": "create_ticket", "arguments": {"title": "x"}}
            asked = {"jsonrpc": "2.0", "method": "tools/call", "params": call}
            ids = [7, "7"] * 10
            sent = [client.post(serving.mcp, json={**asked, "id": id}) for id in ids]
            answers = await asyncio.gather(*sent)
            refused = [answer for answer in answers if answer.status_code == 409]
            assert {each.json()["error"]["message"] for each in refused} == {"The id 7 is in use."}
            last = await client.post(serving.mcp, json={**asked, "id": 7})
            return [answer.status_code for answer in (*answers, last)]

    *statuses, last = asyncio.run(main())
    assert {*statuses} == {200, 409}
    assert last == 200


@pytest.mark.parametrize("id", [b"NaN", b"1e999", b"{}", b"[" * 50_000, b"1" + b"0" * 5000])
def test_odd_ids_end_in_no_error_of_the_server(serving: Serving, id: bytes) -> None:
    body = b'{"jsonrpc": "2.0", "method": "tools/list", "id": ' + id + b"}"
    status, _ = post(serving, body, {**HEADERS, "mcp-session-id": "guessed"})
    assert status in (400, 404)


def test_a_session_that_was_never_opened_is_refused(serving: Serving) -> None:
    async def main() -> None:
        async with Client(f"{serving.mcp}/guessed", mode="2026-07-28") as client:
            with pytest.raises(MCPError, match="Session 'guessed' does not exist"):
                await client.list_tools()

    asyncio.run(main())


def test_clients_that_come_one_after_the_other_take_the_places_of_earlier_ones(
    serving: Serving,
) -> None:
    for number in range(5):
        asyncio.run(create(serving.mcp, str(number)))
    assert tickets(serving) == [["2"], ["3"], ["4"]]


def test_too_many_clients_are_turned_away_and_the_others_go_on(serving: Serving) -> None:
    async def main() -> None:
        for _ in range(serving.pool.limit):
            serving.control("POST", "/sessions")
        async with Client(serving.mcp) as client:
            with pytest.raises(MCPError, match="All 3 sessions are in use"):
                await client.call_tool("create_ticket", {"title": "x"})

    asyncio.run(main())
    assert tickets(serving) == [[], [], []]


def test_a_client_that_vanishes_frees_its_place_when_it_has_been_idle(
    serving: Serving, clock
) -> None:
    status, _ = post(serving, hello())
    assert status == 200
    with socket.create_connection(("127.0.0.1", int(serving.url.rsplit(":", 1)[1]))) as half:
        half.sendall(b"POST /mcp HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{")
    for _ in range(serving.pool.limit):
        serving.control("POST", "/sessions")
    assert serving.control("POST", "/sessions")[0] == 409
    clock.now += 101.0
    assert serving.control("POST", "/sessions")[0] == 201


def hello() -> bytes:
    """Return the first message of a client."""
    client = {"name": "x", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    return json.dumps(message).encode()


@pytest.mark.parametrize(
    "header", [("Host", "evil.example"), ("Origin", "http://evil.example")], ids=lambda h: h[0]
)
def test_other_hosts_and_origins_are_refused(serving: Serving, header: tuple[str, str]) -> None:
    status, _ = post(serving, hello(), {**HEADERS, header[0]: header[1]})
    assert status in (403, 421)
    assert not serving.pool.served


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1, 2]", b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe"],
    ids=["empty", "cut off", "no message", "deep list", "deep object", "no text"],
)
def test_a_body_that_is_no_message_is_refused(serving: Serving, body: bytes) -> None:
    assert post(serving, body)[0] == 400
    asyncio.run(create(serving.mcp, "still here"))
    assert tickets(serving) == [["still here"]]


def test_a_huge_body_is_not_read(serving: Serving) -> None:
    port = int(serving.url.rsplit(":", 1)[1])
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 5000000\r\n"
    named = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(f"{head}{named}\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("params", [None, 1, {}, {"name": 1}, {"name": "x", "arguments": [1]}])
def test_a_call_that_is_no_call_is_refused(serving: Serving, params: Any) -> None:
    with urllib.request.urlopen(
        urllib.request.Request(serving.mcp, hello(), HEADERS, method="POST"), timeout=30
    ) as response:
        known = {**HEADERS, "Mcp-Session-Id": response.headers["mcp-session-id"]}
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    _, said = post(serving, json.dumps(message).encode(), known)
    assert said["error"]["code"] in (-32600, -32602)
    assert tickets(serving) in ([], [[]])


def test_there_is_no_stream_to_get(serving: Serving) -> None:
    assert answer(urllib.request.Request(serving.mcp, headers=HEADERS))[0] == 405


def test_the_template_stays_as_it_was(serving: Serving) -> None:
    before = serving.pool.template.snapshot()
    asyncio.run(create(serving.mcp, *TITLES))
    assert serving.pool.template.snapshot() == before
    assert serving.pool.template.fork().call(Call("get_ticket", (), {"ticket_id": 1})).error


def test_refused_requests_give_the_terminal_nothing_to_obey(
    serving: Serving, capsys: pytest.CaptureFixture[str]
) -> None:
    host = serving.url.removeprefix("http://")
    port = int(host.rpartition(":")[2])
    asked = "POST /mcp HTTP/1.1\r\nHost: {}\r\nOrigin: {}\r\nContent-Type: application/json\r\n"
    asked += "Content-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    for words in (("\x1b[31mevil", "x"), (host, "\x1b]0;title\x07")):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(asked.format(*words).encode())
            assert connection.recv(100).startswith((b"HTTP/1.1 421", b"HTTP/1.1 403"))
    said = capsys.readouterr().err
    assert "turnwise: Invalid Host header: \\x1b[31mevil\n" in said
    assert "turnwise: Invalid Origin header: \\x1b]0;title\\x07\n" in said


def test_an_error_of_the_server_is_logged_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    async def fail(_scope: object, _receive: object, _send: object) -> None:
        raise ValueError("a bug\nof ours")

    async def hang(scope: dict[str, Any], _receive: object, _send: object) -> None:
        if scope["type"] == "http":  # not during the start of the server
            await asyncio.sleep(60)

    async def ask(app: Any) -> None:
        async with listening("--http", 0, lambda _: app) as url:
            host, _, port = url.removeprefix("http://").partition(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            await asyncio.sleep(0.2)
        writer.close()

    asyncio.run(ask(fail))
    asyncio.run(ask(hang))
    said = capsys.readouterr().err
    assert "turnwise: Exception in ASGI application: ValueError: a bug of ours\n" in said
    assert "Traceback" not in said
