"""Models that our own client asks: of OpenAI-compatible servers, and of the providers in our table.

openai's own client takes longer to load than all of ours, and for every request it walks the whole
conversation and tool list. So the body is encoded here, each message and list of tools once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from multidict import CIMultiDict
from yarl import URL

from envs import __version__
from runner.models.apis import APIS, Speech
from runner.models.base import (
    ChatMessage,
    FatalError,
    ModelError,
    Request,
    RequestOptions,
)
from runner.models.caching import is_marked, marked_places, with_mark
from runner.models.connection import Client, check_members, explain, secrets_in
from runner.models.encoding import PerMessage
from runner.models.providers import OPENAI, Provider
from runner.models.reply import Endpoint
from runner.models.transport import (
    HttpAnswer,
    HttpRequest,
    NoHttpAnswer,
    Transport,
    check_status,
    json_in,
)

_NO_KEY = "no-key-needed"
"""What a server is sent where there is no key; some insist on one."""
_NO_SUCH_PATH = (404, 405, 501)
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
    "Content-Type": "application/json",
    "User-Agent": f"turnwise/{__version__}",
}


class OpenAIModel(Client):
    """A model of an OpenAI-compatible endpoint, or of a provider in our table.

    The provider's variable has its key; only at its own address there must be one.

    Args:
        name: The model's name as the endpoint knows it.
        options: How it is reached; without a base URL it is where the provider's variable says, or
            else at the provider's usual address.
        provider: Who is asked.

    Raises:
        FatalError: No request can work: there is no key, or a setting makes no sense.
    """

    FAILURES = (NoHttpAnswer,)

    def __init__(self, name: str, options: RequestOptions, provider: Provider = OPENAI) -> None:
        url, key = _address(provider, options), provider.key
        named, variable = provider.name, provider.keys[0]
        if not key and url.scheme == "https" and url.host == URL(provider.url or "").host:
            more = ", or name another base URL" if provider is OPENAI else ""
            raise FatalError(f"{named} wants an API key: set {variable}{more}")
        headers = _checked_headers({variable: key, **options.extra_headers})
        address = f"{url.scheme}://{url.authority}{url.path}"
        secrets = secrets_in(headers.values())
        advice = f"set {variable} to one that it accepts"
        super().__init__(Endpoint(name, address, secrets, advice), options)
        del headers[variable]
        self._api = APIS[options.api] if options.api else provider.api_of(name)
        path = _joined(url.raw_path, self._api.path.format(model=quote(name)))
        self._url = url.with_path(path, encoded=True).with_query(url.query)
        self._name = name
        self._full_name = f"{named}/{name}"
        self._options = options
        refused = provider.refuses & {*options.sampling, *options.calling}
        if refused:
            listed = ", ".join(map(repr, sorted(refused)))
            raise FatalError(f"{self._full_name} does not take {listed}: leave it out of the run")
        self._heads = {0: self._head(0)}
        asked = self._api.calling(options.calling)
        calling = {k: v for k, v in asked.items() if k not in options.extra_body}
        self._calling = _encoded(calling).replace(b"{", b",", 1)[:-1] if calling else b""
        self._encoded = PerMessage(self._speech)
        self._headers = _sent(provider, key, headers)
        self._transport = Transport(secure=url.scheme == "https")

    async def close(self) -> None:
        """Release connections."""
        await self._transport.close()

    def _head(self, trial: int) -> bytes:
        """Return the beginning of every body of a trial, up to the conversation."""
        options = self._options
        check_members(options.extra_body)
        asked = self._api.settings(self._name, options.sampling_of(trial))
        settings = _merged(asked, options.extra_body)
        return _encoded(settings)[:-1] + (b"," if settings else b"")

    def _speech(self, messages: Sequence[ChatMessage], place: int) -> Speech:
        return self._api.speech(self._accepted(messages[place]), messages[:place])

    def _leave_out(self, thoughts: frozenset[str]) -> None:
        super()._leave_out(thoughts)
        self._encoded = PerMessage(self._speech)

    def _send(self, request: Request) -> Awaitable[HttpAnswer]:
        if request.trial not in self._heads:
            self._heads[request.trial] = self._head(request.trial)
        parts = [self._heads[request.trial]]
        marked = is_marked(self._full_name, request, self._options)
        if request.prompt is None:
            places = marked_places(request.messages) if marked else ()
            parts.append(self._api.members(self._encoded.of(request.messages), places))
        else:
            parts.append(b'"prompt":%b' % json.dumps(request.prompt).encode())
        if request.tools is not None and request.tools.tools:
            tools = request.tools.formed(self._api.tool)
            before, after = self._api.tools
            parts += [before, with_mark(tools) if marked else tools, after, self._calling]
        content = b"".join([*parts, b"}"])
        return self._transport.post(HttpRequest(self._url, self._headers, content))

    def _explained(self, error: Exception) -> ModelError:
        return explain(error, self._endpoint)

    def _body(self, answer: HttpAnswer) -> object:
        endpoint = self._endpoint
        if self._options.api in ("responses", "completions") and answer.status in _NO_SUCH_PATH:
            # It may have the model, and not this API.
            endpoint = endpoint._replace(model=f"/{self._api.path}, or no {endpoint.model}")
        check_status(answer, endpoint)
        return self._api.completion(json_in(answer, self._endpoint.address))


def _address(provider: Provider, options: RequestOptions) -> URL:
    base = options.base_url or provider.base
    if base is None:
        raise FatalError(f"set {provider.bases[0]} to the base URL of {provider.name}")
    return checked_url(base)


def _joined(base: str, path: str) -> str:
    """Return a path behind a base, which may end with how the path begins."""
    base, steps = base.rstrip("/"), path.split("/")
    for size in range(len(steps), 0, -1):
        base = base.removesuffix("/" + "/".join(steps[:size]))
    return f"{base}/{path}"


def _sent(provider: Provider, key: str, given: Mapping[str, str]) -> CIMultiDict[str]:
    """Return the headers of every request; the user's own win."""
    header, before = provider.credential
    headers = CIMultiDict({**_HEADERS, header: f"{before}{key or _NO_KEY}", **provider.headers})
    for name, variable in provider.variable_headers.items():
        if os.environ.get(variable):
            headers[name] = os.environ[variable]
    headers.update(given)
    return headers


def checked_url(text: str) -> URL:
    """Return a base URL.

    Raises:
        FatalError: It is none, or holds a password.
    """
    try:
        url = URL(text)
    except ValueError as error:
        raise FatalError(f"the base URL is not valid: {error}") from None
    if url.user or url.password:
        raise FatalError("the base URL holds a password; send it as an Authorization header")
    if url.scheme not in ("http", "https") or not url.host:
        raise FatalError(f"the base URL {text!r} must be like http://localhost:8000/v1")
    return url


def _checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not (name + value).isascii() or not (name + value).isprintable():
            raise FatalError(f"{name} has characters that cannot be sent")
    return dict(headers)


def _merged(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the user's own, which win; those in an object win there."""
    both = {
        name: {**ours[name], **value}
        for name, value in theirs.items()
        if isinstance(value, Mapping) and isinstance(ours.get(name), Mapping)
    }
    return {**ours, **theirs, **both}


def _encoded(settings: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(settings, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise FatalError(f"a setting cannot be sent: {error}") from None
