"""Requests, replies and errors of model clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Protocol, get_args

ChatMessage = dict[str, Any]
"""One message in the form of chat completions: role, content, and tool fields."""

ApiName = Literal["chat", "responses"]
Wire = Literal[ApiName, "functions", "completions"]
"""Name of an OpenAI API; only some calling formats use ``functions`` and ``completions``."""

CHARACTERS_PER_TOKEN = 4


class IdentityKey:
    """A dictionary key that compares objects by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        """Tell whether both keys refer to the same object; an equal object is not enough."""
        return isinstance(other, IdentityKey) and other.value is self.value

    def __hash__(self) -> int:
        """Return the object's identity."""
        return id(self.value)


def unchanged(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool unchanged, that is, in the form of chat completions."""
    return tool


def without_response(form: ToolForm) -> ToolForm:
    """Return a function that removes the result schema from tools."""

    def formed(tool: Mapping[str, Any]) -> Mapping[str, Any]:
        function = {name: each for name, each in tool["function"].items() if name != "response"}
        return form({**tool, "function": function})

    return formed


ToolForm = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@lru_cache(maxsize=8192)
def _encoded(tool: IdentityKey, form: ToolForm) -> bytes:
    return json.dumps(form(tool.value), separators=(",", ":")).encode()


def separate(items: Iterable[bytes]) -> Sequence[bytes]:
    """Insert a comma between each item and the next item."""
    return [part for item in items for part in (b",", item)][1:]


class ToolList:
    """List of the tools in requests; the list is encoded once."""

    def __init__(self, tools: Sequence[dict[str, Any]]) -> None:
        self.tools = list(tools)
        self._formed: dict[ToolForm, Sequence[bytes]] = {}

    def formed(self, form: ToolForm) -> Sequence[bytes]:
        """Return the tools as JSON in an API's format."""
        if form not in self._formed:
            # Many lists have the same tools, so the joined text would take much memory.
            self._formed[form] = separate(_encoded(IdentityKey(tool), form) for tool in self.tools)
        return self._formed[form]

    @property
    def encoded(self) -> bytes:
        """The tools as JSON."""
        return b"[%s]" % b"".join(self.formed(unchanged))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the encoded tools, in hex."""
        return sha256(self.encoded).hexdigest()


class Request(NamedTuple):
    """One request to a model."""

    messages: Sequence[ChatMessage]
    tools: ToolList | None
    conversation: object = None
    """Identity of the conversation; some clients keep data for each conversation."""
    trial: int = 0
    """Trial number, starting at 0; each trial has its own seed."""
    grows: bool = False
    """Whether later requests start with the same messages."""
    entry: str = ""
    """Id of the entry, for offline models; never sent."""
    prompt: str | None = None


class ToolCall(NamedTuple):
    """One structured tool call, as the server sent it."""

    id: str | None
    name: str
    arguments: object


class Usage(NamedTuple):
    """Token counts of one request; None for an unknown count."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    written: int | None = None
    """Prompt tokens that were written to a cache; omitted from JSON if unknown."""

    def to_json(self) -> dict[str, int | None]:
        """Return the counts as a JSON object."""
        counts = self._asdict()
        return {name: n for name, n in counts.items() if n is not None or name != "written"}


class Price(NamedTuple):
    """Prices in US dollars per token."""

    input: float
    output: float
    cached: float | None = None
    """Price of input that is read from a cache; None if equal to the input price."""
    written: float | None = None
    """Price of input that is written to a cache; None if equal to the input price."""

    def of(self, usage: Usage) -> float | None:
        """Return the US dollars for one request, or None if the token counts are unknown."""
        if usage.prompt is None or usage.completion is None:
            return None
        cached = min(usage.cached or 0, usage.prompt)
        written = min(usage.written or 0, usage.prompt - cached)
        read_at = self.input if self.cached is None else self.cached
        written_at = self.input if self.written is None else self.written
        fresh = (usage.prompt - cached - written) * self.input
        return fresh + cached * read_at + written * written_at + usage.completion * self.output


@dataclass(frozen=True, eq=False, repr=False)
class RequestOptions:
    """Connection and settings of every request to a model."""

    base_url: str | None = None
    """Address of an OpenAI-compatible server, or of the provider; None for the default."""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Settings such as temperature and seed, under OpenAI's names."""
    calling: Mapping[str, Any] = field(default_factory=dict)
    """Settings for tools, such as tool_choice, under OpenAI's names."""
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Additional fields of the request's body; they override ``sampling``."""
    api: Wire | None = None
    """API of the requests; None for the model's default."""
    provider: Mapping[str, Any] = field(default_factory=dict)
    """Settings for the clients of some providers, such as prompt_caching."""
    timeout: float = 600.0
    price: Price | None = None
    """Token price; None for the listed price."""
    stream: Any = None
    """Reader of streamed answers; None without streaming."""

    def sampling_of(self, trial: int) -> Mapping[str, Any]:
        """Return the sampling settings of a trial; the trial's number is added to the seed."""
        if "seed" not in self.sampling:
            return self.sampling
        return {**self.sampling, "seed": self.sampling["seed"] + trial}


USUAL = RequestOptions()


class VerbatimParts(NamedTuple):
    """Parts of an answer that the server expects back unchanged, such as signed reasoning."""

    message: Mapping[str, Any]
    """Fields of the answer's message that contain reasoning."""
    calls: Sequence[Mapping[str, Any]] = ()


class Reply(NamedTuple):
    """One answer of a model."""

    text: str | None
    tool_calls: tuple[ToolCall, ...]
    reasoning: str | None
    finish_reason: str | None
    usage: Usage
    latency: float
    """Seconds between sending the request and reading the answer, without Turnwise's own waits."""
    cost: float | None = None
    verbatim: VerbatimParts | None = None


class Model(Protocol):
    """Client for one model, including its sampling parameters."""

    async def ask(self, request: Request) -> Reply:
        """Send a request once.

        Raises:
            TransientError: A retry may succeed.
            RequestError: This request will never succeed; other requests may.
            FatalError: No request will succeed.
        """

    async def close(self) -> None:
        """Release connections."""


FaultKind = Literal["context_overflow", "unparsed_call", "content_policy", "request_too_large"]
ErrorKind = Literal[FaultKind, "timeout", "connection", "rate_limit", "server", "refused", "agent"]
"""Kinds of request errors. The model is to blame only for the kinds in ``FaultKind``."""

FAULTS: frozenset[ErrorKind] = frozenset(get_args(FaultKind))
ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)


class ModelError(Exception):
    """A request without an answer.

    The message is one line for the user. ``kind`` is None if a bug in Turnwise caused the error.
    """

    def __init__(self, message: str, kind: ErrorKind | None = None) -> None:
        super().__init__(message)
        self.kind = kind


class TransientError(ModelError):
    """An error that a retry may resolve: timeout, lost connection, rate limit, server error.

    Args:
        message: One line for the user.
        retry_after: Seconds that the server asks to wait, or None.
        unreachable: Whether no connection was made.
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
    """An error of this request alone, for example because the request is too long."""

    def __init__(self, message: str, kind: ErrorKind = "refused") -> None:
        super().__init__(message, kind)


class FatalError(ModelError):
    """An error that affects every request, such as a wrong key or an unknown model."""


class RedirectError(FatalError):
    """A redirect that is not followed. If it happens only once, a proxy may have caused it."""


class AgentError(ModelError):
    """A failed call of the user's agent; the message contains the traceback of an exception."""

    def __init__(self, message: str, traceback: str | None = None) -> None:
        super().__init__(message, "agent")
        self.traceback = traceback
