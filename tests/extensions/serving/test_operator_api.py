"""The control: reading, keeping and restoring states, for whoever has the token."""

from __future__ import annotations

import asyncio
import urllib.request
from typing import Any

import pytest
from mcp import Client

from tests.extensions.serving.serving import Serving, answer


def opened(serving: Serving) -> tuple[str, str]:
    """Return path and URL of a new session."""
    status, session = serving.control("POST", "/sessions")
    assert status == 201
    return f"/sessions/{session['id']}", session["url"]


def create(url: str, title: str) -> None:
    """Create a ticket."""

    async def main() -> None:
        async with Client(url) as client:
            await client.call_tool("create_ticket", {"title": title})

    asyncio.run(main())


def titles(shown: Any) -> list[str]:
    """Return the titles of the tickets in a session's state."""
    return [ticket["title"] for ticket in shown["state"]["TicketAPI"]["ticket_queue"]]


def test_a_state_is_shown_with_its_digest(serving: Serving) -> None:
    path, url = opened(serving)
    create(url, "Dark screen")
    status, shown = serving.control("GET", path)
    [served] = serving.pool.served.values()
    assert status == 200
    assert titles(shown) == ["Dark screen"]
    assert shown["digest"] == served.session.snapshot().digest()
    assert (shown["calls"], shown["ended"]) == (1, False)


def test_a_state_can_be_read_after_its_client_has_gone(serving: Serving) -> None:
    create(serving.mcp, "Dark screen")
    _, listed = serving.control("GET", "/sessions")
    [session] = listed["sessions"]
    assert session["ended"]
    assert titles(serving.control("GET", f"/sessions/{session['id']}")[1]) == ["Dark screen"]


def test_reset_and_restore_reach_the_client(serving: Serving) -> None:
    path, url = opened(serving)
    create(url, "one")
    assert serving.control("POST", f"{path}/snapshots") == (201, {"snapshot": 0})
    create(url, "two")
    assert titles(serving.control("POST", f"{path}/reset")[1]) == []
    create(url, "three")
    assert titles(serving.control("GET", path)[1]) == ["three"]
    assert titles(serving.control("POST", f"{path}/restore", {"snapshot": 0})[1]) == ["one"]
    create(url, "four")
    assert titles(serving.control("GET", path)[1]) == ["one", "four"]


def test_a_closed_session_is_gone(serving: Serving) -> None:
    path, _ = opened(serving)
    assert serving.control("DELETE", path) == (200, {})
    assert serving.control("GET", path)[0] == 404
    assert serving.control("DELETE", path)[0] == 404


@pytest.mark.parametrize("token", ["", "wrong", "tökén"])
@pytest.mark.parametrize(("method", "path"), [("GET", "/sessions"), ("POST", "/sessions")])
def test_without_the_token_nothing_is_told_or_done(
    serving: Serving, method: str, path: str, token: str
) -> None:
    request = urllib.request.Request(serving.control_url + path, method=method)
    request.add_header("Authorization", f"Bearer {token}")
    status, said = answer(request)
    assert (status, list(said)) == (401, ["error"])
    assert not serving.pool.served


@pytest.mark.parametrize(
    "body", [None, [], {}, {"snapshot": "0"}, {"snapshot": True}, ["x" * 20_000]]
)
def test_restore_needs_a_number(serving: Serving, body: Any) -> None:
    path, _ = opened(serving)
    status, said = serving.control("POST", f"{path}/restore", body)
    assert (status, said) == (400, {"error": 'The body must be {"snapshot": NUMBER}.'})


def test_restore_needs_a_snapshot_that_there_is(serving: Serving) -> None:
    path, _ = opened(serving)
    status, said = serving.control("POST", f"{path}/restore", {"snapshot": 0})
    assert status == 404
    assert "has no snapshot number 0; it has 0 snapshots" in said["error"]


def test_the_control_is_no_part_of_what_clients_reach(serving: Serving) -> None:
    for path in ("/sessions", "/mcp/x/reset", "/control"):
        assert answer(urllib.request.Request(serving.url + path))[0] == 404

    async def main() -> list[str]:
        async with Client(serving.mcp) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    [backend] = serving.pool.template.backends.values()
    assert asyncio.run(main()) == list(backend.TOOLS)
