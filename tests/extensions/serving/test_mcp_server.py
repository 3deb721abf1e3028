"""Functions as MCP tools, and calls of them, with the official client in the same process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, TextContent

from envs.calls import MAX_DEPTH, MAX_TEXT, Call, make_call_from_tool
from envs.errors import BackendFault
from envs.registry import BACKENDS
from envs.results import Result
from envs.schema import make_spec
from envs.session import Session
from extensions.serving.mcp_server import mcp_server
from extensions.serving.session_pool import ServedSession, SessionOrSnapshotNotFound


def talk(session: Session, script: Callable[[Client], Awaitable[Any]]) -> Any:
    """Return what a script gets out of a client of a session."""
    served = ServedSession(session, 0.0)

    async def main() -> Any:
        async with Client(mcp_server(lambda _: served)) as client:
            return await script(client)

    return asyncio.run(main())


def call(session: Session, name: str, arguments: dict[str, Any] | None = None) -> CallToolResult:
    """Return the result of one call."""
    return talk(session, lambda client: client.call_tool(name, arguments))


def text(result: CallToolResult) -> str:
    """Return the text of a result."""
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_every_function_of_every_backend_is_a_tool() -> None:
    for name, backend in BACKENDS.items():
        session = Session.load([name], {})
        tools = talk(session, lambda client: client.list_tools()).tools
        assert [tool.name for tool in tools] == list(backend.TOOLS)
        for tool in tools:
            document = make_spec(backend.TOOLS[tool.name]).document()
            assert tool.description == document["description"]
            assert tool.input_schema == document["parameters"]
            assert tool.annotations.read_only_hint is not backend.TOOLS[tool.name].writes


def test_functions_that_are_not_offered_are_no_tools(desk: Session) -> None:
    desk.offer(frozenset(["get_ticket"]))
    tools = talk(desk, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == ["get_ticket"]
    assert "no function 'create_ticket'" in text(call(desk, "create_ticket", {"title": "x"}))


def test_a_call_changes_the_session_and_says_what_it_gave(desk: Session) -> None:
    expected = desk.fork().call(Call("create_ticket", (), {"title": "Dark screen"}))
    result = call(desk, "create_ticket", {"title": "Dark screen"})
    assert (text(result), result.is_error) == (expected.text, False)
    assert desk.snapshot().states["TicketAPI"]["ticket_queue"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_ticket", {"ticket_id": 99}),
        ("get_ticket", {"ticket_id": "one"}),
        ("get_ticket", {"ticket_id": 1, "verbose": True}),
        ("get_ticket", None),
        ("getticket", {}),
        ("snapshot", {}),
        ("__init__", {}),
        ("", {}),
    ],
)
def test_a_refusal_is_an_error_result_worded_as_everywhere(
    desk: Session, name: str, arguments: dict[str, Any] | None
) -> None:
    before = desk.snapshot()
    expected = desk.fork().call(make_call_from_tool(name, arguments))
    result = call(desk, name, arguments)
    assert (text(result), result.is_error) == (expected.text, True)
    assert desk.snapshot() == before


def nested(depth: int) -> Any:
    """Return a list in lists."""
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"title": nested(MAX_DEPTH + 1)}, f"nested more than {MAX_DEPTH} levels deep"),
        ({"title": "x" * MAX_TEXT}, f"longer than {MAX_TEXT} characters"),
        ({"title": 2**5000}, "An integer has more than"),
    ],
    ids=["deep", "long", "large"],
)
def test_hostile_arguments_are_refused(
    desk: Session, arguments: dict[str, Any], reason: str
) -> None:
    before = desk.snapshot()
    result = call(desk, "create_ticket", arguments)
    assert result.is_error
    assert reason in text(result)
    assert desk.snapshot() == before


def test_a_fault_of_a_backend_is_no_result(desk: Session, monkeypatch) -> None:
    def broken(session: Session, call: Call) -> None:
        raise BackendFault(str(call), ValueError("broken"))

    async def script(client: Client) -> None:
        with pytest.raises(MCPError, match="raised ValueError: broken"):
            await client.call_tool("get_ticket", {"ticket_id": 1})

    monkeypatch.setattr(Session, "call", broken)
    talk(desk, script)


def test_without_a_session_there_are_no_tools() -> None:
    def find(_: object) -> ServedSession:
        raise SessionOrSnapshotNotFound("There is no session 'x'.")

    async def main() -> None:
        async with Client(mcp_server(find)) as client:
            for asked in (client.list_tools(), client.call_tool("get_ticket", {})):
                with pytest.raises(MCPError, match="There is no session 'x'"):
                    await asked

    asyncio.run(main())


def test_another_wording_may_be_read(desk: Session) -> None:
    def observe(_session: object, call: object, result: Result, _words: str) -> str:
        return f"{call}: {result.ok}"

    served = ServedSession(desk, 0.0, observe=observe)

    async def main() -> Any:
        async with Client(mcp_server(lambda _: served)) as client:
            return await client.call_tool("get_ticket", {"ticket_id": 99})

    result = asyncio.run(main())
    assert text(result) == "get_ticket(ticket_id=99): False"
    assert result.is_error


def test_a_client_reads_the_events_that_a_call_let_happen() -> None:
    event = {"id": "tea", "at": "2026-03-02T10:00", "agent": "Tea is here."}
    clock = {"now": "2026-03-02T09:00", "events": [event]}
    session = Session.load(["WorldClock"], {"WorldClock": clock})
    first, second = (
        call(session, "wait", {"until": f"2026-03-02T{hour}:00"}) for hour in ("11", "12")
    )
    assert [content.text for content in first.content if isinstance(content, TextContent)] == [
        '{"now": "2026-03-02T11:00"}',
        "[Notice 2026-03-02T10:00] Tea is here.",
    ]
    assert text(second) == '{"now": "2026-03-02T12:00"}'
