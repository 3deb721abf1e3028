"""MCP server for episodes; it offers an entry's functions, and server tools (``finish_turn``)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcp import MCPError
from mcp.server import Server
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    TextContent,
    Tool,
)

from envs import __version__
from extensions.serving.episode_broker import (
    EpisodeBroker,
    EpisodeNotFound,
    NoEpisodeLeft,
    ServedEpisode,
    TooManyEpisodes,
    WrongStep,
)
from extensions.serving.mcp_server import Context
from runner.models.model_types import Reply, ToolCall, Usage

READ_TURN, FINISH_TURN, NEXT_EPISODE = "read_turn", "finish_turn", "next_episode"
PROMPT = "turn"
OWN_TOOLS = (READ_TURN, FINISH_TURN, NEXT_EPISODE)
"""Names of the server's tools; the functions of an entry must have other names."""

_INSTRUCTIONS = (
    f"A user asks for something in several turns. Read the user's message with the prompt {PROMPT} "
    f"or the tool {READ_TURN}. Use the other tools to do what the user asks. End the turn with "
    f"{FINISH_TURN} and your answer; its result has the user's next message, or the verdict. "
    f"{NEXT_EPISODE} begins another episode."
)
_MAX_COLLECTED_CALLS = 100

_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "description": "Your answer to the user."}},
    "required": ["answer"],
}
_TOOLS = [
    Tool(name=READ_TURN, description="Read the user's last message again.", input_schema=_NOTHING),
    Tool(
        name=FINISH_TURN,
        description="End your turn with an answer to the user, and read the next message.",
        input_schema=_ANSWER,
    ),
    Tool(
        name=NEXT_EPISODE,
        description="Begin the next episode after the current one is over.",
        input_schema=_NOTHING,
    ),
]

Seat = Callable[[Context], "ClientEpisode"]
"""Function that takes the context of a message and returns the episode of its client."""


class ClientEpisode:
    """Current episode of one MCP client.

    Args:
        name: Name of an episode that the client already has, or None.
    """

    def __init__(self, broker: EpisodeBroker, name: str | None = None) -> None:
        self._broker = broker
        self._name = name

    async def current(self) -> ServedEpisode:
        """Return the episode at its current step. Raises MCPError if the client has no episode."""
        try:
            if self._name is None:
                self._name = (await self._broker.claim()).name
            episode = self._broker.find(self._name)
        except (EpisodeNotFound, NoEpisodeLeft, TooManyEpisodes) as error:
            raise MCPError(INVALID_REQUEST, str(error)) from error
        await episode.ready()
        return episode

    async def next(self) -> ServedEpisode:
        """Begin the next episode.

        Raises MCPError if the current episode is not over.
        """
        if self._name is not None and (await self.current()).record is None:
            raise MCPError(INVALID_REQUEST, f"The episode is not over; use {FINISH_TURN}.")
        self._name = None
        return await self.current()


def episode_server(seat: Seat, *, hides_verdict: bool) -> Server[Any]:
    """Return a server that plays an episode with each client."""

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        episode = await seat(context).current()
        return ListToolsResult(tools=[*_functions(episode), *_TOOLS])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        client, arguments = seat(context), params.arguments or {}
        if params.name == NEXT_EPISODE:
            return _turn_result(await client.next(), hides_verdict)
        episode = await client.current()
        if params.name == READ_TURN:
            return _turn_result(episode, hides_verdict)
        if params.name == FINISH_TURN:
            answer = arguments.get("answer")
            if not isinstance(answer, str):
                raise MCPError(INVALID_PARAMS, f'{FINISH_TURN} needs the string "answer".')
            before = _names(episode)
            await _take(episode, _reply(answer, *episode.collected))
            return _turn_result(episode, hides_verdict, before)
        return await _call(episode, params.name, arguments, hides_verdict)

    async def list_prompts(_: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=[Prompt(name=PROMPT, description="The user's message.")])

    async def get_prompt(context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        if params.name != PROMPT:
            raise MCPError(INVALID_PARAMS, f"The only prompt is {PROMPT}.")
        episode = await seat(context).current()
        said = [TextContent(text=text) for text in _said(episode)]
        return GetPromptResult(messages=[PromptMessage(role="user", content=each) for each in said])

    return Server(
        "turnwise",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _functions(episode: ServedEpisode) -> list[Tool]:
    tools = episode.request.tools.tools if episode.request and episode.request.tools else []
    return [
        Tool(
            name=each["function"]["name"],
            description=each["function"].get("description"),
            input_schema=each["function"]["parameters"],
        )
        for each in tools
    ]


def _names(episode: ServedEpisode) -> list[str]:
    return [tool.name for tool in _functions(episode)]


async def _call(
    episode: ServedEpisode, name: str, arguments: dict[str, Any], hides_verdict: bool
) -> CallToolResult:
    """Call a function of the entry. If the call reaches the step limit, the episode ends."""
    if episode.record is not None:
        return _turn_result(episode, hides_verdict)
    call = ToolCall(None, name, json.dumps(arguments))
    if episode.player.has_single_turn:
        return _collect(episode, call)
    await _take(episode, _reply(None, call))
    if episode.request is None:
        return _turn_result(episode, hides_verdict)
    player = episode.player
    result = player.dialogue.episode.steps[-1].results[-1]
    # Notices of events follow the result.
    new = episode.request.messages[player.steps[-1].request_messages + 1 :]
    content: list[ContentBlock] = [TextContent(text=str(message["content"])) for message in new]
    return CallToolResult(content=content, is_error=not result.ok)


def _collect(episode: ServedEpisode, call: ToolCall) -> CallToolResult:
    """Store a call of a single-turn entry.

    Raises MCPError after too many calls.
    """
    if len(episode.collected) >= _MAX_COLLECTED_CALLS:
        raise MCPError(INVALID_REQUEST, f"At most {_MAX_COLLECTED_CALLS} calls are accepted.")
    episode.collected.append(call)
    text = f"Call {len(episode.collected)} is recorded and not executed. "
    text += f"Make all calls, then use {FINISH_TURN}."
    return CallToolResult(content=[TextContent(text=text)])


async def _take(episode: ServedEpisode, reply: Reply) -> None:
    try:
        await episode.take(reply)
    except WrongStep as error:
        raise MCPError(INVALID_REQUEST, f"{error} Use {NEXT_EPISODE}.") from error


def _reply(text: str | None, *calls: ToolCall) -> Reply:
    return Reply(text, calls, None, None, Usage(), 0.0)


def _said(episode: ServedEpisode) -> list[str]:
    if episode.request is None:
        return []
    messages = episode.request.messages
    turn = episode.player.dialogue.episode.turn
    steps = [step for step in episode.player.steps if step.turn == turn]
    end = steps[0].request_messages if steps else len(messages)
    earlier = [step for step in episode.player.steps if step.turn < turn]
    begin = earlier[-1].request_messages + 1 if earlier else 0
    return [str(each["content"]) for each in messages[begin:end]]


def _turn_result(
    episode: ServedEpisode, hides_verdict: bool, before: list[str] | None = None
) -> CallToolResult:
    view = episode.view(with_tools=False, hides_verdict=hides_verdict)
    shown = {name: value for name, value in view.items() if name not in ("messages", "tools")}
    if episode.record is not None:
        text = f"The episode is over. {json.dumps(shown)}"
    else:
        new = [name for name in _names(episode) if before is not None and name not in before]
        added = f"\nNew tools: {', '.join(new)}. List the tools again." if new else ""
        text = "\n".join(_said(episode)) + added
        if episode.collected:
            shown["calls"] = [call.name for call in episode.collected]
        shown["message"] = "\n".join(_said(episode))
    return CallToolResult(content=[TextContent(text=text)], structured_content=shown)
