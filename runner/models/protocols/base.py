"""What a protocol is: how functions are shown, and how calls and results are written and read.

A protocol is ``native`` where the server itself has functions, ``text`` where they stand in
ordinary messages, and ``raw`` where a family's control tokens are written out for ``/completions``.
Whatever it is, what a model called is recorded as a function-calling model's step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from envs.calls import Call
from envs.errors import MalformedCall
from runner.models.base import ChatMessage, ToolCall, Wire
from runner.models.tools import Document

Kind = Literal["native", "text", "raw"]

Tool = dict[str, Any]
"""A function as chat completions have it in ``tools``."""

NOTED = {"noted": "It is not executed here. Call again if more is to be called; else say so."}
"""What a call gives that is compared and not executed, where a model makes one call a step."""


class Spoken(NamedTuple):
    """What a reply tells the user, and what the model thought before."""

    text: str
    reasoning: str | None = None


def as_said(text: str) -> Spoken:
    """Take a reply for what it tells the user, as most families do."""
    return Spoken(text)


class Frame(NamedTuple):
    """How a family writes a conversation, with its control tokens."""

    roles: Mapping[str, tuple[str, str]]
    """What stands before and after a message, by its role."""
    cue: str
    """What a reply follows."""
    begin: str = ""
    """What the whole begins with."""
    closing: Callable[[str], str] | None = None
    """What stands after a reply, by the reply; None where that is always the same."""
    joins: frozenset[str] = frozenset()
    """After whose messages a reply goes on without what stands before it."""

    def render(self, messages: Sequence[ChatMessage]) -> str:
        """Return a conversation up to where the model goes on."""
        parts, last = [self.begin], ""
        for message in messages:
            parts.append(self._message(message, last))
            last = message["role"]
        return "".join([*parts, "" if last in self.joins else self.cue])

    def _message(self, message: ChatMessage, last: str) -> str:
        role, content = message["role"], message["content"] or ""
        before, after = self.roles.get(role) or self.roles["user"]
        if role != "assistant":
            return f"{before}{content}{after}"
        if self.closing is not None:
            after = self.closing(content)
        # A server may leave the token in the reply that ended it.
        return f"{'' if last in self.joins else before}{content.removesuffix(after)}{after}"


class Written(NamedTuple):
    """A protocol in which calls are text, read from a reply and written into one."""

    name: str
    kind: Kind
    parallel: bool
    """Whether a reply may hold several calls."""
    show: Callable[[Sequence[Document]], list[ChatMessage]]
    """Makes the messages that the conversation begins with."""
    write: Callable[[Sequence[Call], str, Sequence[Document]], str]
    """Writes calls, and what is said before them, as a model of the family does."""
    answer: Callable[[Sequence[Call | MalformedCall], Sequence[str], str], list[ChatMessage]]
    """Makes messages of calls, what they gave, and the reply that they stood in."""
    read: Callable[[str, Sequence[Document]], list[Call]]
    """Reads the calls of a reply; prose has none. Raises MalformedCall."""
    stops: tuple[str, ...] = ()
    """What a reply ends before."""
    frame: Frame | None = None
    """How a conversation is rendered for ``/completions``; None where messages are sent."""
    identifiers: bool = False
    """Whether names of functions must be identifiers, as in Python."""
    says: Callable[[str], Spoken] = as_said
    """Takes from a reply without calls what it tells the user."""

    @property
    def wire(self) -> Wire | None:
        """By which API it is spoken; None for any that has messages."""
        return None if self.frame is None else "completions"


class Native(NamedTuple):
    """A protocol in which the server reads and writes the calls."""

    name: str
    wire: Wire
    parallel: bool
    show: Callable[[Sequence[Tool]], list[Tool]]
    """Makes of the tools of all functions those that are sent."""
    write: Callable[[Sequence[Call], str], ChatMessage]
    """Makes the message in which a server of the kind sends calls, and what is said before them."""
    answer: Callable[[Sequence[ToolCall], Sequence[str]], list[ChatMessage]]
    """Makes messages of tool calls as they were sent, and what the calls in them gave."""
    read: Callable[[Sequence[ToolCall]], list[ToolCall]]
    """Makes of tool calls as they were sent those of functions."""
    kind: Kind = "native"


Protocol = Native | Written


def parameters_of(name: str, documents: Sequence[Document]) -> Mapping[str, Any]:
    """Return the schemas of a function's parameters; nothing of one that is not there."""
    for document in documents:
        if document["name"] == name:
            properties: Mapping[str, Any] = document["parameters"].get("properties", {})
            return properties
    return {}
