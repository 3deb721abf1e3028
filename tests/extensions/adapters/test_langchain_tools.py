"""A session's functions as LangChain tools, and the module that ``env tools`` prints of them."""

from __future__ import annotations

import asyncio
import json

import pytest
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from envs import registry
from envs.calls import Call, parse_call
from envs.session import Session
from extensions.adapters.langchain_tools import tools
from extensions.adapters.suite import suite
from runner.cli import main
from runner.models.toolbox import own_documents
from trajectories.prepared_trajectory import load_session

BASE = suite(category="base").dataset
ENTRIES = [*BASE.trajectories.values()][:20]


def by_name(session: Session) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in tools(session)}


@pytest.mark.parametrize("name", registry.names())
def test_every_function_is_a_tool_with_its_schema(name: str) -> None:
    documents = own_documents([name])
    found = by_name(Session.load([name], {}))
    assert list(found) == [document["name"] for document in documents]
    for document in documents:
        shown = convert_to_openai_tool(found[document["name"]])["function"]
        assert shown["name"] == document["name"]
        assert shown["description"] == document["description"]
        assert set(shown["parameters"]["properties"]) == set(document["parameters"]["properties"])


@pytest.mark.parametrize("name", registry.names())
def test_arguments_of_every_name_arrive(name: str) -> None:
    session = Session.load([name], {}, checks_arguments=False)
    made: list[Call] = []
    session_call = session.call

    class Noting(Session):
        __slots__ = ()

        def call(self, call):  # type: ignore[no-untyped-def]
            made.append(call)
            return session_call(call)

    noting = Noting(session.backends)
    for document in own_documents([name]):
        given = dict.fromkeys(document["parameters"]["properties"], "x")
        by_name(noting)[document["name"]].invoke(given)
        assert made[-1] == Call(document["name"], (), given)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_the_ground_truth_leads_where_it_leads_without(entry) -> None:  # type: ignore[no-untyped-def]
    one, other = load_session(BASE, entry), load_session(BASE, entry)
    named = by_name(one)
    for turn in entry.turns:
        for text in turn.ground_truth:
            call = parse_call(text)
            if call.args or call.nested:
                other.call(call)
                one.call(call)
                continue
            observed = named[call.name].invoke(dict(call.kwargs))
            assert observed == other.call(call).observation
    assert one.snapshot() == other.snapshot()


def test_a_tool_call_of_a_model_is_answered_with_text_also_where_it_is_refused() -> None:
    session = Session.load(("GorillaFileSystem",), {})
    asked = {"type": "tool_call", "id": "1", "name": "cd", "args": {"folder": "nowhere"}}
    message = by_name(session)["cd"].invoke(asked)
    assert (message.tool_call_id, message.name) == ("1", "cd")
    assert "error" in json.loads(message.content)
    deep: object = "x"
    for _ in range(60):
        deep = [deep]
    assert "nested" in by_name(session)["cd"].invoke({"folder": deep})
    pwd = session.call(Call("pwd")).observation
    assert asyncio.run(by_name(session)["pwd"].ainvoke({})) == pwd


def test_what_is_held_back_is_no_tool() -> None:
    session = Session.load(("GorillaFileSystem",), {})
    session.offer(frozenset(["ls", "cd"]))
    assert set(by_name(session)) == {"ls", "cd"}


def test_the_printed_module_makes_the_same_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["env", "tools", "TicketAPI", "--langchain"]) == 0
    module: dict[str, object] = {}
    exec(compile(capsys.readouterr().out, "<module>", "exec"), module)  # noqa: S102
    session = Session.load(("TicketAPI",), {})

    def call(name: str, arguments: dict[str, object]) -> str:
        return session.call(Call(name, (), arguments)).observation

    printed = module["tools"](call)  # type: ignore[operator]
    assert [(t.name, t.description, t.args) for t in printed] == [
        (t.name, t.description, t.args) for t in tools(session)
    ]
    login = {tool.name: tool for tool in printed}["ticket_login"]
    assert "error" not in login.invoke({"username": "a", "password": "b"})
