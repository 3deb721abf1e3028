"""The records between the turn loop and a model client, and the errors that a client raises."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Protocol, get_args

ChatMessage = dict[str, Any]
"""One message as chat-completions servers have it: role, content, and tool members."""


ApiName = Literal["chat", "responses"]
"""Which of OpenAI's APIs a server is asked by."""
Wire = Literal[ApiName, "functions", "completions"]
"""The same, and its older ones, by which only protocols ask."""

CHARACTERS_PER_TOKEN = 4
"""A rough average, for estimates."""


class Same:
    """A value as a key that only the very same object has: nothing is to change it."""

    __slots__ = ("value",)

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        """Tell whether the other one is of the same object."""
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        """Return the object's."""
        return id(self.value)


def unchanged(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool in the form of chat completions, which all tools are made in."""
    return tool


ToolForm = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Changes a tool of chat completions into the form of another API."""


@lru_cache(maxsize=8192)
def _encoded(tool: Same, form: ToolForm) -> bytes:
    """Return a tool as JSON; lists that differ in order have the same tools."""
    return json.dumps(form(tool.value), separators=(",", ":")).encode()


class ToolList:
    """The tools of a request. They seldom change, so they are encoded once, not per request."""

    def __init__(self, tools: Sequence[dict[str, Any]]) -> None:
        self.tools = list(tools)
        self._formed: dict[ToolForm, bytes] = {}

    def formed(self, form: ToolForm) -> bytes:
        """Return the tools in the form of an API, as JSON with commas in between."""
        if form not in self._formed:
            self._formed[form] = b",".join([_encoded(Same(tool), form) for tool in self.tools])
        return self._formed[form]

    @cached_property
    def encoded(self) -> bytes:
        """The tools as JSON."""
        return b"[%s]" % self.formed(unchanged)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the encoded tools, in hex."""
        return sha256(self.encoded).hexdigest()


class Request(NamedTuple):
    """One question to a model."""

    messages: Sequence[ChatMessage]
    """The whole conversation so far."""
    tools: ToolList | None
    """What may be called; None for a prompting model."""
    conversation: object = None
    """Whose request it is, for a client that keeps something for as long as that lasts."""
    trial: int = 0
    """Which trial of its trajectory asks, from 0; each has a seed of its own."""
    grows: bool = False
    """Whether requests follow that begin with all of it, so that to cache it pays."""
    entry: str = ""
    """Whose trajectory it is about, for a model of ours that knows the data; never sent."""
    prompt: str | None = None
    """The conversation as one text, where it is to be completed; else None."""


class ToolCall(NamedTuple):
    """One structured tool call as the server sent it."""

    id: str | None
    name: str
    arguments: object
    """JSON text or an object; whatever came."""


class Usage(NamedTuple):
    """Tokens of one request; None where the server did not say."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    """Part of the prompt that was read from a cache."""
    reasoning: int | None = None
    """Part of the completion that was reasoning."""
    written: int | None = None
    """Part of the prompt that was written to a cache for later requests; left out where unknown."""

    def to_json(self) -> dict[str, int | None]:
        """Return the counts as a JSON object."""
        counts = self._asdict()
        return {name: n for name, n in counts.items() if n is not None or name != "written"}


class Price(NamedTuple):
    """US dollars per token."""

    input: float
    output: float
    cached: float | None = None
    """Of input that was read from a cache; None where that is not known to be cheaper."""
    written: float | None = None
    """Of input that was written to a cache; None where that is not known to be dearer."""

    def of(self, usage: Usage) -> float | None:
        """Return the US dollars for one request, None where nobody counted its tokens."""
        if usage.prompt is None or usage.completion is None:
            return None
        cached = min(usage.cached or 0, usage.prompt)
        written = min(usage.written or 0, usage.prompt - cached)
        read_at = self.input if self.cached is None else self.cached
        written_at = self.input if self.written is None else self.written
        fresh = (usage.prompt - cached - written) * self.input
        return fresh + cached * read_at + written * written_at + usage.completion * self.output


@dataclass(frozen=True)
class RequestOptions:
    """How a model is reached, and what goes with every request."""

    base_url: str | None = None
    """An OpenAI-compatible server, or another place of the provider's than the usual one."""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Settings such as temperature, top_p, seed and max_tokens, by OpenAI's names for them."""
    calling: Mapping[str, Any] = field(default_factory=dict)
    """Settings that only go with tools, such as tool_choice, by OpenAI's names for them."""
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Further members of the body as the server knows them; they win over ``sampling``."""
    api: Wire | None = None
    """By which API; None for what the model needs."""
    provider: Mapping[str, Any] = field(default_factory=dict)
    """Settings that only clients of some providers act on, by our names for them."""
    timeout: float = 600.0
    """Seconds that a request may take as a whole."""
    price: Price | None = None
    """What tokens cost; None for what is listed, where something is."""

    def sampling_of(self, trial: int) -> Mapping[str, Any]:
        """Return the sampling of a trial: its seed is the one given and its number."""
        if "seed" not in self.sampling:
            return self.sampling
        return {**self.sampling, "seed": self.sampling["seed"] + trial}


USUAL = RequestOptions()


class Verbatim(NamedTuple):
    """What a server wants to see again of its answer, as it sent it: signed thoughts and the like.

    None of it is read, not even an empty thought is left out.
    """

    message: Mapping[str, Any]
    """Members of the answer's message that are, or hold, thoughts."""
    calls: Sequence[Mapping[str, Any]] = ()
    """Further members of each of its tool calls."""


class Reply(NamedTuple):
    """One answer of a model."""

    text: str | None
    tool_calls: tuple[ToolCall, ...]
    reasoning: str | None
    finish_reason: str | None
    usage: Usage
    latency: float
    """Seconds from sending the request to having read the answer; no waiting of ours in it."""
    cost: float | None = None
    """US dollars, where the client knows the price."""
    verbatim: Verbatim | None = None
    """What goes back with it, where there is something of the kind."""


class Model(Protocol):
    """A client for one model with its sampling parameters."""

    async def ask(self, request: Request) -> Reply:
        """Make one request, once.

        Raises:
            TransientError: It may work if tried again.
            RequestError: This request will never work; others may.
            FatalError: No request will work.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


FaultKind = Literal["context_overflow", "unparsed_call", "content_policy", "request_too_large"]
"""What a model may do so that its server gives no answer."""
ErrorKind = Literal[FaultKind, "timeout", "connection", "rate_limit", "server", "refused", "agent"]
"""What may keep a request from being answered; those that are no ``FaultKind`` are not the model's
doing."""

FAULTS: frozenset[ErrorKind] = frozenset(get_args(FaultKind))
ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)


class ModelError(Exception):
    """A request that gave no answer; the message is one line for the user.

    Args:
        message: What happened, with the server's words.
        kind: What it was; None for a fault of ours.
    """

    def __init__(self, message: str, kind: ErrorKind | None = None) -> None:
        super().__init__(message)
        self.kind = kind


class TransientError(ModelError):
    """The request may work if tried again: timeout, lost connection, rate limit, server error.

    Args:
        message: What happened.
        retry_after: Seconds that the server asks to wait, or None.
        unreachable: Whether there was no server at all to answer.
        kind: What it was.
    """

    def __init__(
        self,
        message: str,
        retry_after: float | None = None,
        *,
        unreachable: bool = False,
        kind: ErrorKind = "server",
    ) -> None:
        super().__init__(message, kind)
        self.retry_after = retry_after
        self.unreachable = unreachable


class RequestError(ModelError):
    """The server will never answer this request, for example because it is too long."""

    def __init__(self, message: str, kind: ErrorKind = "refused") -> None:
        super().__init__(message, kind)


class FatalError(ModelError):
    """No request will work: wrong key, unknown model, no tool support, broken certificate."""


class AgentError(ModelError):
    """The user's own agent gave no answer.

    Args:
        message: What happened.
        traceback: Of what it raised, or None.
    """

    def __init__(self, message: str, traceback: str | None = None) -> None:
        super().__init__(message, "agent")
        self.traceback = traceback
