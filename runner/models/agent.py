"""An agent of the user's own as a model: a callable that is given messages and tools.

It takes what a chat-completions server takes, and returns the assistant message. What it raises is
an error of the episode, and never one of the model's; one that works in threads is asked there.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.thread import __file__ as _THREAD_FILE
from importlib import import_module
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

from runner.models.base import USUAL, AgentError, Reply, Request, RequestOptions
from runner.models.reply import one_line, read_completion
from runner.models.settings import LiveSettings, sent_as
from trajectories.errors import DataError, did_you_mean

Agent = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Any]
"""``agent(messages, tools)`` gives an assistant message, a text, or what can be awaited for one."""

PREFIX = "python:"
"""What the name of a model begins with that is an agent."""

_NAME = re.compile(r"python:(\w+(?:\.\w+)*):(\w+(?:\.\w+)*)")
_EXPECTED = (
    "an assistant message was expected: a text, or a dict such as "
    "{'role': 'assistant', 'content': ..., 'tool_calls': [{'id': ..., 'type': 'function', "
    "'function': {'name': ..., 'arguments': ...}}]}"
)
# How many are asked at once is the engine's to say; a thread is made for each of them at most.
_THREADS = 1024


class AgentModel:
    """A client for an agent.

    Args:
        make: Makes the agent of one episode.
        timeout: Seconds that one answer may take, or None for any time.
    """

    def __init__(self, make: Callable[[], Agent], timeout: float | None = None) -> None:
        self._make = make
        self._timeout = timeout
        self._agents: WeakKeyDictionary[Any, Agent] = WeakKeyDictionary()
        self._threads = ThreadPoolExecutor(_THREADS, "agent")

    async def ask(self, request: Request) -> Reply:
        """Ask the agent once.

        Raises:
            AgentError: It raised something, took too long, or returned no assistant message.
        """
        started = perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                message = _message(await self._answer(request))
        except TimeoutError:
            raise AgentError(f"the agent took longer than {self._timeout:g} seconds") from None
        return read_completion({"choices": [{"message": message}]}, perf_counter() - started)

    async def close(self) -> None:
        """Let the threads end, when what they are at is done."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _answer(self, request: Request) -> object:
        # The agent is given copies, since what it changes would change the record.
        messages = json.loads(json.dumps(request.messages))
        tools = json.loads(request.tools.encoded) if request.tools else []
        try:
            course = request.conversation or self
            agent = self._agents.get(course) or self._agents.setdefault(course, self._make())
            if _is_coroutine_function(agent):
                return await agent(messages, tools)
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._threads, agent, messages, tools)
            return await answer if inspect.isawaitable(answer) else answer
        except (Exception, SystemExit) as error:
            said = one_line(f"{type(error).__name__}: {error}")
            raise AgentError(f"the agent raised {said}", _traceback(error)) from error


def agent_named(name: str) -> Callable[[], Agent]:
    """Import an agent, and return what makes it anew for every episode.

    Args:
        name: ``python:package.module:function``; the current folder is looked through first. A
            class makes an agent when it is called without arguments.

    Raises:
        DataError: There is none of that name, or importing it fails.
    """
    named = _NAME.fullmatch(name)
    if named is None:
        raise DataError("--model", f"{name!r} is not python:package.module:function")
    module, path = named.groups()
    member: Any = _imported(module)
    for part in path.split("."):
        try:
            member = getattr(member, part)
        except AttributeError:
            advice = did_you_mean(part, dir(member))
            raise DataError("--model", f"{module} has no {path}{advice}") from None
    if not callable(member):
        raise DataError("--model", f"{path} of {module} is no function: it cannot be called")
    return maker(member)


def maker(agent: Agent | type[Any]) -> Callable[[], Agent]:
    """Return what makes the agent of an episode: a class makes one each, else it is the same."""
    return agent if isinstance(agent, type) else lambda: agent


def refuse_options(name: str, options: RequestOptions) -> None:
    """Refuse what a server is told and an agent is not.

    Raises:
        DataError: There is something of it.
    """
    told = {*options.sampling, *options.calling, *options.provider}
    flags = sent_as(LiveSettings, "server", "sampling", "calling", "provider")
    given = [flag for name, flag in flags.items() if name in told or vars(options).get(name)]
    if given:
        raise DataError(given[0], f"is for a server; {name} is your own code, so set it there")


def connect_agent(name: str, options: RequestOptions = USUAL) -> AgentModel:
    """Return a client for the agent of a name.

    Raises:
        DataError: There is none, or an option is not for agents.
    """
    refuse_options(name, options)
    return AgentModel(agent_named(name), options.timeout)


def _imported(module: str) -> object:
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        return import_module(module)
    except (Exception, SystemExit) as error:
        said = one_line(f"{type(error).__name__}: {error}")
        raise DataError("--model", f"{module} cannot be imported: {said}") from error
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _is_coroutine_function(agent: Agent) -> bool:
    function = agent if inspect.isroutine(agent) else type(agent).__call__
    return inspect.iscoroutinefunction(inspect.unwrap(function))


def _traceback(error: BaseException) -> str:
    """Return a traceback that begins in the agent."""
    place = error.__traceback__
    while place and place.tb_next and place.tb_frame.f_code.co_filename in (__file__, _THREAD_FILE):
        place = place.tb_next
    return "".join(traceback.format_exception(type(error), error, place))


def _message(answer: object) -> Mapping[str, Any]:
    """Return an answer as a message of chat completions.

    Raises:
        AgentError: It is none.
    """
    dump = getattr(answer, "model_dump", None)
    if callable(dump):
        answer = dump()
    if isinstance(answer, str):
        answer = {"content": answer}
    problem = _problem(answer)
    if problem:
        raise AgentError(f"the agent returned {problem}; {_EXPECTED}")
    message: Mapping[str, Any] = json.loads(json.dumps(answer))
    return message


def _problem(answer: object) -> str | None:
    """Return in which way an answer is no message."""
    if not isinstance(answer, Mapping):
        return f"a value of the type {type(answer).__name__}"
    if answer.get("role", "assistant") != "assistant":
        return f"a message of the role {answer['role']!r:.40}"
    content, calls = answer.get("content"), answer.get("tool_calls")
    if not isinstance(content, str | list | None):
        return f"content of the type {type(content).__name__}"
    if not isinstance(calls, list | tuple | None):
        return f"tool_calls of the type {type(calls).__name__}"
    if content is None and calls is None:
        return "a dict with neither content nor tool_calls"
    if not all(_is_call(call) for call in calls or ()):
        return "a tool call without a function's name"
    try:
        json.dumps(answer)
    except (TypeError, ValueError, RecursionError) as error:
        return f"what cannot be written as JSON ({one_line(str(error))})"
    return None


def _is_call(call: object) -> bool:
    function = call.get("function") if isinstance(call, Mapping) else None
    return isinstance(function, Mapping) and isinstance(function.get("name"), str)
