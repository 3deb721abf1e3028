"""Agents of the user's own: what they are given, what they may return, and what they may raise."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from envs.errors import DataError
from runner.models.agent_model import AgentModel, agent_named, load_agent_maker
from runner.models.model_connection import connect
from runner.models.model_name import AgentName, parse_model_name
from runner.models.model_types import AgentError, Request, RequestOptions, ToolList
from tests.source import ROOT

TOOLS = ToolList([{"type": "function", "function": {"name": "add"}}])
CALL = {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}


class Course:
    """Stands for a conversation."""


def ask(agent, *requests, timeout=None):
    """Put requests to an agent, as one client."""

    async def asked():
        model = AgentModel(load_agent_maker(agent), timeout)
        try:
            return [await model.ask(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(asked())


def request(said="Hello.", course=None):
    return Request([{"role": "user", "content": said}], TOOLS, course or Course())


def test_it_is_given_messages_and_tools_and_may_change_them():
    seen = []

    def agent(messages, tools):
        seen.append((messages[0]["content"], tools[0]["function"]["name"]))
        messages.clear()
        tools[0].clear()
        return {"role": "assistant", "content": "Hi.", "tool_calls": None}

    asked = request()
    assert [reply.text for reply in ask(agent, asked, asked)] == ["Hi.", "Hi."]
    assert seen == [("Hello.", "add")] * 2


class Coroutine:
    async def __call__(self, messages, tools):
        await asyncio.sleep(0)
        return {"tool_calls": [CALL]}


class Dumped:
    def model_dump(self):
        return {"role": "assistant", "content": None, "tool_calls": (CALL,), "refusal": None}


async def coroutine_function(messages, tools):
    return {"tool_calls": [CALL]}


@pytest.mark.parametrize(
    "agent",
    [
        coroutine_function,
        Coroutine,
        Coroutine(),
        lambda messages, tools: coroutine_function(messages, tools),
        lambda messages, tools: Dumped(),
    ],
)
def test_calls_come_from_agents_of_every_kind(agent):
    [reply] = ask(agent, request())
    [call] = reply.tool_calls
    assert (call.id, call.name, call.arguments) == ("1", "add", '{"a": 1}')
    assert reply.latency > 0


def test_a_text_is_a_message():
    assert ask(lambda messages, tools: "Done.", request())[0].text == "Done."


def test_a_class_makes_an_agent_per_episode():
    class Counting:
        def __init__(self):
            self.asked = 0

        def __call__(self, messages, tools):
            self.asked += 1
            return str(self.asked)

    one, other = Course(), Course()
    requests = [request(course=course) for course in (one, other, one, one)]
    assert [reply.text for reply in ask(Counting, *requests)] == ["1", "1", "2", "3"]


def test_slow_functions_are_asked_at_once():
    together = threading.Barrier(8, timeout=30)

    def agent(messages, tools):
        together.wait()
        return "Done."

    async def asked():
        model = AgentModel(load_agent_maker(agent))
        return await asyncio.gather(*(model.ask(request()) for _ in range(8)))

    assert len(asyncio.run(asked())) == 8


def failing(messages, tools):
    raise KeyError("no such\nthing")


async def failing_later(messages, tools):
    failing(messages, tools)


class CannotBeMade:
    def __init__(self):
        failing(None, None)


@pytest.mark.parametrize("agent", [failing, failing_later, CannotBeMade])
def test_what_it_raises_is_kept_with_the_place(agent):
    with pytest.raises(AgentError, match=r"^the agent raised KeyError: 'no such\\nthing'$") as info:
        ask(agent, request())
    lines = info.value.traceback.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "test_agent_model.py" in lines[1]
    assert "raise KeyError" in info.value.traceback
    assert lines[-1].startswith("KeyError")


def test_leaving_the_program_does_not_leave_it():
    with pytest.raises(AgentError, match="SystemExit: 3"):
        ask(lambda messages, tools: sys.exit(3), request())


def test_a_cancelled_task_of_an_agent_is_its_error():
    async def agent(messages, tools):
        task = asyncio.ensure_future(asyncio.sleep(9))
        task.cancel()
        await task

    with pytest.raises(AgentError, match="the agent raised CancelledError"):
        ask(agent, request())


def test_a_cancelled_request_is_no_error_of_its_agent():
    async def agent(messages, tools):
        await asyncio.sleep(9)

    async def cancelled():
        model = AgentModel(load_agent_maker(agent))
        asked = asyncio.ensure_future(model.ask(request()))
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait([asked])
        await model.close()
        return asked.cancelled()

    assert asyncio.run(cancelled())


def test_it_may_take_too_long():
    async def agent(messages, tools):
        await asyncio.Event().wait()

    with pytest.raises(AgentError, match=r"took longer than 0.01 seconds"):
        ask(agent, request(), timeout=0.01)


HANGING = """
import asyncio, threading
from runner.models.agent_model import AgentModel, load_agent_maker
from tests.runner.models.test_agent_model import request

def agent(messages, tools):
    threading.Event().wait()

async def threaded(messages, tools):
    await asyncio.to_thread(agent, messages, tools)

asyncio.run(AgentModel(load_agent_maker({name}), 0.1).ask(request()))
"""


@pytest.mark.parametrize("name", ["agent", "threaded"])
def test_a_thread_that_hangs_does_not_delay_the_end_of_the_process(name):
    command = [sys.executable, "-c", HANGING.format(name=name)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert done.stderr.endswith("AgentError: the agent took longer than 0.1 seconds\n")


def test_an_exhausted_iterator_is_an_error_of_its_agent():
    with pytest.raises(AgentError, match=r"raised RuntimeError: StopIteration\(\)") as info:
        ask(lambda messages, tools: next(iter(())), request(), timeout=30)
    assert "next(iter(()))" in info.value.traceback


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "a value of the type NoneType"),
        (3, "a value of the type int"),
        ({}, "a dict with neither content nor tool_calls"),
        ({"role": "user", "content": "x"}, "a message with the role 'user'"),
        ({"content": 3}, "content of the type int"),
        ({"tool_calls": "add()"}, "tool_calls of the type str"),
        ({"tool_calls": [{"name": "add"}]}, "a tool call without a function name"),
        ({"tool_calls": ["add"]}, "a tool call without a function name"),
        (
            {"tool_calls": [{"function": {"name": "add", "arguments": {1, 2}}}]},
            "a value that cannot be written as JSON",
        ),
    ],
)
def test_what_is_no_message_is_an_error_of_one_line(answer, problem):
    with pytest.raises(AgentError) as info:
        ask(lambda messages, tools: answer, request())
    said = str(info.value)
    assert said.startswith(f"the agent returned {problem}")
    assert "return an assistant message: a string, or a dict such as {'role'" in said
    assert "\n" not in said
    assert info.value.traceback is None


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Go to a folder with an agent in it."""
    (tmp_path / "own_agents").mkdir()
    (tmp_path / "own_agents" / "__init__.py").touch()
    (tmp_path / "own_agents" / "first.py").write_text(
        "from own_agents import helper\ndef answer(messages, tools): return helper.TEXT\nX = 3\n"
        "class Kind:\n    def other(self, messages, tools): return 'x'\n"
    )
    (tmp_path / "own_agents" / "helper.py").write_text("TEXT = 'Hi.'\n")
    (tmp_path / "own_agents" / "broken.py").write_text("raise ValueError('not yet')\n")
    monkeypatch.chdir(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "own_agents"]:
        del sys.modules[name]


@pytest.mark.usefixtures("own")
def test_an_agent_is_imported_from_the_current_folder():
    path = list(sys.path)
    agent = agent_named("python:own_agents.first:answer")()
    assert ask(agent, request())[0].text == "Hi."
    assert sys.path == path


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("python:own_agents.first", "is not python:package.module:function"),
        ("python:own_agents/first.py:answer", "is not python:package.module:function"),
        ("python:own_agents.second:answer", "own_agents.second cannot be imported: ModuleNotFound"),
        ("python:own_agents.broken:x", "own_agents.broken cannot be imported: ValueError: not yet"),
        ("python:own_agents.first:anser", "own_agents.first has no anser; did you mean answer?"),
        ("python:own_agents.first:X", "X of own_agents.first is not callable"),
    ],
)
def test_an_agent_that_is_not_there(name, problem):
    with pytest.raises(DataError) as info:
        connect(parse_model_name(name))
    assert str(info.value).startswith("--model: ")
    assert problem in str(info.value)


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        (RequestOptions(base_url="http://x"), "--base-url"),
        (RequestOptions(sampling={"top_p": 1.0}), "--top-p"),
        (RequestOptions(extra_headers={"a": "b"}), "--header"),
        (RequestOptions(extra_body={"a": 1}), "--body"),
        (RequestOptions(calling={"tool_choice": "auto"}), "--tool-choice"),
    ],
)
def test_what_a_server_is_told_is_not_for_agents(options, flag):
    with pytest.raises(
        DataError, match=f"^{flag}: only servers use this option; change the code of python:a:b"
    ):
        connect(AgentName("python:a:b"), options)


class LangChain:
    """Stands for an ``AIMessage``, as its ``model_dump`` gives it."""

    def __init__(self, **members):
        self.members = members

    def model_dump(self):
        return {
            "content": "",
            "additional_kwargs": {},
            "response_metadata": {},
            "type": "ai",
            "id": None,
            "tool_calls": [],
            "invalid_tool_calls": [],
            "usage_metadata": None,
            **self.members,
        }


LANGCHAIN_CALL = {"name": "add", "args": {"a": 1}, "id": "1", "type": "tool_call"}


@pytest.mark.parametrize(
    "members",
    [
        {"tool_calls": [LANGCHAIN_CALL]},
        {"additional_kwargs": {"tool_calls": [CALL]}},
        {"additional_kwargs": {"function_call": CALL["function"]}},
        {"type": "AIMessageChunk", "tool_calls": [LANGCHAIN_CALL]},
    ],
)
def test_calls_in_langchain_s_messages_are_calls(members):
    [reply] = ask(lambda messages, tools: LangChain(**members), request())
    [call] = reply.tool_calls
    assert call.name == "add"
    assert call.arguments in ({"a": 1}, '{"a": 1}')


def test_calls_that_langchain_could_not_parse_are_calls():
    wrong = {"name": "add", "args": "{a", "id": "1", "error": None}
    [reply] = ask(lambda messages, tools: LangChain(invalid_tool_calls=[wrong]), request())
    assert [call.arguments for call in reply.tool_calls] == ["{a"]


def test_a_legacy_function_call_is_a_call():
    message = {"role": "assistant", "content": None, "function_call": CALL["function"]}
    [reply] = ask(lambda messages, tools: message, request())
    assert [call.name for call in reply.tool_calls] == ["add"]


def test_a_call_of_langchain_without_a_name_is_an_error():
    message = LangChain(tool_calls=[{"args": {}}])
    with pytest.raises(AgentError, match=r"^the agent returned tool_calls\[0\].name: is missing"):
        ask(lambda messages, tools: message, request())


@pytest.mark.parametrize(
    "message",
    [
        {"content": "3", "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
        LangChain(content="3", usage_metadata={"input_tokens": 5, "output_tokens": 2}),
        LangChain(
            content="3",
            response_metadata={"token_usage": {"prompt_tokens": 5, "completion_tokens": 2}},
        ),
    ],
)
def test_tokens_are_counted(message):
    [reply] = ask(lambda messages, tools: message, request())
    assert (reply.usage.prompt, reply.usage.completion) == (5, 2)


def test_cached_tokens_and_the_stop_reason_of_langchain_are_kept():
    counts = {"input_tokens": 5, "output_tokens": 2, "input_token_details": {"cache_read": 3}}
    about = {"finish_reason": "length"}
    message = LangChain(content="3", usage_metadata=counts, response_metadata=about)
    [reply] = ask(lambda messages, tools: message, request())
    assert (reply.usage.cached, reply.finish_reason) == (3, "length")


class Anthropic:
    """Stands for a message of Anthropic's library."""

    def __init__(self, *blocks):
        self.blocks = [*blocks]

    def model_dump(self):
        usage = {"input_tokens": 5, "output_tokens": 2}
        about = {"id": "msg_1", "type": "message", "stop_reason": "tool_use", "usage": usage}
        return {**about, "role": "assistant", "content": self.blocks}


def test_calls_in_anthropic_s_blocks_are_calls():
    said = {"type": "text", "text": "One moment."}
    block = {"type": "tool_use", "id": "a", "name": "add", "input": {"a": 1}}
    for answer in (Anthropic(said, block), {"content": [said, block]}):
        [reply] = ask(lambda messages, tools, answer=answer: answer, request())
        [call] = reply.tool_calls
        assert (reply.text, call.name, call.arguments) == ("One moment.", "add", {"a": 1})


def test_a_block_of_anthropic_without_a_name_is_an_error():
    with pytest.raises(AgentError, match=r"returned content\[0\].name: is missing; return an"):
        ask(lambda messages, tools: Anthropic({"type": "tool_use", "input": {}}), request())


def test_a_whole_completion_is_an_error_that_names_the_message():
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hi."}}]}
    with pytest.raises(AgentError, match=r"whole chat completion in place of its choices\[0\]"):
        ask(lambda messages, tools: answer, request())
