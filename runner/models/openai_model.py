"""Client for OpenAI-compatible servers and for the providers in our table.

OpenAI's own client is slow to import, and it encodes the whole conversation for every request. The
client in this module encodes each message and each tool list once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from multidict import CIMultiDict
from yarl import URL

from envs import __version__
from runner.models.apis import APIS, EncodedMessage
from runner.models.client import Client, check_members, explain, secrets_in
from runner.models.message_encoder import MessageEncoder
from runner.models.model_types import (
    ChatMessage,
    FatalError,
    ModelError,
    Request,
    RequestOptions,
    without_response,
)
from runner.models.prompt_cache import is_marked, marked_places, with_mark
from runner.models.providers import OPENAI, Provider
from runner.models.reply_reader import Endpoint, secrets_in_address
from runner.models.streaming import STREAMED, read_stream
from runner.models.transport import (
    HttpAnswer,
    HttpRequest,
    HttpRequestFailure,
    Transport,
    check_status,
    json_in,
)

_NO_KEY = "no-key-needed"
"""Placeholder key for servers without keys, because some servers require the header."""
_NO_SUCH_PATH = (404, 405, 501)
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
    "Content-Type": "application/json",
    "User-Agent": f"turnwise/{__version__}",
}


class OpenAIModel(Client):
    """Client for models of OpenAI-compatible servers and of the providers in our table.

    The environment variable of the provider contains the key. With another ``base_url``, no key is
    required.

    Raises FatalError if the key is missing or a setting is invalid.
    """

    FAILURES = (HttpRequestFailure,)

    def __init__(self, name: str, options: RequestOptions, provider: Provider = OPENAI) -> None:
        url, key = _find_address(provider, options), provider.key
        named, variable = provider.name, provider.keys[0]
        if not key and url.scheme == "https" and url.host == URL(provider.url or "").host:
            more = ", or pass --base-url" if provider is OPENAI else ""
            raise FatalError(f"{named} requires an API key: set {variable}{more}")
        headers = _check_headers({variable: key, **options.extra_headers})
        address = f"{url.scheme}://{url.raw_authority}{url.path}"
        secrets = (*secrets_in(headers.values()), *secrets_in_address(str(url)))
        advice = f"set {variable} to a valid key"
        super().__init__(Endpoint(name, address, secrets, advice), options)
        del headers[variable]
        self._api = APIS[options.api] if options.api else provider.api_of(name)
        path = _join_paths(url.raw_path, self._api.path.format(model=quote(name, errors="replace")))
        self._url = url.with_path(path, encoded=True).with_query(url.query)
        self._name = name
        self._full_name = f"{named}/{name}"
        self._options = options
        refused = provider.refuses & {*options.sampling, *options.calling}
        if refused:
            listed = ", ".join(map(repr, sorted(refused)))
            raise FatalError(f"{self._full_name} does not take {listed}; leave it out")
        self._tool_form = self._api.tool
        self._heads = {0: self._encode_head(0)}
        converted = self._api.calling(options.calling)
        calling = {k: v for k, v in converted.items() if k not in options.extra_body}
        self._calling = _encode(calling).replace(b"{", b",", 1)[:-1] if calling else b""
        self._messages = MessageEncoder(self._encode_message)
        self._headers = _make_headers(provider, key, headers)
        self._transport = Transport(secure=url.scheme == "https")

    async def close(self) -> None:
        """Release connections."""
        await self._transport.close()

    def _encode_head(self, trial: int) -> bytes:
        options = self._options
        check_members(options.extra_body)
        ours = self._api.settings(self._name, options.sampling_of(trial))
        settings = _merge_settings(ours, options.extra_body)
        if options.stream:
            settings |= options.stream.fields(self._api.path)
        elif "stream" in self._demands:
            settings |= STREAMED
        return _encode(settings)[:-1] + (b"," if settings else b"")

    def _encode_message(self, messages: Sequence[ChatMessage], place: int) -> EncodedMessage:
        # A copy of the earlier messages would take quadratic time in long conversations.
        earlier = map(messages.__getitem__, reversed(range(place)))
        return self._api.speech(self._accepted(messages[place]), earlier)

    def _learn(self, thoughts: frozenset[str], demanded: frozenset[str]) -> None:
        super()._learn(thoughts, demanded)
        self._messages = MessageEncoder(self._encode_message)
        self._heads.clear()
        if "no-response" in demanded:
            self._tool_form = without_response(self._api.tool)

    def _encode_messages(
        self, messages: Sequence[ChatMessage], owner: object
    ) -> Sequence[EncodedMessage]:
        if not self._demands:
            return self._messages.of(messages, owner)
        return [self._encode_message(messages, place) for place in range(len(messages))]

    def _send(self, request: Request) -> Awaitable[HttpAnswer]:
        if request.trial not in self._heads:
            self._heads[request.trial] = self._encode_head(request.trial)
        parts = [self._heads[request.trial]]
        marked = is_marked(self._full_name, request, self._options)
        if request.prompt is None:
            messages = self._arranged(request.messages)
            places = marked_places(messages) if marked else ()
            encoded = self._encode_messages(messages, request.conversation)
            parts += self._api.members(encoded, places)
        else:
            parts.append(b'"prompt":%b' % json.dumps(request.prompt).encode())
        if request.tools is not None and request.tools.tools:
            tools = request.tools.formed(self._tool_form)
            before, after = self._api.tools
            last = with_mark(tools[-1]) if marked else tools[-1]
            parts += [before, *tools[:-1], last, after, self._calling]
        return self._transport.post(HttpRequest(self._url, self._headers, [*parts, b"}"]))

    def _explain(self, error: Exception) -> ModelError:
        return explain(error, self._endpoint)

    def _body(self, answer: HttpAnswer) -> object:
        endpoint = self._endpoint
        if self._options.api in ("responses", "completions") and answer.status in _NO_SUCH_PATH:
            # The server may have the model, but not the requested API.
            endpoint = endpoint._replace(model=f"/{self._api.path}, or no {endpoint.model}")
        check_status(answer, endpoint)
        kind = answer.headers.get("content-type", "").lower()
        if kind.startswith("text/event-stream") or answer.content.startswith(b"data:"):
            streaming = self._options.stream
            if streaming is None:
                return read_stream(answer.content, endpoint.address)
            got = streaming.read(answer.content, answer.arrivals, endpoint.address)
            return self._api.completion(got)
        return self._api.completion(json_in(answer, self._endpoint.address))


def _find_address(provider: Provider, options: RequestOptions) -> URL:
    base = options.base_url or provider.base
    if base is None:
        raise FatalError(f"set {provider.bases[0]} to the base URL of {provider.name}")
    return checked_url(base, f"the base URL ({' or '.join(('--base-url', *provider.bases))})")


def _join_paths(base: str, path: str) -> str:
    base, steps = base.rstrip("/"), path.split("/")
    for size in range(len(steps), 0, -1):
        base = base.removesuffix("/" + "/".join(steps[:size]))
    return f"{base}/{path}"


def _make_headers(provider: Provider, key: str, given: Mapping[str, str]) -> CIMultiDict[str]:
    header, before = provider.credential
    headers = CIMultiDict({**_HEADERS, header: f"{before}{key or _NO_KEY}", **provider.headers})
    for name, variable in provider.variable_headers.items():
        if os.environ.get(variable):
            headers[name] = os.environ[variable]
    headers.update(given)
    return headers


def checked_url(text: str, named: str = "the base URL") -> URL:
    """Return a base URL. Raises FatalError if the URL is invalid, or has a password."""
    shown = "***" if "@" in text else text.partition("?")[0].partition("#")[0][:200]
    with suppress(ValueError):
        url = URL(text)
        if url.user or url.password:
            raise FatalError(f"{named} contains a password; pass an Authorization --header")
        if url.scheme in ("http", "https") and url.host and b" " not in url.host.encode("idna"):
            return url
    raise FatalError(f"{named} {shown!r} is not valid; it must be like http://localhost:8000/v1")


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not (name + value).isascii() or not (name + value).isprintable() or {*" :"} & {*name}:
            raise FatalError(f"header {name} has characters that cannot be sent")
    return dict(headers)


def _merge_settings(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        name: {**ours[name], **value}
        for name, value in theirs.items()
        if isinstance(value, Mapping) and isinstance(ours.get(name), Mapping)
    }
    return {**ours, **theirs, **both}


def _encode(settings: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(settings, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise FatalError(f"a setting cannot be sent: {error}") from None
