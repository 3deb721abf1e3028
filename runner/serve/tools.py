"""A session's functions as the tools of an MCP server, and calls of these as calls of the session.

What a model reads is worded here as it is everywhere else: documents from ``envs.schema``, results
and refusals as the session gives them. Whose session a message is for, the transport says.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from envs import __version__
from envs.calls import MAX_TEXT, Call, call_from_tool
from envs.errors import BackendFault, MalformedCall
from envs.schema import spec
from envs.session import Session
from runner.serve.pool import NoSession, PoolFull, Served

Context = ServerRequestContext[Any, Any]

FindSession = Callable[[Context], Served]
"""Returns the session that a message is for; raises NoSession or PoolFull."""


def mcp_server(find: FindSession) -> Server[Any]:
    """Return a server whose tools are the functions of sessions.

    Args:
        find: Says which session a message is for.
    """

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools_of(_found(find, context).session))

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        served = _found(find, context)
        served.calls += 1
        try:
            result = served.session.call(_read(params))
        except BackendFault as fault:
            raise MCPError(INTERNAL_ERROR, str(fault)) from fault
        content: list[ContentBlock] = [TextContent(text=result.text)]
        return CallToolResult(content=content, is_error=not result.ok)

    return Server("turnwise", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


def tools_of(session: Session) -> list[Tool]:
    """Return the tools that a model may call, in the order of the backends."""
    tools = []
    for name, tool in session.tools.items():
        if session.offered is None or name in session.offered:
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
        call = call_from_tool(params.name, params.arguments)
    except MalformedCall as error:
        return error
    # Only now: what has passed is not nested so deep that it cannot be written.
    if len(json.dumps(params.arguments)) > MAX_TEXT:
        return MalformedCall(
            f"The arguments of {params.name[:100]} are longer than {MAX_TEXT} characters."
        )
    return call
