"""Requests to litellm's providers, for our own client to send.

litellm's own way of sending takes several times the CPU of all else that a request needs, for logs
and prices that nobody reads, and it translates the whole conversation for every request. So it is
asked what it would send, once for every list of tools: in a rehearsal, the request is caught where
it would go out. What is the same for all conversations (address, headers, settings, tools) is kept
in encoded form, and each message is translated once: for Anthropic and Gemini as their modules have
it; for providers that speak chat completions as it was seen to be done with a message of its shape.
Where that cannot be told, litellm sends by itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import httpx
from multidict import CIMultiDict
from yarl import URL

from runner.models.anthropic_api import ANTHROPIC
from runner.models.base import ChatMessage, Request
from runner.models.blocks import SYSTEM, BlockApi, Speech
from runner.models.caching import MARK, marked_places
from runner.models.encoding import PerMessage
from runner.models.gemini_api import GEMINI
from runner.models.transport import HttpRequest

APIS: Mapping[str, BlockApi] = {"anthropic": ANTHROPIC, "gemini": GEMINI}
"""Providers with an API of their own that we speak."""
OPENAI_LIKE = (
    "aiml",
    "baseten",
    "cerebras",
    "dashscope",
    "deepinfra",
    "deepseek",
    "fireworks_ai",
    "friendliai",
    "github",
    "groq",
    "hosted_vllm",
    "huggingface",
    "hyperbolic",
    "litellm_proxy",
    "llamafile",
    "lm_studio",
    "minimax",
    "mistral",
    "moonshot",
    "nebius",
    "novita",
    "nvidia_nim",
    "openrouter",
    "perplexity",
    "sambanova",
    "together_ai",
    "v0",
    "vercel_ai_gateway",
    "volcengine",
    "wandb",
    "xai",
    "zai",
)
"""Providers of litellm whose requests and answers are chat completions."""
TRANSLATED = (*OPENAI_LIKE, *APIS)
"""Providers that can be sent to so: one address, and a key that stays as it is."""

_CONVERSATION = ("system", "messages", "system_instruction", "contents")
"""Members of a body that hold the conversation."""


class Called(NamedTuple):
    """How litellm is called for a request."""

    arguments: Callable[[Request], dict[str, Any]]
    accepted: Callable[[ChatMessage], ChatMessage]
    """Leaves out of a message what the server refuses."""
    marked: Callable[[Request], bool]
    """Tells whether a request is marked for the provider's cache."""
    kind: Callable[[Request], Hashable]
    """On what all depends that is no part of the conversation."""


class Conversations(Protocol):
    """How a provider is sent conversations."""

    def known(self, request: Request, marks: Collection[int]) -> bool:
        """Tell whether a conversation needs no rehearsal."""
        ...

    def learn(self, request: Request, marks: Collection[int], body: Mapping[str, Any]) -> None:
        """Take note of a body that litellm would send."""
        ...

    def members(self, request: Request, marks: Collection[int]) -> bytes | None:
        """Return the members of the body that hold a conversation, None if litellm must do it."""
        ...


class Translation:
    """Requests of one model as its provider wants them.

    Args:
        library: litellm.
        name: ``provider/model``.
        base_url: Where that is, if not at the usual place.
        called: How litellm is called.
    """

    def __init__(self, library: Any, name: str, base_url: str | None, called: Called) -> None:
        self._library = library
        self._called = called
        self._name = name
        self._base_url = base_url
        self._provider = name.partition("/")[0]
        self._conversations = self._begun()
        self._rehearsing = asyncio.Lock()
        self._works = True
        self._envelopes: dict[Hashable, _Envelope] = {}

    def forget(self) -> None:
        """Encode all messages anew: what is accepted of them has changed."""
        self._conversations = self._begun()

    def _begun(self) -> Conversations:
        api, accepted = APIS.get(self._provider), self._called.accepted
        return _InBlocks(api, accepted) if api else _AsSeen(accepted)

    async def prepare(self, request: Request) -> None:
        """Rehearse a request if there was none like it."""
        if not self._works or self._ready(request):
            return
        async with self._rehearsing:
            if self._works and not self._ready(request):
                caught = await self._rehearsed(request)
                self._works = caught is not None and self._learns(request, caught)

    def outgoing(self, request: Request) -> HttpRequest | None:
        """Return what to send, None if litellm must do it."""
        envelope = self._envelopes.get(self._called.kind(request)) if self._works else None
        if envelope is None:
            return None
        members = self._conversations.members(request, self._marks(request))
        if members is None:
            return None
        return HttpRequest(envelope.url, envelope.headers, b"%b%b}" % (envelope.head, members))

    def _marks(self, request: Request) -> Collection[int]:
        return marked_places(request.messages) if self._called.marked(request) else ()

    def _ready(self, request: Request) -> bool:
        known = self._called.kind(request) in self._envelopes
        return known and self._conversations.known(request, self._marks(request))

    async def _rehearsed(self, request: Request) -> _Caught | None:
        for catching in (_catching_handler, self._catching_sdk):
            client = catching()
            if client is None:
                break
            try:
                await self._library.acompletion(
                    **{**self._called.arguments(request), "client": client}
                )
            except _Caught as caught:
                return caught
            except Exception:  # not its kind of client; or it is raised again where litellm sends
                continue
            finally:
                await client.close()
        return None

    def _catching_sdk(self) -> Any:
        """Return a client of OpenAI's that raises what it is to send; None where there is no key.

        Providers have either kind.
        """
        import openai

        _, _, key, url = self._library.get_llm_provider(self._name, api_base=self._base_url)
        if not key:
            return None
        http = httpx.AsyncClient(transport=_Catching())
        return openai.AsyncOpenAI(api_key=key, base_url=url, http_client=http)

    def _learns(self, request: Request, caught: _Caught) -> bool:
        """Keep what was caught, and tell whether it is what would be sent."""
        body = {name: part for name, part in caught.body.items() if name not in _CONVERSATION}
        envelope = _enclosing(caught, body)
        headers = envelope.headers
        # A key that had to be fetched may end, and none at all is litellm's to complain of.
        lasting = self._provider != "anthropic" or "x-api-key" in headers
        lasting = lasting and headers.get("authorization", "Bearer x").strip() != "Bearer"
        same = self._envelopes.setdefault(self._called.kind(request), envelope) == envelope
        if not (lasting and same and _names(body.get("tools")) == _names(_tools(request))):
            return False
        self._conversations.learn(request, self._marks(request), caught.body)
        return True


class _InBlocks:
    """Conversations in an API of its own.

    Args:
        api: How they are written there.
        accepted: Leaves out of a message what the server refuses.
    """

    def __init__(self, api: BlockApi, accepted: Callable[[ChatMessage], ChatMessage]) -> None:
        self._api = api
        self._accepted = accepted
        self._turns: PerMessage[Speech] = PerMessage(self._turn)
        self._takes_system = True

    def _turn(self, messages: Sequence[ChatMessage], place: int) -> Speech:
        return self._api.turn(self._accepted(messages[place]), messages[:place])

    def known(self, request: Request, marks: Collection[int]) -> bool:
        """Tell whether a conversation needs no rehearsal: none does."""
        return True

    def learn(self, request: Request, marks: Collection[int], body: Mapping[str, Any]) -> None:
        """Take note of a model that takes no system prompt."""
        named = {"system", "system_instruction"} & body.keys()
        told = any(message["role"] == "system" for message in request.messages)
        self._takes_system = self._takes_system and (bool(named) or not told)

    def members(self, request: Request, marks: Collection[int]) -> bytes | None:
        """Return the members of the body that hold a conversation, None where that is unknown."""
        turns = self._turns.of(request.messages)
        if not self._takes_system and any(turn.speaker == SYSTEM for turn in turns):
            return None
        return self._api.members(turns, marks)


class _AsSeen:
    """Conversations as chat completions, with those members of a message that litellm leaves in.

    Args:
        accepted: Leaves out of a message what the server refuses.
    """

    def __init__(self, accepted: Callable[[ChatMessage], ChatMessage]) -> None:
        self._accepted = accepted
        self._shapes: PerMessage[Hashable] = PerMessage(self._shape)
        self._encoded: PerMessage[bytes] = PerMessage(self._encode)
        self._numbers: dict[Hashable, int] = {}
        self._left_out: dict[Hashable, frozenset[str]] = {}
        self._changed: set[Hashable] = set()

    def _shape(self, messages: Sequence[ChatMessage], place: int) -> Hashable:
        """Return the number of a message's shape: whatever it says, and who spoke before."""
        before = messages[place - 1]["role"] if place else ""
        shape = (before, _shape(self._accepted(messages[place])))
        return self._numbers.setdefault(shape, len(self._numbers))

    def _encode(self, messages: Sequence[ChatMessage], place: int) -> bytes:
        return _json(self._sent(messages[place], self._shape(messages, place)))

    def _sent(self, message: ChatMessage, shape: Hashable) -> ChatMessage:
        left_out, accepted = self._left_out[shape], self._accepted(message)
        return {name: value for name, value in accepted.items() if name not in left_out}

    def known(self, request: Request, marks: Collection[int]) -> bool:
        """Tell whether all shapes of messages were seen."""
        shapes = self._shapes.of(request.messages)
        return all(shape in self._left_out for shape in shapes)

    def learn(self, request: Request, marks: Collection[int], body: Mapping[str, Any]) -> None:
        """Take note of what is left out of messages, and of those that are changed."""
        messages, shapes = request.messages, self._shapes.of(request.messages)
        sent = body.get("messages") or []
        if len(sent) != len(messages):
            # Some are left out, and it is not known which.
            new = [shape for shape in shapes if shape not in self._left_out]
            self._changed.update(new)
            self._left_out.update(dict.fromkeys(new, frozenset()))
            return
        for place, (message, shape) in enumerate(zip(messages, shapes, strict=True)):
            left_out = frozenset(self._accepted(message).keys() - sent[place].keys())
            seen = self._left_out.setdefault(shape, left_out)
            ours = _marked(self._sent(message, shape), marked=place in marks)
            if seen != left_out or ours != sent[place]:
                self._changed.add(shape)

    def members(self, request: Request, marks: Collection[int]) -> bytes | None:
        """Return the member of the body that holds a conversation, None for one that is changed."""
        messages, shapes = request.messages, self._shapes.of(request.messages)
        if self._changed and not self._changed.isdisjoint(shapes):
            return None
        encoded = self._encoded.of(messages)
        if marks:
            encoded = [*encoded]
            for place in marks:
                sent = self._sent(messages[place], shapes[place])
                encoded[place] = _json(_marked(sent, marked=True))
        return b'"messages":[%b]' % b",".join(encoded)


def _marked(message: ChatMessage, *, marked: bool) -> ChatMessage:
    """Return a message that ends with a mark for the cache, as gateways to Anthropic want it."""
    if not marked:
        return message
    return {**message, "content": [{"type": "text", "text": message["content"], **MARK}]}


class _Envelope(NamedTuple):
    """All of a request but its conversation."""

    url: URL
    headers: CIMultiDict[str]
    head: bytes
    """The body up to where the conversation goes."""


class _Caught(BaseException):
    """What would have been sent; no Exception, so that nothing deals with it on its way."""

    def __init__(self, url: str, headers: httpx.Headers, body: Mapping[str, Any]) -> None:
        super().__init__(url)
        self.url = url
        self.headers = headers
        self.body = body


class _Catching(httpx.AsyncBaseTransport):
    """Raises what is to be sent."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raise it."""
        headers = httpx.Headers(request.headers)
        del headers["host"], headers["content-length"]
        headers["Accept-Encoding"] = "gzip"
        raise _Caught(str(request.url), headers, json.loads(request.content))


def with_members(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with further members in it, where litellm left them in one of its own."""
    merged = {name: value for name, value in body.items() if name != "extra_body"}
    return {**merged, **body.get("extra_body", {})}


def _catching_handler() -> Any:
    """Return what litellm takes for its client, and which raises what it is to send."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    handler: Any = AsyncHTTPHandler()

    async def post(url: str, **named: Any) -> None:
        headers = httpx.Headers(handler.client.headers)
        headers.update({"Content-Type": "application/json", **(named.get("headers") or {})})
        headers["Accept-Encoding"] = "gzip"
        body = named.get("json") or json.loads(named["data"])
        raise _Caught(url, headers, with_members(body))

    handler.post = post
    return handler


def _enclosing(caught: _Caught, body: Mapping[str, Any]) -> _Envelope:
    head = _json(body)[:-1] + b","
    return _Envelope(URL(caught.url), CIMultiDict(caught.headers.multi_items()), head)


_json_text = partial(json.dumps, separators=(",", ":"))


def _json(value: object) -> bytes:
    return _json_text(value).encode()


def _tools(request: Request) -> Sequence[Mapping[str, Any]]:
    return request.tools.tools if request.tools else ()


def _names(tools: Sequence[Mapping[str, Any]] | None) -> list[object]:
    """Return the names of tools, which litellm changes where a provider does not take them."""
    declared = [each for tool in tools or () for each in tool.get("function_declarations", [tool])]
    return [tool.get("function", tool).get("name") for tool in declared]


def _shape(value: object) -> Hashable:
    if isinstance(value, dict):
        # Roles and kinds of content are told by their names.
        return tuple(
            [
                (name, part if name in ("role", "type") else _shape(part))
                for name, part in value.items()
            ]
        )
    if isinstance(value, list):
        return frozenset([_shape(part) for part in value])
    return type(value), not value
