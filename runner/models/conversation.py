"""The chat with a model about one trajectory: what it is shown, and how its answers are read.

Function-calling and prompting models differ here and nowhere else. A conversation only grows, so
that any request can be reproduced from the number of its messages.
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
from runner.models.base import ChatMessage, Reply, Request, ToolCall, ToolList
from runner.models.prompting import (
    PromptFormat,
    PromptTexts,
    as_first_user,
    with_functions,
    with_results,
)
from runner.models.protocols.base import Native, Protocol, Written
from runner.models.protocols.tools import TOOLS
from runner.models.settings import ReasoningPolicy
from runner.models.tools import Document, Toolbox
from trajectories.schema import Message

_NO_IDENTIFIER = re.compile(r"\W")
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
    protocol: Protocol | None = None
    """How functions are shown and calls are written, where not as usual."""
    asks_on: bool = False
    """Whether a single turn goes on until the model makes no call, since a step has one."""


class Apart(NamedTuple):
    """A call of a function that only a search knows, apart from an answer's other calls."""

    given: Mapping[str, Any] | None = None
    """Its arguments; None where it is not called."""
    rest: Reply | None = None
    """The answer without it; None where it makes no other call."""


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
        self._extended: tuple[ToolList, Sequence[dict[str, Any]], ToolList] | None = None

    def request(self, notes: Sequence[str] = (), extra: Sequence[dict[str, Any]] = ()) -> Request:
        """Return the next request.

        Args:
            notes: What is said in this request only.
            extra: Tools that may be called in this request only, where there are any.
        """
        messages = self._sent
        if notes:
            messages = [*messages, {"role": "user", "content": "\n\n".join(notes)}]
        tools = self.tools
        if extra and tools is not None:
            tools = self._with_extra(tools, extra)
        # What is said only once is no beginning of later requests.
        return Request(messages, tools, None if notes or extra else self)

    def written(self, call: Call) -> str | None:
        """Return a call as the model would write it; None of one that makes structured calls."""
        return None

    def apart(self, reply: Reply, name: str) -> Apart:
        """Return what an answer gives a function of ours, before it is taken."""
        given = [call.arguments for call in reply.tool_calls if call.name == name]
        if not given:
            return Apart()
        kept = [place for place, call in enumerate(reply.tool_calls) if call.name != name]
        if not kept:
            return Apart(_as_object(given[0]))
        rest = reply._replace(tool_calls=tuple([reply.tool_calls[place] for place in kept]))
        if rest.verbatim and rest.verbatim.calls:
            signed = tuple([rest.verbatim.calls[p] for p in kept if p < len(rest.verbatim.calls)])
            rest = rest._replace(verbatim=rest.verbatim._replace(calls=signed))
        return Apart(_as_object(given[0]), rest)

    def heard(self, reply: Reply) -> Reply:
        """Return an answer with the thoughts that stand in its text."""
        return reply

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
        """Put a turn to the model."""

    @abstractmethod
    def hand_over(self, offered: frozenset[str], new: Sequence[str]) -> None:
        """Offer further functions within a turn; ``offered`` are all that may be called."""

    @abstractmethod
    def read(self, reply: Reply) -> Step:
        """Take an answer into the conversation and return it as a step to be decoded."""

    @abstractmethod
    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Show the model what its calls gave."""

    @abstractmethod
    def refuse(self, reason: str) -> None:
        """Note why an answer that was meant as calls was not executed."""

    def _with_extra(self, tools: ToolList, extra: Sequence[dict[str, Any]]) -> ToolList:
        # It is encoded once for as long as the same tools are offered, in all forks.
        if self._extended is None or self._extended[0] is not tools or self._extended[1] != extra:
            self._extended = tools, extra, ToolList([*tools.tools, *extra])
        return self._extended[2]

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
        self._native = style.protocol if isinstance(style.protocol, Native) else TOOLS
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
        """Put a turn to the model; functions that are new come last among the tools."""
        self._next_turn()
        self.hand_over(offered, offers)
        self._say(messages)
        if offers and not messages:
            self._put({"role": "user", "content": self._style.prompts.handover_fc})

    def hand_over(self, offered: frozenset[str], new: Sequence[str]) -> None:
        """Offer further functions, behind those that were there."""
        self._late = (*self._late, *[name for name in new if name not in self._late])
        late = tuple([name for name in self._late if name in offered])
        tools = self._style.toolbox.tools(offered, late)
        # The list itself goes where it is sent as it is: it was encoded once.
        own = self._native.show is TOOLS.show
        self.tools = tools if own else ToolList(self._native.show(tools.tools))

    def read(self, reply: Reply) -> Step:
        """Return the tool calls by the functions' real names, or the text where there are none."""
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
                "function": {"name": call.name, "arguments": _as_text(call.arguments)},
                **(more or {}),
            }
            for call, more in zip_longest(self._open_calls, signed[: len(self._open_calls)])
        ]
        self._put_answer(message, reply)
        names = self._style.toolbox.names
        return [
            {names.real(call.name): call.arguments} for call in self._native.read(self._open_calls)
        ]

    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Answer each tool call with its result."""
        shown = [result.observation for result in results]
        for message in self._native.answer(self._open_calls, shown):
            self._put(message)
        self._open_calls = []

    def refuse(self, reason: str) -> None:
        """Answer all open tool calls, since servers refuse a conversation in which one is open."""
        if not self._open_calls:
            return
        shown = [json.dumps({"error": reason})] * len(self._native.read(self._open_calls))
        for message in self._native.answer(self._open_calls, shown):
            self._put(message)
        self._open_calls = []

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
        if not self.messages:
            system = self._system(offered.difference(offers))
            first = messages[0] if messages and messages[0].role == "system" else None
            if first is not None:
                system, messages = f"{system}\n\n{first.content}".strip(), messages[1:]
            if system:
                self._put({"role": "system", "content": system})
            messages = self._with_functions(messages, offered.difference(offers))
        if offers:
            self.hand_over(offered, offers)
        self._say(messages)

    def hand_over(self, offered: frozenset[str], new: Sequence[str]) -> None:
        """Describe further functions in a message."""
        text = self._style.prompts.handover_prompt
        described = with_functions(text, self._style.toolbox.late(new))
        self._put({"role": "user", "content": described})

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

    def written(self, call: Call) -> str | None:
        """Return a call as the model would write it."""
        return f"[{call}]"

    def apart(self, reply: Reply, name: str) -> Apart:
        """Return what an answer gives a function of ours."""
        text = (reply.text or "").strip().strip("`")
        try:
            calls = parse_calls(text)
        except MalformedCall:
            return Apart({} if text.lstrip("[").startswith(f"{name}(") else None)
        given, others = _parted(calls, name)
        written = f"[{', '.join(map(str, others))}]"
        return Apart(given, reply._replace(text=written) if others else None)


class ByProtocol(Conversation):
    """The chat with a model that writes its calls as text, as a protocol has it.

    Its steps are those of a model that makes structured calls.

    Args:
        style: How the model is talked to.
        protocol: How functions are shown, and calls and results written.
    """

    def __init__(self, style: Style, protocol: Written) -> None:
        super().__init__(style)
        self._protocol = protocol
        self._documents: Sequence[Document] = ()
        self._late: tuple[str, ...] = ()
        self._said = ""
        self._written_as: dict[str, str] = {}

    def request(self, notes: Sequence[str] = (), extra: Sequence[dict[str, Any]] = ()) -> Request:
        """Return the next request; what else may be called is told by a note."""
        request = super().request(notes)
        frame = self._protocol.frame
        return request if frame is None else request._replace(prompt=frame.render(request.messages))

    def start_turn(
        self, messages: Sequence[Message], offered: frozenset[str], offers: Sequence[str]
    ) -> None:
        """Put a turn to the model; the functions come with the first one and stay."""
        self._next_turn()
        self._offer(offered, offers)
        if not self.messages:
            first = messages[0] if messages and messages[0].role == "system" else None
            early = len(self._documents) - len(offers)
            for shown in self._protocol.show(self._documents[:early]):
                if first is not None and shown["role"] == "system":
                    shown = {**shown, "content": f"{shown['content']}\n\n{first.content}"}
                    messages, first = messages[1:], None
                self._put(shown)
        if offers:
            self._describe(len(offers))
        self._say(messages)

    def hand_over(self, offered: frozenset[str], new: Sequence[str]) -> None:
        """Describe further functions in a message."""
        self._offer(offered, new)
        self._describe(len(new))

    def _offer(self, offered: frozenset[str], new: Sequence[str]) -> None:
        self._late = (*self._late, *new)
        tools = self._style.toolbox.tools(offered, self._late).tools
        self._documents = [self._named(tool["function"]) for tool in tools]

    def _describe(self, number: int) -> None:
        """Describe the last so many of the functions."""
        new = self._documents[len(self._documents) - number :]
        text = with_functions(self._style.prompts.handover_prompt, new)
        self._put({"role": "user", "content": text})

    def read(self, reply: Reply) -> Step:
        """Return the calls, what is unreadable of them as such, or what the user is told."""
        text = self._said = _up_to(reply.text or "", self._protocol.stops)
        self._put_answer({"role": "assistant", "content": text}, reply)
        try:
            calls = self._protocol.read(text, self._documents)
        except MalformedCall as error:
            return [{UNREADABLE: error.message}]
        made = [{self._real(call.name): json.dumps(dict(call.kwargs))} for call in calls]
        return made or self._protocol.says(text).text

    def observe(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        """Show results as the protocol has them."""
        shown = [
            call._replace(name=self._shown(call.name)) if isinstance(call, Call) else call
            for call in calls
        ]
        texts = [result.observation for result in results]
        for message in self._protocol.answer(shown, texts, self._said):
            self._put(message)

    def _named(self, document: Document) -> Document:
        """Return a document by a name that the protocol can write."""
        name = document["name"]
        if not self._protocol.identifiers or name.isidentifier():
            return document
        shown = _NO_IDENTIFIER.sub("_", f"_{name}" if name[:1].isdigit() else name)
        self._written_as.setdefault(shown, name)
        return {**document, "name": shown}

    def _real(self, written: str) -> str:
        """Return the function that the model means."""
        return self._style.toolbox.names.real(self._written_as.get(written, written))

    def _shown(self, real: str) -> str:
        """Return the name by which the model knows a function, or what it called instead."""
        legal = self._style.toolbox.names.shown(real)
        return next((w for w, name in self._written_as.items() if name == legal), legal)

    def refuse(self, reason: str) -> None:
        """Leave the text as it stands: the turn is over, and the user speaks next."""

    def written(self, call: Call) -> str | None:
        """Return a call as the model would write it."""
        return self._protocol.write([call], "", self._documents)

    def apart(self, reply: Reply, name: str) -> Apart:
        """Return what an answer gives a function of ours."""
        try:
            calls = self._protocol.read(reply.text or "", self._documents)
        except MalformedCall:
            return Apart()
        given, others = _parted(calls, name)
        written = self._protocol.write(others, "", self._documents) if others else None
        return Apart(given, reply._replace(text=written) if isinstance(written, str) else None)

    def heard(self, reply: Reply) -> Reply:
        """Return an answer with the thoughts that stand in its text."""
        thoughts = self._protocol.says(reply.text or "").reasoning
        return reply._replace(reasoning=thoughts) if thoughts and not reply.reasoning else reply


def conversation_of(style: Style, mode: Mode) -> Conversation:
    """Return the chat, at its beginning."""
    if isinstance(style.protocol, Written):
        return ByProtocol(style, style.protocol)
    return FunctionCalling(style) if mode == "fc" else Prompting(style)


def _parted(calls: Sequence[Call], name: str) -> tuple[Mapping[str, Any] | None, list[Call]]:
    """Return what the first call of a function is given, and the calls of all others."""
    given = [call.kwargs for call in calls if call.name == name]
    return (given[0] if given else None), [call for call in calls if call.name != name]


def _up_to(text: str, stops: Sequence[str]) -> str:
    """Return a text up to where a server should have ended it."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else text


def _as_object(arguments: Any) -> Mapping[str, Any]:
    """Return arguments by name; none where they are no object."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


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
