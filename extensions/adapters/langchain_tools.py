"""LangChain tools for the functions of a session.

    agent = create_agent(model, tools(session))

A tool returns the result of its call as a string, even if the call is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from envs.calls import Call, make_call_from_tool
from envs.errors import MalformedCall, require_type
from envs.schema import make_spec
from envs.session import Session
from extensions.adapters.suite import extra
from runner.models.toolbox import FunctionNameMapping, as_tool, offered_tools

with extra("langchain"):
    from langchain_core.tools import StructuredTool


def tools(session: Session) -> list[StructuredTool]:
    """Return the functions of a session as tools; calls of the tools change the session.

    Characters that some providers refuse are replaced in the tool names.
    """
    require_type(
        "session", session, Session, described="a Session, such as the result of Session.load"
    )
    offered = [make_spec(tool).document() for tool in offered_tools(session).values()]
    names = FunctionNameMapping(document["name"] for document in offered)
    return [_tool(session, as_tool(document, names)["function"], names) for document in offered]


def _tool(
    session: Session, function: Mapping[str, Any], names: FunctionNameMapping
) -> StructuredTool:
    run = _runner(session, names.real(function["name"]))

    async def run_at_once(**arguments: Any) -> str:
        return run(**arguments)

    return StructuredTool(
        name=function["name"],
        description=function["description"],
        args_schema=function["parameters"],
        func=run,
        coroutine=run_at_once,
    )


def _runner(session: Session, name: str) -> Callable[..., str]:
    def run(**arguments: Any) -> str:
        call: Call | MalformedCall
        try:
            call = make_call_from_tool(name, arguments)
        except MalformedCall as error:
            call = error
        return session.call(call).observation

    return run
