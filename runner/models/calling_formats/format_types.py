"""Types of calling formats.

A format defines how functions, calls and results are written.

In a ``native`` format, the server reads and writes calls itself. In a ``text`` format, functions
and calls are ordinary text. In a ``raw`` format, a model family's control tokens enclose functions
and calls. In all formats, recorded steps contain structured calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from envs.calls import Call
from envs.errors import MalformedCall
from runner.models.model_types import ChatMessage, ToolCall, Wire
from runner.models.toolbox import Document

Kind = Literal["native", "text", "raw"]

Tool = dict[str, Any]

NOTED = {"noted": "It is not executed here. Call again if more is to be called; else say so."}
"""Result of a call that is not executed."""


class ReplyContent(NamedTuple):
    """The two parts of a reply: the text for the user, and the reasoning."""

    text: str
    reasoning: str | None = None


def as_said(text: str) -> ReplyContent:
    """Return a reply without reasoning: the whole text is the answer to the user."""
    return ReplyContent(text)


class PromptFrame(NamedTuple):
    """Control tokens of a model family."""

    roles: Mapping[str, tuple[str, str]]
    cue: str
    begin: str = ""
    closing: Callable[[str], str] | None = None
    """Function that returns the closing tokens of a reply. By default, the role determines them."""
    joins: frozenset[str] = frozenset()
    """After a message with one of these roles, a reply has no opening tokens."""

    def render(self, messages: Sequence[ChatMessage]) -> str:
        """Return the text of a conversation up to the next reply."""
        parts, last = [self.begin], ""
        for message in messages:
            parts.append(self._render_message(message, last))
            last = message["role"]
        return "".join([*parts, "" if last in self.joins else self.cue])

    def _render_message(self, message: ChatMessage, last: str) -> str:
        role, content = message["role"], message["content"] or ""
        before, after = self.roles.get(role) or self.roles["user"]
        if role != "assistant":
            return f"{before}{content}{after}"
        if self.closing is not None:
            after = self.closing(content)
        # A server may leave the stop token in the reply.
        return f"{'' if last in self.joins else before}{content.removesuffix(after)}{after}"


class FinishFunction(NamedTuple):
    """Function with which a model ends a turn or gives up.

    The function is never executed.
    """

    name: str
    arguments: Callable[[str], Mapping[str, Any] | None]
    """Function that returns the arguments of a reply's call, or ``None`` if there is no call."""


class TextFormat(NamedTuple):
    """A calling format with calls as text."""

    name: str
    kind: Kind
    parallel: bool
    show: Callable[[Sequence[Document]], list[ChatMessage]]
    write: Callable[[Sequence[Call], str, Sequence[Document]], str]
    """Function that writes a reply in the syntax of the model family."""
    answer: Callable[[Sequence[Call | MalformedCall], Sequence[str], str], list[ChatMessage]]
    """Function that returns a step as messages: a reply with calls, then the calls' results."""
    read: Callable[[str, Sequence[Document]], list[Call]]
    """Function that returns the calls of a reply; empty for prose. Raises MalformedCall."""
    stops: tuple[str, ...] = ()
    frame: PromptFrame | None = None
    identifiers: bool = False
    says: Callable[[str], ReplyContent] = as_said
    finish: FinishFunction | None = None

    @property
    def wire(self) -> Wire | None:
        """API that the requests must use; None if requests can use every chat API."""
        return None if self.frame is None else "completions"


class NativeFormat(NamedTuple):
    """A calling format; the server reads and writes the calls."""

    name: str
    wire: Wire
    parallel: bool
    show: Callable[[Sequence[Tool]], list[Tool]]
    write: Callable[[Sequence[Call], str], ChatMessage]
    answer: Callable[[Sequence[ToolCall], Sequence[str]], list[ChatMessage]]
    """Function that returns the messages with the results of the model's tool calls."""
    read: Callable[[Sequence[ToolCall]], list[ToolCall]]
    """Function that converts the model's tool calls to calls of the entry's functions."""
    kind: Kind = "native"


CallingFormat = NativeFormat | TextFormat
