"""Conversation of an episode: it builds requests and reads answers as steps.

Messages are only appended, so the number of messages identifies a request.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import zip_longest
from math import inf
from typing import Any, NamedTuple, Self

from checkers.profile import Mode
from checkers.replies.decoding import UNREADABLE, Step
from envs.calls import Call, parse_calls
from envs.errors import MalformedCall
from envs.results import Result
from envs.session import Session
from runner.models.calling_formats.format_types import CallingFormat, NativeFormat, TextFormat
from runner.models.calling_formats.tools import TOOLS
from runner.models.dialogue_user import User
from runner.models.model_types import ChatMessage, Reply, Request, ToolCall, ToolList
from runner.models.prompting import (
    PromptFormat,
    PromptTexts,
    as_first_user,
    with_functions,
    with_results,
)
from runner.models.settings import ReasoningPolicy
from runner.models.toolbox import Document, Toolbox, legal_name
from trajectories.schema import Message

_NO_IDENTIFIER = re.compile(r"\W")
_TURNS_KEPT: Mapping[ReasoningPolicy, float] = {"none": 0, "last": 1, "all": inf}


Observe = Callable[[Session, Call | MalformedCall, Result, str], str | None]
"""Function that returns a call's result as text for the model, or None for the default text."""


class ConversationSettings(NamedTuple):
    """Settings of a conversation that are the same for all messages."""

    toolbox: Toolbox
    prompts: PromptTexts
    reasoning: ReasoningPolicy
    format: PromptFormat | None = None
    """Format of single-turn prompts; None to use ``prompts``."""
    observe: Observe | None = None
    protocol: CallingFormat | None = None
    asks_on: bool = False
    """Whether a single-turn entry can have several steps."""
    session: Callable[[Session, str], Session] | None = None
    """Function that wraps the session of the model."""
    user: User | None = None
    """Simulated user of the dialogue; None for the user of the entry, if any."""


class SplitAnswer(NamedTuple):
    """An answer split into the call of a search function and the other calls."""

    given: Mapping[str, Any] | None = None
    """Arguments of the search call; ``None`` if the answer has no search call."""
    rest: Reply | None = None
    """The answer without the search call, or None."""


class _ReasoningAnswer(NamedTuple):
    turn: int
    place: int
    without: ChatMessage


class Conversation(ABC):
    """The conversation of one episode."""

    def __init__(self, style: ConversationSettings) -> None:
        self.messages: list[ChatMessage] = []
        """All messages so far, with the reasoning of all requests."""
        self.tools: ToolList | None = None
        """Tools of the next request; None for a prompting model."""
        self._style = style
        self._sent = self.messages
        self._turn = 0
        self._thoughts: tuple[_ReasoningAnswer, ...] = ()
        self._extended: tuple[ToolList, Sequence[dict[str, Any]], ToolList] | None = None

    def request(self, notes: Sequence[str] = (), extra: Sequence[dict[str, Any]] = ()) -> Request:
        """Return the next request. Later requests omit the ``notes`` and the ``extra`` tools."""
        messages = self._sent
        if notes:
            messages = [*messages, {"role": "user", "content": "\n\n".join(notes)}]
        tools = self.tools
        if extra and tools is not None:
            tools = self._with_extra(tools, extra)
        # Later requests do not begin with a request that has notes or extra tools.
        return Request(messages, tools, None if notes or extra else self)

    @property
    def finish(self) -> str | None:
        """Function that ends a turn in the calling format, or None."""
        return None

    def written(self, call: Call) -> str | None:
        """Return a call in the model's notation; None for structured calls."""
        return None

    def apart(self, reply: Reply, name: str) -> SplitAnswer:
        """Separate the call of the search function from the other calls of an answer."""
        given = [call.arguments for call in reply.tool_calls if call.name == name]
        if not given:
            return SplitAnswer()
        kept = [place for place, call in enumerate(reply.tool_calls) if call.name != name]
        if not kept:
            return SplitAnswer(_read_arguments(given[0]))
        rest = reply._replace(tool_calls=tuple([reply.tool_calls[place] for place in kept]))
        if rest.verbatim and rest.verbatim.calls:
            signed = tuple([rest.verbatim.calls[p] for p in kept if p < len(rest.verbatim.calls)])
            rest = rest._replace(verbatim=rest.verbatim._replace(calls=signed))
        return SplitAnswer(_read_arguments(given[0]), rest)

    def heard(self, reply: Reply) -> Reply:
        """Move reasoning from an answer's text to the field for reasoning; return the answer."""
        return reply

    def fork(self) -> Self:
        """Return an independent copy; only the messages, which never change, are shared."""
        forked = copy(self)
        forked.messages = self.messages.copy()
        forked._sent = forked.messages if self._sent is self.messages else self._sent.copy()
        return forked

    @abstractmethod
    def start_turn(
        self, messages: Sequence[Message], offered: frozenset[str], offers: Sequence[str]
    ) -> None:
        """Add the messages and functions of a turn."""

    @abstractmethod
    def hand_over(self, offered: frozenset[str], new: Sequence[str]) -> None:
        """Offer the functions ``new`` during a turn; ``offered`` has all functions, old and new."""

    @abstractmethod
    def read(self, reply: Reply) -> Step:
        """Add an answer to the conversation, and return its step."""

    @abstractmethod
    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Add the results of calls."""

    @abstractmethod
    def refuse(self, reason: str) -> None:
        """Add the reason why the calls of an answer were not executed."""

    def notify(self, notices: Sequence[str]) -> None:
        """Add a user message with the notices of the worlds."""
        self._put_messages([Message("user", "\n".join(notices))] if notices else [])

    def _with_extra(self, tools: ToolList, extra: Sequence[dict[str, Any]]) -> ToolList:
        # All forks share the encoded list until the tools change.
        if self._extended is None or self._extended[0] is not tools or self._extended[1] != extra:
            self._extended = tools, extra, ToolList([*tools.tools, *extra])
        return self._extended[2]

    def _put_messages(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._put({"role": message.role, "content": message.content})

    def _put(self, message: ChatMessage) -> None:
        self.messages.append(message)
        if self._sent is not self.messages:
            self._sent.append(message)

    def _put_answer(self, message: ChatMessage, reply: Reply) -> None:
        if reply.verbatim and reply.verbatim.message:
            self._thoughts += (_ReasoningAnswer(self._turn, len(self.messages), message),)
            message = {**message, **reply.verbatim.message}
        self._put(message)

    def _next_turn(self) -> None:
        self._turn += 1
        kept = _TURNS_KEPT[self._style.reasoning]
        over = [each for each in self._thoughts if each.turn + kept < self._turn]
        if over:
            # Clients expect that a list they have seen only grows, so this makes a new one.
            self._sent = self._sent.copy()
            for each in over:
                self._sent[each.place] = each.without
            self._thoughts = self._thoughts[len(over) :]


class ToolCallConversation(Conversation):
    """A conversation with structured tool calls."""

    def __init__(self, style: ConversationSettings) -> None:
        super().__init__(style)
        self._native = style.protocol if isinstance(style.protocol, NativeFormat) else TOOLS
        self._late: tuple[str, ...] = ()
        self._open_calls: list[ToolCall] = []
        self._ids: set[str] = set()

    def fork(self) -> Self:
        """Return an independent copy."""
        forked = super().fork()
        forked._ids = self._ids.copy()
        return forked

    def start_turn(
        self, messages: Sequence[Message], offered: frozenset[str], offers: Sequence[str]
    ) -> None:
        """Add a turn; the turn's new functions come last among the tools."""
        self._next_turn()
        self.hand_over(offered, offers)
        self._put_messages(messages)
        if offers and not messages:
            self._put({"role": "user", "content": self._style.prompts.handover_fc})

    def hand_over(self, offered: frozenset[str], new: Sequence[str]) -> None:
        """Append new functions to the list of offered functions."""
        self._late = (*self._late, *[name for name in new if name not in self._late])
        late = tuple([name for name in self._late if name in offered])
        tools = self._style.toolbox.tools(offered, late)
        # An unchanged list is reused, because it is already encoded.
        is_unchanged = self._native.show is TOOLS.show
        self.tools = tools if is_unchanged else ToolList(self._native.show(tools.tools))

    def read(self, reply: Reply) -> Step:
        """Return the tool calls with the functions' real names, or the text without calls."""
        message: ChatMessage = {"role": "assistant", "content": reply.text}
        if not reply.tool_calls:
            message["content"] = reply.text or ""
            self._put_answer(message, reply)
            return reply.text
        self._open_calls = [call._replace(id=self._new_id(call)) for call in reply.tool_calls]
        signed = reply.verbatim.calls if reply.verbatim else ()
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": _sent_name(call.name),
                    "arguments": _write_arguments(call.arguments),
                },
                **(more or {}),
            }
            for call, more in zip_longest(self._open_calls, signed[: len(self._open_calls)])
        ]
        self._put_answer(message, reply)
        toolbox = self._style.toolbox
        return [toolbox.real_call(call) for call in self._native.read(self._open_calls)]

    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Answer each tool call with its result."""
        self._answer_calls([result.observation for result in results])

    def refuse(self, reason: str) -> None:
        """Answer the open tool calls with ``reason``; servers refuse requests with open calls."""
        if self._open_calls:
            shown = [json.dumps({"error": reason})] * len(self._native.read(self._open_calls))
            self._answer_calls(shown)

    def _answer_calls(self, shown: Sequence[str]) -> None:
        sent = [call._replace(name=_sent_name(call.name)) for call in self._open_calls]
        for message in self._native.answer(sent, shown):
            self._put(message)
        self._open_calls = []

    def _new_id(self, call: ToolCall) -> str:
        id = call.id or ""
        number = len(self._ids)
        while not id or id in self._ids:
            number += 1
            # Mistral takes ids of nine letters and digits only.
            id = f"call{number:05}"
        self._ids.add(id)
        return id


class PromptConversation(Conversation):
    """A conversation with a model that writes calls as text, such as ``[cd(folder='a')]``."""

    def start_turn(
        self, messages: Sequence[Message], offered: frozenset[str], offers: Sequence[str]
    ) -> None:
        """Add a turn; before the first turn, add the system prompt."""
        self._next_turn()
        if not self.messages:
            system = self._make_system_prompt(offered.difference(offers))
            first = messages[0] if messages and messages[0].role == "system" else None
            if first is not None:
                system, messages = f"{system}\n\n{first.content}".strip(), messages[1:]
            if system:
                self._put({"role": "system", "content": system})
            messages = self._with_functions(messages, offered.difference(offers))
        if offers:
            self.hand_over(offered, offers)
        self._put_messages(messages)

    def hand_over(self, offered: frozenset[str], new: Sequence[str]) -> None:
        """Describe further functions in a message."""
        text = self._style.prompts.handover_prompt
        described = with_functions(text, self._style.toolbox.late(new))
        self._put({"role": "user", "content": described})

    def _make_system_prompt(self, offered: frozenset[str]) -> str:
        style = self._style
        if style.format is not None:
            return style.format.system(style.toolbox.plain(offered))
        if style.prompts.first_user is not None:
            return style.prompts.system
        return with_functions(style.prompts.system, style.toolbox.early(offered))

    def _with_functions(
        self, messages: Sequence[Message], offered: frozenset[str]
    ) -> Sequence[Message]:
        style, text = self._style, self._style.prompts.first_user
        if style.format is not None or text is None:
            return messages
        place = next((i for i, each in enumerate(messages) if each.role == "user"), None)
        request = "" if place is None else messages[place].content
        filled = Message("user", as_first_user(text, request, style.toolbox.early(offered)))
        before, after = (
            ((), messages) if place is None else (messages[:place], messages[place + 1 :])
        )
        return [*before, filled, *after]

    def read(self, reply: Reply) -> Step:
        """Add the answer to the conversation and return its text."""
        text = reply.text or ""
        self._put_answer({"role": "assistant", "content": text}, reply)
        return text

    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Add all results in one user message."""
        texts = ["(unreadable)" if isinstance(c, MalformedCall) else str(c) for c in calls]
        shown = with_results(
            self._style.prompts.observation, texts, [result.observation for result in results]
        )
        self._put({"role": "user", "content": shown})

    def refuse(self, reason: str) -> None:
        """Add no message, because the turn is over and the user speaks next."""

    def written(self, call: Call) -> str | None:
        """Return a call in the model's notation."""
        return f"[{call}]"

    def apart(self, reply: Reply, name: str) -> SplitAnswer:
        """Separate the call of the search function from the other calls of an answer."""
        text = (reply.text or "").strip().strip("`")
        try:
            calls = parse_calls(text)
        except MalformedCall:
            return SplitAnswer({} if text.lstrip("[").startswith(f"{name}(") else None)
        given, others = _split_calls(calls, name)
        written = f"[{', '.join(map(str, others))}]"
        return SplitAnswer(given, reply._replace(text=written) if others else None)


class CallingFormatConversation(Conversation):
    """A conversation whose messages contain calls as text in a calling format."""

    def __init__(self, style: ConversationSettings, calling_format: TextFormat) -> None:
        super().__init__(style)
        self._format = calling_format
        self._documents: Sequence[Document] = ()
        self._late: tuple[str, ...] = ()
        self._reply_text = ""
        self._real_names: dict[str, str] = {}

    def request(self, notes: Sequence[str] = (), extra: Sequence[dict[str, Any]] = ()) -> Request:
        """Return the next request; ``notes`` describe the extra tools."""
        request = super().request(notes)
        frame = self._format.frame
        return request if frame is None else request._replace(prompt=frame.render(request.messages))

    def start_turn(
        self, messages: Sequence[Message], offered: frozenset[str], offers: Sequence[str]
    ) -> None:
        """Add a turn; before the first turn, add the functions."""
        self._next_turn()
        self._offer(offered, offers)
        if not self.messages:
            first = messages[0] if messages and messages[0].role == "system" else None
            early = len(self._documents) - len(offers)
            for shown in self._format.show(self._documents[:early]):
                if first is not None and shown["role"] == "system":
                    shown = {**shown, "content": f"{shown['content']}\n\n{first.content}"}
                    messages, first = messages[1:], None
                self._put(shown)
        if offers:
            self._describe(len(offers))
        self._put_messages(messages)

    def hand_over(self, offered: frozenset[str], new: Sequence[str]) -> None:
        """Describe further functions in a message."""
        self._offer(offered, new)
        self._describe(len(new))

    def _offer(self, offered: frozenset[str], new: Sequence[str]) -> None:
        self._late = (*self._late, *new)
        tools = self._style.toolbox.tools(offered, self._late).tools
        self._documents = [self._rename(tool["function"]) for tool in tools]

    def _describe(self, number: int) -> None:
        new = self._documents[len(self._documents) - number :]
        text = with_functions(self._style.prompts.handover_prompt, new)
        self._put({"role": "user", "content": text})

    def read(self, reply: Reply) -> Step:
        """Add the answer, and return it as a step: calls, a call with a parse error, or text."""
        text = self._reply_text = _cut_at_stops(reply.text or "", self._format.stops)
        self._put_answer({"role": "assistant", "content": text}, reply)
        try:
            calls = self._format.read(text, self._documents)
        except MalformedCall as error:
            return [{UNREADABLE: error.message}]
        made = [(self._real_names.get(call.name, call.name), dict(call.kwargs)) for call in calls]
        real = self._style.toolbox.names.real
        return [{real(name): json.dumps(given)} for name, given in made] or self._format.says(
            text
        ).text

    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Add results in the calling format."""
        shown = [
            call._replace(name=self._find_shown_name(call.name)) if isinstance(call, Call) else call
            for call in calls
        ]
        texts = [result.observation for result in results]
        for message in self._format.answer(shown, texts, self._reply_text):
            self._put(message)

    @property
    def finish(self) -> str | None:
        """Function that ends a turn in the calling format, or None."""
        return self._format.finish.name if self._format.finish else None

    def _rename(self, document: Document) -> Document:
        name = document["name"]
        if not self._format.identifiers or name.isidentifier():
            return document
        shown = _NO_IDENTIFIER.sub("_", f"_{name}" if name[:1].isdigit() else name)
        self._real_names.setdefault(shown, name)
        return {**document, "name": shown}

    def _find_shown_name(self, real: str) -> str:
        legal = self._style.toolbox.names.shown(real)
        return next((w for w, name in self._real_names.items() if name == legal), legal)

    def refuse(self, reason: str) -> None:
        """Add no message, because the turn is over and the user speaks next."""

    def written(self, call: Call) -> str | None:
        """Return a call in the model's notation."""
        return self._format.write([call], "", self._documents)

    def apart(self, reply: Reply, name: str) -> SplitAnswer:
        """Separate the call of the search function from the other calls of an answer."""
        try:
            calls = self._format.read(reply.text or "", self._documents)
        except MalformedCall:
            return SplitAnswer()
        given, others = _split_calls(calls, name)
        if self._format.finish is not None and name == self._format.finish.name:
            given = self._format.finish.arguments(reply.text or "")
        written = self._format.write(others, "", self._documents) if others else None
        return SplitAnswer(
            given, reply._replace(text=written) if isinstance(written, str) else None
        )

    def heard(self, reply: Reply) -> Reply:
        """Move reasoning from an answer's text to the field for reasoning; return the answer."""
        thoughts = self._format.says(reply.text or "").reasoning
        return reply._replace(reasoning=thoughts) if thoughts and not reply.reasoning else reply


def conversation_of(style: ConversationSettings, mode: Mode) -> Conversation:
    """Return an empty conversation."""
    if isinstance(style.protocol, TextFormat):
        return CallingFormatConversation(style, style.protocol)
    return ToolCallConversation(style) if mode == "fc" else PromptConversation(style)


def _split_calls(calls: Sequence[Call], name: str) -> tuple[Mapping[str, Any] | None, list[Call]]:
    given = [call.kwargs for call in calls if call.name == name]
    return (given[0] if given else None), [call for call in calls if call.name != name]


def _cut_at_stops(text: str, stops: Sequence[str]) -> str:
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else text


def _read_arguments(arguments: Any) -> Mapping[str, Any]:
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _sent_name(name: str) -> str:
    """Convert a function name, which the model may have invented, to a form that servers accept."""
    return legal_name(name) or "unnamed"


def _write_arguments(arguments: Any) -> str:
    """Return arguments as the text of a JSON object; arguments of another type become ``{}``."""
    try:
        if isinstance(arguments, dict):
            return json.dumps(arguments)
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except (TypeError, ValueError, RecursionError):
        return "{}"
