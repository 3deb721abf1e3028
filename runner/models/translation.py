"""What litellm makes of requests, for our own client to send.

litellm's own way of sending takes several times the CPU of all else that a request needs, for logs
and prices that nobody reads. So it is asked what it would send, once for every list of tools and
every shape of message: in a rehearsal, the request is caught where it would go out. What is the
same for all conversations is kept in encoded form, and the conversation itself is translated by
litellm's class for the provider. Should that ever give another request than the one that was
caught, litellm sends everything itself from then on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import httpx
from multidict import CIMultiDict
from yarl import URL

from runner.models.base import Request
from runner.models.transport import HttpAnswer, HttpRequest

OPENAI_LIKE = (
    "deepseek",
    "fireworks_ai",
    "groq",
    "hosted_vllm",
    "mistral",
    "openrouter",
    "together_ai",
    "xai",
)
"""Providers of litellm whose answers are chat completions as they are."""
TRANSLATED = (*OPENAI_LIKE, "anthropic", "gemini")
"""Providers that can be sent to so: one address, and a key that stays as it is."""

_CONVERSATION = ("system", "messages", "system_instruction", "contents")
"""Members of a body that hold the conversation."""


class Called(NamedTuple):
    """How litellm is called for a request."""

    arguments: Callable[[Request], dict[str, Any]]
    messages: Callable[[Request], list[dict[str, Any]]]
    """Those among the arguments."""
    kind: Callable[[Request], Hashable]
    """On what all other arguments depend."""


class Translation:
    """Requests of one model as its provider wants them.

    Args:
        library: litellm.
        name: ``provider/model``.
        base_url: Where that is, if not at the usual place.
        called: How litellm is called.
    """

    def __init__(
        self,
        library: Any,
        name: str,
        base_url: str | None,
        called: Called,
    ) -> None:
        self._library = library
        self._called = called
        self._provider = name.partition("/")[0]
        self._model = library.get_llm_provider(name, api_base=base_url)[0]
        self._known = {"custom_llm_provider": self._provider, "api_base": base_url}
        self._config = _gemini_config(library) if self._provider == "gemini" else self._found()
        self._rehearsing = asyncio.Lock()
        self._works = True
        self._shapes: set[Hashable] = set()
        self._envelopes: dict[Hashable, _Envelope] = {}

    async def prepare(self, request: Request) -> None:
        """Rehearse a request if there was none like it."""
        if not self._works or self._envelope(request):
            return
        async with self._rehearsing:
            if self._works and not self._envelope(request):
                caught = await self._rehearsed(request)
                self._works = caught is not None and self._learns(request, caught)

    def outgoing(self, request: Request) -> HttpRequest | None:
        """Return what to send, None if litellm must do it."""
        envelope = self._envelope(request) if self._works else None
        if envelope is None:
            return None
        try:
            conversation = self._translated(envelope, request)
        except Exception:  # litellm raises what it likes; its own way says what it means
            return None
        content = envelope.head + json.dumps(conversation, separators=(",", ":"))[1:].encode()
        return HttpRequest(envelope.url, envelope.headers, content)

    def answer(self, answer: HttpAnswer) -> Any:
        """Return an answer as litellm understands it; what it raises has no type in common."""
        return self._config.transform_response(
            model=self._model,
            raw_response=httpx.Response(answer.status, content=answer.content),
            model_response=self._library.ModelResponse(),
            logging_obj=_Silent(),
            request_data={},
            messages=[],
            optional_params={},
            litellm_params={},
            encoding=None,
        )

    def _found(self) -> Any:
        """Return litellm's class for the provider."""
        return self._library.utils.ProviderConfigManager.get_provider_chat_config(
            model=self._model, provider=self._library.LlmProviders(self._provider)
        )

    def _envelope(self, request: Request) -> _Envelope | None:
        """Return what goes around a request if all of its kind was rehearsed."""
        envelope = self._envelopes.get(self._called.kind(request))
        return envelope if envelope and self._shapes_of(request) <= self._shapes else None

    async def _rehearsed(self, request: Request) -> _Caught | None:
        handler = _catching_handler()
        try:
            await self._library.acompletion(
                **{**self._called.arguments(request), "client": handler}
            )
        except _Caught as caught:
            return caught
        except Exception:  # it is raised again where litellm does the sending
            return None
        finally:
            await handler.close()
        return None

    def _learns(self, request: Request, caught: _Caught) -> bool:
        """Keep what was caught, and tell whether it is what would be sent."""
        body = dict(caught.body)
        conversation = {name: body.pop(name) for name in _CONVERSATION if name in body}
        envelope = _enclosing(caught, body)
        # A key that had to be fetched may end.
        lasting = self._provider != "anthropic" or "x-api-key" in envelope.headers
        same = self._envelopes.setdefault(self._called.kind(request), envelope) == envelope
        if not (lasting and same and _names(body.get("tools")) == _names(_tools(request))):
            return False
        try:
            translated = self._translated(envelope, request)
        except Exception:  # as above
            return False
        self._shapes |= self._shapes_of(request)
        return translated == conversation

    def _shapes_of(self, request: Request) -> frozenset[Hashable]:
        """Return what messages there are, whatever they say."""
        with_tools = bool(_tools(request))
        messages = self._called.messages(request)
        return frozenset([(with_tools, _shape(message)) for message in messages])

    def _translated(self, envelope: _Envelope, request: Request) -> dict[str, Any]:
        """Return the members that hold the conversation."""
        # litellm changes what it gets.
        messages = json.loads(json.dumps(self._called.messages(request)))
        body = self._config.transform_request(
            model=self._model,
            messages=self._library.utils.validate_and_fix_openai_messages(messages),
            optional_params=dict(envelope.settings),
            litellm_params=dict(self._known),
            headers={},
        )
        return {name: body[name] for name in _CONVERSATION if name in body}


class _Envelope(NamedTuple):
    """All of a request but its conversation."""

    url: URL
    headers: CIMultiDict[str]
    head: bytes
    """The body up to where the conversation goes."""
    settings: Mapping[str, Any]
    """The body's other members, of tools no more than tells that there are some."""


class _Caught(BaseException):
    """What would have been sent; no Exception, so that nothing deals with it on its way."""

    def __init__(self, url: str, headers: httpx.Headers, body: Mapping[str, Any]) -> None:
        super().__init__(url)
        self.url = url
        self.headers = headers
        self.body = body


class _Silent:
    """Stands where litellm's classes have their log."""

    optional_params: ClassVar[Mapping[str, Any]] = {}

    def post_call(self, *_: object, **__: object) -> None:
        """Write nothing."""


def _gemini_config(library: Any) -> Any:
    """Return litellm's class for Gemini, which has the translation of requests elsewhere."""
    from litellm.llms.vertex_ai.gemini import transformation

    class Gemini(library.VertexGeminiConfig):  # type: ignore[misc]
        """Translates both ways."""

        def transform_request(self, headers: object, **named: Any) -> Any:
            """Return a body, of whose members only the conversation is of use."""
            named["optional_params"] = {}
            return transformation._transform_request_body(
                **named, custom_llm_provider="gemini", cached_content=None
            )

    return Gemini()


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
    head = json.dumps(body, separators=(",", ":"))[:-1] + ","
    settings = {name: value for name, value in body.items() if name != "model"}
    if "tools" in settings:
        settings["tools"] = settings["tools"][:1]
    headers = CIMultiDict(caught.headers.multi_items())
    return _Envelope(URL(caught.url), headers, head.encode(), settings)


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
