"""Agent for ``evaluate`` that lets an agent framework run the loop of tool calls.

    turnwise.evaluate(agent_factory=lambda: FrameworkAgent(play_turn))

``play_turn`` plays one turn with the framework and returns the answer. The episode's session
executes and judges every call, and the framework's tools return the results.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from envs.errors import DataError

ChatMessage = dict[str, Any]


class FrameworkTool:
    """An offered function in the form of a framework's tool."""

    def __init__(self, loop: FrameworkAgent, function: Mapping[str, Any]) -> None:
        self.name: str = function["name"]
        """Name of the function, without characters that some providers refuse."""
        self.description: str = function.get("description") or ""
        """Description for the model."""
        self.parameters: dict[str, Any] = function["parameters"]
        """JSON schema of the arguments."""
        self._loop = loop

    async def run(self, **arguments: Any) -> str:
        """Call the function, and return the text of its result."""
        return await self._loop.call(self.name, arguments)

    async def run_json(self, arguments: str) -> str:
        """Call the function with arguments as JSON text; the episode refuses malformed text."""
        return await self._loop.call(self.name, arguments)

    def run_in_thread(self, **arguments: Any) -> str:
        """Call the function from a thread of a synchronous framework."""
        return self._loop.call_in_thread(self.name, arguments)


PlayTurn = Callable[[list[ChatMessage], Sequence[FrameworkTool]], Awaitable[Any]]
"""Function that receives the user's new messages and the tools, and returns the answer to the user.
"""


class FrameworkAgent:
    """An agent built with a framework; the framework makes the calls of a turn.

    Args:
        play_turn: Coroutine function that plays a turn and returns the answer. The answer is a
            string or a message, possibly of LangChain, and may have the ``usage`` of the turn.
    """

    def __init__(self, play_turn: PlayTurn) -> None:
        if not callable(play_turn):
            raise DataError("play_turn", f"must be a coroutine function, but is {play_turn!r:.60}")
        self._play_turn = play_turn
        self._seen = 0
        self._turn: asyncio.Task[Any] | None = None
        self._calls: asyncio.Queue[tuple[ChatMessage, asyncio.Future[str]]] = asyncio.Queue()
        self._waiting: asyncio.Future[str] | None = None
        self._event_loop: asyncio.AbstractEventLoop | None = None
        self._count = 0

    async def __call__(self, messages: list[ChatMessage], tools: list[ChatMessage]) -> Any:
        """Return the next call of the turn, or the final answer."""
        self._event_loop = asyncio.get_running_loop()
        if len(messages) < self._seen:
            raise DataError(
                "agent", "can play only one episode; pass agent_factory=lambda: FrameworkAgent(...)"
            )
        new, self._seen = messages[self._seen :], len(messages) + 1
        if self._waiting is not None:
            if not self._waiting.done():
                # A notice of the entry's world can follow the result.
                self._waiting.set_result("\n".join(str(each["content"]) for each in new))
            self._waiting = None
        if self._turn is None:
            offered = [FrameworkTool(self, tool["function"]) for tool in tools]
            turn = self._play_turn(new, offered)
            if not inspect.isawaitable(turn):
                raise DataError("play_turn", "must be a coroutine function; write async def")
            self._turn = asyncio.ensure_future(_finish(turn))
        return await self._next(self._turn)

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """Make a call with an object or JSON text, and return the text of its result."""
        self._count += 1
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": text}
        made = {"id": f"call_{self._count}", "type": "function", "function": function}
        result: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        message = {"role": "assistant", "content": None, "tool_calls": [made]}
        await self._calls.put((message, result))
        return await result

    def call_in_thread(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Make a call from a worker thread. Raises DataError in the thread of the event loop."""
        assert self._event_loop
        with suppress(RuntimeError):
            if asyncio.get_running_loop() is self._event_loop:
                raise DataError("run_in_thread", "would block the event loop; await `run` instead")
        call = self.call(name, arguments)
        return asyncio.run_coroutine_threadsafe(call, self._event_loop).result()

    async def _next(self, turn: asyncio.Task[Any]) -> Any:
        called = asyncio.ensure_future(self._calls.get())
        try:
            await asyncio.wait({turn, called}, return_when=asyncio.FIRST_COMPLETED)
            if called.done():
                message, self._waiting = called.result()
                return message
            self._turn = None
            return turn.result()
        except asyncio.CancelledError:
            turn.cancel()
            raise
        finally:
            called.cancel()


async def _finish(turn: Awaitable[Any]) -> Any:
    """Await a turn. If the turn raises SystemExit, raise RuntimeError instead."""
    try:
        return await turn
    except SystemExit as error:
        raise RuntimeError(f"play_turn ended the program: SystemExit({error})") from error
