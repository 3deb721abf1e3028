"""MCP server for the functions of sessions, over stdio or local HTTP.

Over stdio, the server serves one session. Over HTTP, ``/mcp`` opens a session per client, and
``/mcp/NAME`` serves a session that the operator opened. At ``/mcp``, a client gets a session in
the handshake. Protocol revision 2026-07-28 has no handshake, so the server refuses this revision.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
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
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from envs import __version__
from envs.calls import Call, make_call_from_tool
from envs.errors import BackendFault, MalformedCall
from envs.schema import make_spec
from envs.session import Session
from extensions.serving.draining_streams import IncomingStream, OutgoingStream, PendingRequests
from extensions.serving.operator_api import control_app
from extensions.serving.session_pool import (
    ServedSession,
    SessionOrSnapshotLimit,
    SessionOrSnapshotNotFound,
    SessionPool,
)
from extensions.viewer.local_server import HOST, listening
from runner.models.toolbox import offered_tools

STDIO = "stdio"
"""Name of the only session of a server over stdio."""

Started = Callable[[str | None, str | None], object]
"""Callback after the start; its arguments are the URLs of the server and of the operator API."""

SESSION = "mcp-session-id"
"""Header that identifies the client."""
_STOP_SECONDS = 5.0
"""An idle connection ends this long before its session."""
_MAX_BODY_BYTES = 5_000_000
"""Bytes of a body that are read to find its id; the MCP library accepts smaller bodies only."""


Context = ServerRequestContext[Any, Any]

FindSession = Callable[[Context], ServedSession]
"""Function that returns the session of a message. It raises SessionOrSnapshotNotFound or
SessionOrSnapshotLimit."""


async def serve(
    pool: SessionPool, port: int | None, control_port: int | None, token: str, started: Started
) -> None:
    """Serve until standard input ends; over HTTP, serve until the task is cancelled.

    Args:
        port: HTTP port, 0 for any free port; None for stdio.
        control_port: Port of the operator API; None disables it.
        token: Secret token of the operator API.

    Raises:
        DataError: A port is not available.
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
            served = pool.open(STDIO)
            await serve_stdio(mcp_server(lambda _: served))
        else:
            await asyncio.Event().wait()


def http_app(pool: SessionPool, base_url: str) -> Starlette:
    """Return the MCP web application of a session pool."""
    server = mcp_server(lambda context: _session_of(pool, context))
    idle = max(pool.idle - _STOP_SECONDS, pool.idle / 2)
    return web_app(server, base_url, idle, pool.limit, pool.end)


def web_app(
    server: Server[Any],
    base_url: str,
    idle: float,
    limit: int,
    ended: Callable[[str], object],
    routes: Sequence[Route] = (),
) -> Starlette:
    """Return a web application that refuses requests for other hosts and from other origins.

    Args:
        server: MCP server of all clients.
        base_url: Address under which the application is served.
        idle: Idle timeout of a client in seconds.
        limit: Maximum number of clients.
        ended: Receives the id of a client that disconnects.
        routes: Routes beside those of MCP.
    """
    server.middleware.append(_ask_for_handshake)
    host = base_url.removeprefix("http://")
    hosts = [host, host.replace(HOST, "localhost")]
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{name}" for name in hosts]
        ),
        session_idle_timeout=idle,
        max_sessions=limit,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    endpoint = _McpEndpoint(manager, ended)
    # The server never pushes messages, so no stream is available to GET.
    methods = ["POST", "DELETE"]
    places = [Route(path, endpoint, methods=methods) for path in ("/mcp", "/mcp/{session}")]
    return Starlette(routes=[*places, *routes], lifespan=lifespan)


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output until the input ends.

    Raises OSError if standard output cannot be written.
    """
    failed: list[OSError] = []
    try:
        async with stdio_server() as (incoming, outgoing):
            unanswered = PendingRequests()
            # Output that a function prints must not mix with the messages.
            with redirect_stdout(sys.stderr):
                await server.run(
                    IncomingStream(incoming, unanswered),
                    OutgoingStream(outgoing, unanswered),
                    server.create_initialization_options(),
                )
    except* OSError as group:
        failed += _errors_in(group)
    if failed:
        raise failed[0]


def _errors_in(group: ExceptionGroup[OSError]) -> Iterator[OSError]:
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _errors_in(error)
        else:
            yield error


class _McpEndpoint:
    """MCP endpoint with a callback for the end of a session.

    The endpoint refuses a request whose id is in use. The MCP library would answer only one of two
    pending requests with the same id, and the other request would wait forever.
    """

    def __init__(
        self, manager: StreamableHTTPSessionManager, ended: Callable[[str], object]
    ) -> None:
        self._manager = manager
        self._ended = ended
        self._pending: set[tuple[str, str]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = Request(scope).headers.get(SESSION)
        if name is None or scope["method"] != "POST":
            await self._handle(scope, receive, send)
            return
        messages = await _receive_body(receive)
        id = _request_id(b"".join([message.get("body", b"") for message in messages]))
        again = _replay(messages, receive)
        if id is None:
            await self._handle(scope, again, send)
        elif (name, id) in self._pending:
            error = {"code": INVALID_REQUEST, "message": f"The id {id:.80} is in use."}
            refusal = JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 409)
            await refusal(scope, again, send)
        else:
            self._pending.add((name, id))
            try:
                await self._handle(scope, again, send)
            finally:
                self._pending.discard((name, id))

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noting_end(message: Message) -> None:
            if scope["method"] == "DELETE" and message.get("status") == 200:
                self._ended(Request(scope).headers[SESSION])
            await send(message)

        await self._manager.handle_request(scope, receive, noting_end)


async def _receive_body(receive: Receive) -> list[Message]:
    """Return the messages of a request's body, or its start if the body is large."""
    messages: list[Message] = []
    size = 0
    while size <= _MAX_BODY_BYTES:
        messages.append(await receive())
        size += len(messages[-1].get("body", b""))
        if not messages[-1].get("more_body", False):
            break
    return messages


def _replay(messages: Sequence[Message], receive: Receive) -> Receive:
    waiting = [*messages]

    async def again() -> Message:
        return waiting.pop(0) if waiting else await receive()

    return again


def _request_id(body: bytes) -> str | None:
    """Return the id of a request as text; 7 and "7" are the same. None if the body has no id."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    id = message.get("id") if isinstance(message, dict) and "method" in message else None
    return str(id) if isinstance(id, (str, int)) else None


def _session_of(pool: SessionPool, context: Context) -> ServedSession:
    request = request_of(context)
    if request.path_params:
        return pool.find(request.path_params["session"])
    return pool.find_or_open(client_of(request))


def client_of(request: Request) -> str:
    """Return a client's id at ``/mcp``. Raises SessionOrSnapshotNotFound if no id is given."""
    name = request.headers.get(SESSION)
    if name is None:
        raise SessionOrSnapshotNotFound(
            "The request has no session id. Connect with a protocol revision before 2026-07-28."
        )
    return name


async def _ask_for_handshake(ctx: Context, call_next: CallNext) -> Any:
    """Refuse ``server/discover``, so that clients use the older handshake."""
    if ctx.method == "server/discover" and not request_of(ctx).path_params:
        raise MCPError(METHOD_NOT_FOUND, "Method not found")
    return await call_next(ctx)


def request_of(context: Context) -> Request:
    """Return the HTTP request of a message."""
    assert isinstance(context.request, Request)
    return context.request


def mcp_server(find: FindSession) -> Server[Any]:
    """Return an MCP server that offers the functions of sessions as tools."""

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools_of(_found(find, context).session))

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        served = _found(find, context)
        try:
            result = served.call(_read(params))
        except BackendFault as fault:
            raise MCPError(INTERNAL_ERROR, str(fault)) from fault
        texts = [result.observation, *served.notices]
        content: list[ContentBlock] = [TextContent(text=text) for text in texts]
        return CallToolResult(content=content, is_error=not result.ok)

    return Server("turnwise", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


def tools_of(session: Session) -> list[Tool]:
    """Return the tools available to a model, in the order of the backends."""
    tools = []
    for name, tool in offered_tools(session).items():
        document = make_spec(tool).document()
        tools.append(
            Tool(
                name=name,
                description=document["description"],
                input_schema=document["parameters"],
                annotations=ToolAnnotations(read_only_hint=not tool.writes),
            )
        )
    return tools


def _found(find: FindSession, context: Context) -> ServedSession:
    try:
        return find(context)
    except (SessionOrSnapshotNotFound, SessionOrSnapshotLimit) as error:
        raise MCPError(INVALID_REQUEST, str(error)) from error


def _read(params: CallToolRequestParams) -> Call | MalformedCall:
    try:
        return make_call_from_tool(params.name, params.arguments)
    except MalformedCall as error:
        return error
