"""The chat with a model about one trajectory: what it is shown, and how its answers are read.

Function-calling and prompting models differ here and nowhere else. A conversation only grows, so
that any request can be reproduced from the number of its messages.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import zip_longest
from math import inf
from typing import Any, Literal, NamedTuple, Self

from checkers.replies.decoding import Step
from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.session import Session
from runner.models.base import ChatMessage, Reply, Request, ToolCall, ToolList
from runner.models.prompting import (
    PromptFormat,
    PromptTexts,
    as_first_user,
    with_functions,
    with_results,
)
from runner.models.tools import Toolbox
from trajectories.schema import Message

ReasoningPolicy = Literal["none", "last", "all"]
"""Of how many turns that are over a model sees its thoughts again; in a turn it always does."""

_TURNS_KEPT: Mapping[ReasoningPolicy, float] = {"none": 0, "last": 1, "all": inf}


Observe = Callable[[Session, Call | MalformedCall, Result], str | None]
"""Says what the model reads of a call that has just been made; None for the result's own text."""


class Style(NamedTuple):
    """What defines how models are talked to, besides the trajectory."""

    toolbox: Toolbox
    """The functions of the trajectory's backends."""
    prompts: PromptTexts
    reasoning: ReasoningPolicy
    format: PromptFormat | None = None
    """How a prompting model is asked about one turn; None for what ``prompts`` says."""
    observe: Observe | None = None
    """What it reads of a call where that is not the result's own text."""


class _Thoughts(NamedTuple):
    """An answer with thoughts that go back to the server."""

    turn: int
    place: int
    """Its place among the messages."""
    without: ChatMessage
    """The answer with none of them."""


class Conversation(ABC):
    """The chat about one trajectory.

    Attributes:
        messages: All messages so far, with all thoughts that any request had in them.
        tools: What the next request offers, or None for a prompting model.
    """

    def __init__(self, style: Style) -> None:
        self.messages: list[ChatMessage] = []
        self.tools: ToolList | None = None
        self._style = style
        self._sent = self.messages
        self._turn = 0
        self._thoughts: tuple[_Thoughts, ...] = ()

    def request(self) -> Request:
        """Return the next request."""
        return Request(self._sent, self.tools, self)

    def fork(self) -> Self:
        """Return an independent copy; messages are never edited, so the copy shares them."""
        forked = copy(self)
        forked.messages = self.messages.copy()
        forked._sent = forked.messages if self._sent is self.messages else self._sent.copy()
        return forked

    @abstractmethod
    def start_turn(
        self, messages: Sequence[Message], offered: frozenset[str], offers: Sequence[str]
    ) -> None:
        """Put a turn to the model.

        Args:
            messages: What the user says.
            offered: All functions of this turn.
            offers: Those of them that are new.
        """

    @abstractmethod
    def read(self, reply: Reply) -> Step:
        """Take an answer into the conversation and return it as a step to be decoded."""

    @abstractmethod
    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Show the model what its calls gave."""

    @abstractmethod
    def refuse(self, reason: str) -> None:
        """Note why an answer that was meant as calls was not executed."""

    def _say(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._put({"role": message.role, "content": message.content})

    def _put(self, message: ChatMessage) -> None:
        self.messages.append(message)
        if self._sent is not self.messages:
            self._sent.append(message)

    def _put_answer(self, message: ChatMessage, reply: Reply) -> None:
        """Take the model's answer into the chat, with what its server wants to see again."""
        if reply.verbatim and reply.verbatim.message:
            self._thoughts += (_Thoughts(self._turn, len(self.messages), message),)
            message = {**message, **reply.verbatim.message}
        self._put(message)

    def _next_turn(self) -> None:
        """Leave out of the requests the thoughts of turns that are over for long enough."""
        self._turn += 1
        kept = _TURNS_KEPT[self._style.reasoning]
        over = [each for each in self._thoughts if each.turn + kept < self._turn]
        if over:
            # In another list: to clients, one that they have seen has only grown.
            self._sent = self._sent.copy()
            for each in over:
                self._sent[each.place] = each.without
            self._thoughts = self._thoughts[len(over) :]


class FunctionCalling(Conversation):
    """The chat with a model that makes structured tool calls."""

    def __init__(self, style: Style) -> None:
        super().__init__(style)
        self._late: tuple[str, ...] = ()
        self._open_calls: list[str] = []
        self._ids: set[str] = set()

    def fork(self) -> Self:
        """Return an independent copy."""
        forked = super().fork()
        forked._ids = self._ids.copy()
        return forked

    def start_turn(
        self, messages: Sequence[Message], offered: frozenset[str], offers: Sequence[str]
    ) -> None:
        """Put a turn to the model; functions that are new come last among the tools."""
        self._next_turn()
        self._late = (*self._late, *offers)
        self.tools = self._style.toolbox.tools(offered, self._late)
        self._say(messages)
        if offers and not messages:
            self._put({"role": "user", "content": self._style.prompts.handover_fc})

    def read(self, reply: Reply) -> Step:
        """Return the tool calls by the functions' real names, or the text where there are none."""
        message: ChatMessage = {"role": "assistant", "content": reply.text}
        if not reply.tool_calls:
            message["content"] = reply.text or ""
            self._put_answer(message, reply)
            return reply.text
        self._open_calls = [self._new_id(call) for call in reply.tool_calls]
        signed = reply.verbatim.calls if reply.verbatim else ()
        message["tool_calls"] = [
            {
                "id": id,
                "type": "function",
                "function": {"name": call.name, "arguments": _as_text(call.arguments)},
                **(more or {}),
            }
            for id, call, more in zip_longest(self._open_calls, reply.tool_calls, signed)
        ]
        self._put_answer(message, reply)
        return [
            {self._style.toolbox.names.real(call.name): call.arguments} for call in reply.tool_calls
        ]

    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Answer each tool call with its result."""
        for id, result in zip(self._open_calls, results, strict=True):
            self._answer(id, result.observation)
        self._open_calls = []

    def refuse(self, reason: str) -> None:
        """Answer all open tool calls, since servers refuse a conversation in which one is open."""
        for id in self._open_calls:
            self._answer(id, json.dumps({"error": reason}))
        self._open_calls = []

    def _answer(self, id: str, text: str) -> None:
        self._put({"role": "tool", "tool_call_id": id, "content": text})

    def _new_id(self, call: ToolCall) -> str:
        """Return the id of a call, a new one where the server gave none or gave it twice."""
        id = call.id or ""
        number = len(self._ids)
        while not id or id in self._ids:
            number += 1
            id = f"call_{number}"
        self._ids.add(id)
        return id


class Prompting(Conversation):
    """The chat with a model that writes its calls as text."""

    def start_turn(
        self, messages: Sequence[Message], offered: frozenset[str], offers: Sequence[str]
    ) -> None:
        """Put a turn to the model; the system prompt comes with the first one and stays."""
        self._next_turn()
        prompts = self._style.prompts
        if not self.messages:
            system = self._system(offered.difference(offers))
            first = messages[0] if messages and messages[0].role == "system" else None
            if first is not None:
                system, messages = f"{system}\n\n{first.content}".strip(), messages[1:]
            if system:
                self._put({"role": "system", "content": system})
            messages = self._with_functions(messages, offered.difference(offers))
        if offers:
            new = with_functions(prompts.handover_prompt, self._style.toolbox.late(offers))
            self._put({"role": "user", "content": new})
        self._say(messages)

    def _system(self, offered: frozenset[str]) -> str:
        style = self._style
        if style.format is not None:
            return style.format.system(style.toolbox.plain(offered))
        if style.prompts.first_user is not None:
            return style.prompts.system
        return with_functions(style.prompts.system, style.toolbox.early(offered))

    def _with_functions(
        self, messages: Sequence[Message], offered: frozenset[str]
    ) -> Sequence[Message]:
        """Put functions into the first user message, where they are to stand there."""
        style = self._style
        text = style.prompts.first_user
        if style.format is not None or text is None:
            return messages
        place = next((i for i, each in enumerate(messages) if each.role == "user"), None)
        request = "" if place is None else messages[place].content
        filled = Message("user", as_first_user(text, request, style.toolbox.early(offered)))
        if place is None:
            return [filled, *messages]
        return [*messages[:place], filled, *messages[place + 1 :]]

    def read(self, reply: Reply) -> Step:
        """Return the text."""
        text = reply.text or ""
        self._put_answer({"role": "assistant", "content": text}, reply)
        return text

    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Show all results in one user message."""
        texts = ["(unreadable)" if isinstance(c, MalformedCall) else str(c) for c in calls]
        shown = with_results(
            self._style.prompts.observation, texts, [result.observation for result in results]
        )
        self._put({"role": "user", "content": shown})

    def refuse(self, reason: str) -> None:
        """Leave the text as it stands: the turn is over, and the user speaks next."""


def _as_text(arguments: Any) -> str:
    """Return arguments as the JSON text of an object.

    Servers read the conversation again with every request, and some refuse all of them once there
    is anything else in it.
    """
    try:
        if isinstance(arguments, dict):
            return json.dumps(arguments)
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except (TypeError, ValueError, RecursionError):
        return "{}"
