"""A session's functions as an MCP server, over standard input and output or HTTP on this machine.

What a model reads is worded here as it is everywhere else: documents from ``envs.schema``, results
and refusals as the session gives them.

Over standard input and output there is one client and one session. Over HTTP, ``/mcp`` gives every
client that connects there a session of its own, and ``/mcp/NAME`` leads to one that the control has
opened. Clients at ``/mcp`` are told apart by the protocol's handshake; its revision of 2026-07-28
has none, so that they are made to fall back to an earlier one. ``/mcp/NAME`` takes all revisions.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, redirect_stdout
from typing import Any

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from envs import __version__
from envs.calls import Call, call_from_tool
from envs.errors import BackendFault, MalformedCall
from envs.schema import spec
from envs.session import Session
from extensions.serving.control import control_app
from extensions.serving.input_end import Incoming, Outgoing, Unanswered
from extensions.serving.pool import NoSession, PoolFull, Served, SessionPool
from extensions.viewer.web import HOST, listening
from runner.models.tools import offered_tools

STDIO = "stdio"
"""Name of the only session over standard input and output."""

Started = Callable[[str | None, str | None], object]
"""Is told the URLs of server and control, None for one that has none, once both can be reached."""

_SESSION = "mcp-session-id"
"""The header that says which client it is."""
_GRACE = 5.0
"""Seconds by which an idle client is forgotten before its session may be dropped, so that none
finds itself in a new one."""


Context = ServerRequestContext[Any, Any]

FindSession = Callable[[Context], Served]
"""Returns the session that a message is for; raises NoSession or PoolFull."""


async def serve(
    pool: SessionPool, port: int | None, control_port: int | None, token: str, started: Started
) -> None:
    """Serve until the input ends or, over HTTP, until it is cancelled.

    Args:
        pool: The sessions.
        port: Where to serve over HTTP, 0 for any free port; None for standard input and output.
        control_port: Where the control listens, likewise; None for no control.
        token: What a request to the control has to have.
        started: Is told that all is up.

    Raises:
        DataError: A port cannot be had.
    """
    async with AsyncExitStack() as stack:
        url = control_url = None
        if port is not None:
            web = listening("--http", port, lambda url: http_app(pool, url))
            url = await stack.enter_async_context(web)
        if control_port is not None:
            web = listening("--control", control_port, lambda _: control_app(pool, token, url))
            control_url = await stack.enter_async_context(web)
        started(url, control_url)
        if url is None:
            await _serve_stdio(pool)
        else:
            await asyncio.Event().wait()


def http_app(pool: SessionPool, base_url: str) -> Starlette:
    """Return the web application that speaks MCP.

    Args:
        pool: Where the sessions are.
        base_url: How clients reach it; a request that names another host or origin is refused.
    """
    server = mcp_server(lambda context: _session_of(pool, context))
    server.middleware.append(_ask_for_handshake)
    host = base_url.removeprefix("http://")
    hosts = [host, host.replace(HOST, "localhost")]
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{name}" for name in hosts]
        ),
        session_idle_timeout=max(pool.idle - _GRACE, pool.idle / 2),
        max_sessions=pool.limit,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    endpoint = _Endpoint(manager, pool)
    # Nothing is ever pushed to a client, so there is no stream to GET.
    methods = ["POST", "DELETE"]
    routes = [Route(path, endpoint, methods=methods) for path in ("/mcp", "/mcp/{session}")]
    return Starlette(routes=routes, lifespan=lifespan)


async def _serve_stdio(pool: SessionPool) -> None:
    served = pool.open(STDIO)
    server = mcp_server(lambda _: served)
    async with stdio_server() as (incoming, outgoing):
        unanswered = Unanswered()
        # What a function prints does not belong among the messages, not even at the end.
        with redirect_stdout(sys.stderr):
            await server.run(
                Incoming(incoming, unanswered),
                Outgoing(outgoing, unanswered),
                server.create_initialization_options(),
            )


class _Endpoint:
    """The protocol's endpoint, which notes when a client at ``/mcp`` says that it is done."""

    def __init__(self, manager: StreamableHTTPSessionManager, pool: SessionPool) -> None:
        self._manager = manager
        self._pool = pool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noting_end(message: Message) -> None:
            if scope["method"] == "DELETE" and message.get("status") == 200:
                self._pool.end(Request(scope).headers[_SESSION])
            await send(message)

        await self._manager.handle_request(scope, receive, noting_end)


def _session_of(pool: SessionPool, context: Context) -> Served:
    request = _request(context)
    if request.path_params:
        return pool.find(request.path_params["session"])
    name = request.headers.get(_SESSION)
    if name is None:
        raise NoSession(
            "A client at /mcp is known by the handshake that the protocol's revisions before "
            "2026-07-28 have; connect with one of these."
        )
    return pool.find_or_open(name)


async def _ask_for_handshake(ctx: Context, call_next: CallNext) -> Any:
    """Say at ``/mcp`` that there is no discovery, upon which clients shake hands."""
    if ctx.method == "server/discover" and not _request(ctx).path_params:
        raise MCPError(METHOD_NOT_FOUND, "Method not found")
    return await call_next(ctx)


def _request(context: Context) -> Request:
    assert isinstance(context.request, Request)
    return context.request


def mcp_server(find: FindSession) -> Server[Any]:
    """Return a server whose tools are the functions of sessions."""

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools_of(_found(find, context).session))

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        served = _found(find, context)
        try:
            result = served.call(_read(params))
        except BackendFault as fault:
            raise MCPError(INTERNAL_ERROR, str(fault)) from fault
        content: list[ContentBlock] = [TextContent(text=result.observation)]
        return CallToolResult(content=content, is_error=not result.ok)

    return Server("turnwise", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


def tools_of(session: Session) -> list[Tool]:
    """Return the tools that a model may call, in the order of the backends."""
    tools = []
    for name, tool in offered_tools(session).items():
        document = spec(tool).document()
        tools.append(
            Tool(
                name=name,
                description=document["description"],
                input_schema=document["parameters"],
                annotations=ToolAnnotations(read_only_hint=not tool.writes),
            )
        )
    return tools


def _found(find: FindSession, context: Context) -> Served:
    try:
        return find(context)
    except (NoSession, PoolFull) as error:
        raise MCPError(INVALID_REQUEST, str(error)) from error


def _read(params: CallToolRequestParams) -> Call | MalformedCall:
    try:
        return call_from_tool(params.name, params.arguments)
    except MalformedCall as error:
        return error
