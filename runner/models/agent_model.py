"""Client for a Python agent, which is a callable that maps messages and tools to a message.

The arguments and the message have the form of chat completions. An exception of the agent counts as
an error, never as a failure of the model. Synchronous agents run in threads.
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
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from threading import Thread
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

from envs.errors import DataError, describe_exception, suggest_name
from runner.models.model_types import AgentError, Reply, Request, RequestOptions
from runner.models.recorded_messages import MalformedMessage, chat_messages, is_langchain
from runner.models.reply_reader import one_line, read_completion
from runner.models.settings import LiveSettings, sent_as

Agent = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Any]
"""``agent(messages, tools)`` returns an assistant message, a string, or an awaitable."""

_NAME = re.compile(r"python:(\w+(?:\.\w+)*):(\w+(?:\.\w+)*)")
_EXPECTED = (
    "return an assistant message: a string, or a dict such as "
    "{'role': 'assistant', 'content': ..., 'tool_calls': [{'id': ..., 'type': 'function', "
    "'function': {'name': ..., 'arguments': ...}}]}"
)


class _DaemonThreads(ThreadPoolExecutor):
    """Executor with a thread per call; the end of the process does not wait for its threads."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future = Future[Any]()
        future.set_running_or_notify_cancel()

        def run(_stdin: object) -> None:  # Python would abort if it closed a stdin in use
            try:
                future.set_result(function(*args, **named))
            except BaseException as error:
                # An asyncio future refuses StopIteration.
                kept = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
                future.set_exception(kept.with_traceback(error.__traceback__))

        Thread(target=run, args=[sys.stdin], daemon=True).start()
        return future


class AgentModel:
    """A client for an agent.

    ``make`` returns the agent of one episode. ``timeout`` is the maximum number of seconds per
    answer.
    """

    def __init__(self, make: Callable[[], Agent], timeout: float | None = None) -> None:
        self._make = make
        self._timeout = timeout
        self._agents: WeakKeyDictionary[Any, Agent] = WeakKeyDictionary()
        self._threads = _DaemonThreads()

    async def ask(self, request: Request) -> Reply:
        """Call the agent once.

        Raises:
            AgentError: The agent raised an exception, timed out, or returned no assistant message.
        """
        started = perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                message = read_message(await self._answer(request))
        except TimeoutError:
            raise AgentError(f"the agent took longer than {self._timeout:g} seconds") from None
        choice = {"message": message, "finish_reason": message.get("finish_reason")}
        body = {"choices": [choice], "usage": message.get("usage")}
        return read_completion(body, perf_counter() - started)

    async def close(self) -> None:
        """Do nothing."""

    async def _answer(self, request: Request) -> object:
        # The agent gets copies, so that its changes do not reach the record.
        messages = json.loads(json.dumps(request.messages))
        tools = json.loads(request.tools.encoded) if request.tools else []
        try:
            owner = request.conversation or self
            agent = self._agents.get(owner) or self._agents.setdefault(owner, self._make())
            loop = asyncio.get_running_loop()
            # Also for the agent's own asyncio.to_thread, for which the loop would wait at its end.
            loop.set_default_executor(self._threads)
            if _is_coroutine_function(agent):
                return await agent(messages, tools)
            answer = await loop.run_in_executor(None, agent, messages, tools)
            return await answer if inspect.isawaitable(answer) else answer
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
                raise
            summary = one_line(describe_exception(error))
            raise AgentError(f"the agent raised {summary}", _format_traceback(error)) from error


def agent_named(name: str) -> Callable[[], Agent]:
    """Import an agent; return a function that makes the agent of an episode.

    Raises DataError if the name does not exist or the import fails.

    Args:
        name: ``python:package.module:function``, or a class without required arguments. The current
            folder is searched first.
    """
    named = _NAME.fullmatch(name)
    if named is None:
        raise DataError("--model", f"{name!r} is not python:package.module:function")
    module, path = named.groups()
    member: Any = _import_module(module)
    for part in path.split("."):
        try:
            member = getattr(member, part)
        except AttributeError:
            advice = suggest_name(part, dir(member))
            raise DataError("--model", f"{module} has no {path}{advice}") from None
    if not callable(member):
        raise DataError("--model", f"{path} of {module} is not callable; name a function or class")
    return load_agent_maker(member)


def load_agent_maker(agent: Agent | type[Any]) -> Callable[[], Agent]:
    """Return a function that makes agents; a class gives a new agent for each episode."""
    return agent if isinstance(agent, type) else lambda: agent


def refuse_options(name: str, options: RequestOptions) -> None:
    """Raise DataError if an option that is only for servers is set."""
    sent = {*options.sampling, *options.calling, *options.provider}
    flags = sent_as(LiveSettings, "server", "sampling", "calling", "provider")
    given = [flag for name, flag in flags.items() if name in sent or vars(options).get(name)]
    if given:
        raise DataError(given[0], f"only servers use this option; change the code of {name}")


def _import_module(module: str) -> object:
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        return import_module(module)
    except (Exception, SystemExit) as error:
        summary = one_line(describe_exception(error))
        raise DataError("--model", f"{module} cannot be imported: {summary}") from error
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _is_coroutine_function(agent: Agent) -> bool:
    function = agent if inspect.isroutine(agent) else type(agent).__call__
    return inspect.iscoroutinefunction(inspect.unwrap(function))


def _format_traceback(error: BaseException) -> str:
    place = error.__traceback__
    while place and place.tb_next and place.tb_frame.f_code.co_filename == __file__:
        place = place.tb_next
    return "".join(traceback.format_exception(type(error), error, place))


def read_message(answer: object) -> Mapping[str, Any]:
    """Return an answer as a message of chat completions.

    Raises AgentError if the answer is not a message.
    """
    if callable(dump := getattr(answer, "model_dump", None)):
        answer = dump()
    if isinstance(answer, str):
        answer = {"content": answer}
    if isinstance(answer, Mapping) and (is_langchain(answer) or _has_blocks(answer)):
        answer = _openai_message(answer)
    if mismatch := _find_mismatch(answer):
        raise AgentError(f"the agent returned {mismatch}; {_EXPECTED}")
    message: Mapping[str, Any] = json.loads(json.dumps(answer))
    return message


def _has_blocks(answer: Mapping[str, Any]) -> bool:
    """Tell whether a message has calls among its content, as in Anthropic's API."""
    parts = answer["content"] if isinstance(answer.get("content"), list) else []
    return any(isinstance(part, Mapping) and part.get("type") == "tool_use" for part in parts)


def _openai_message(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    message = answer if is_langchain(answer) else {"role": "assistant", **answer}
    try:
        return next(chat_messages(message))
    except MalformedMessage as error:
        where = f"{error.path.removeprefix('.')}: {error.message}"
        raise AgentError(f"the agent returned {where}; {_EXPECTED}") from None


def _find_mismatch(answer: object) -> str | None:
    if not isinstance(answer, Mapping):
        return f"a value of the type {type(answer).__name__}"
    if "choices" in answer:
        return "a whole chat completion in place of its choices[0].message"
    if answer.get("role", "assistant") != "assistant":
        return f"a message with the role {answer['role']!r:.40}"
    content, calls = answer.get("content"), answer.get("tool_calls")
    if not isinstance(content, str | list | None):
        return f"content of the type {type(content).__name__}"
    if not isinstance(calls, list | tuple | None):
        return f"tool_calls of the type {type(calls).__name__}"
    if content is None and calls is None and not answer.get("function_call"):
        return "a dict with neither content nor tool_calls"
    if not all(_is_call(call) for call in calls or ()):
        return "a tool call without a function name"
    try:
        json.dumps(answer)
    except (TypeError, ValueError, RecursionError) as error:
        return f"a value that cannot be written as JSON ({one_line(str(error))})"
    return None


def _is_call(call: object) -> bool:
    function = call.get("function") if isinstance(call, Mapping) else None
    return isinstance(function, Mapping) and isinstance(function.get("name"), str)
