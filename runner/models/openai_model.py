"""Models behind an OpenAI-compatible endpoint, by either of its APIs.

openai's own client takes longer to load than all of ours, and for every request it walks the whole
conversation and tool list. So the body is encoded here, each message and list of tools once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from multidict import CIMultiDict
from yarl import URL

from envs import __version__
from runner.models.apis import APIS, CHAT
from runner.models.base import (
    ChatMessage,
    FatalError,
    ModelError,
    Request,
    RequestOptions,
)
from runner.models.connection import Client, check_members, explain, secrets_in
from runner.models.encoding import PerMessage
from runner.models.reply import Endpoint
from runner.models.transport import (
    HttpAnswer,
    HttpRequest,
    NoHttpAnswer,
    Transport,
    check_status,
    json_in,
)

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"

_NO_KEY = "no-key-needed"
"""What a server is sent where there is no key; some insist on one."""
_NO_SUCH_PATH = (404, 405, 501)
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
    "Content-Type": "application/json",
    "User-Agent": f"turnwise/{__version__}",
}
_HEADER_VARIABLES = {
    "OpenAI-Organization": "OPENAI_ORG_ID",
    "OpenAI-Project": "OPENAI_PROJECT_ID",
}
_JSON = json.JSONEncoder(separators=(",", ":"))


class OpenAIModel(Client):
    """A model of an OpenAI-compatible endpoint.

    ``OPENAI_API_KEY`` has its key; only OpenAI itself must have one.

    Args:
        name: The model's name as the endpoint knows it.
        options: How it is reached; without a base URL it is where ``OPENAI_BASE_URL`` says, or else
            OpenAI itself.

    Raises:
        FatalError: No request can work: there is no key, or a setting makes no sense.
    """

    FAILURES = (NoHttpAnswer,)

    def __init__(self, name: str, options: RequestOptions) -> None:
        url = checked_url(options.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL)
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not key and url.host == OPENAI_HOST:
            raise FatalError(
                "OpenAI wants an API key: set OPENAI_API_KEY, or name another base URL"
            )
        headers = _checked_headers({"OPENAI_API_KEY": key, **options.extra_headers})
        address = f"{url.scheme}://{url.authority}{url.path}"
        secrets = secrets_in(headers.values())
        advice = "set OPENAI_API_KEY to one that it accepts"
        super().__init__(Endpoint(name, address, secrets, advice), options)
        del headers["OPENAI_API_KEY"]
        self._api = APIS[options.api or "chat"]
        path = f"{url.raw_path.rstrip('/')}/{self._api.path}"
        self._url = url.with_path(path, encoded=True).with_query(url.query)
        self._name = name
        self._options = options
        self._heads = {0: self._head(0)}
        asked = self._api.calling(options.calling)
        calling = {k: v for k, v in asked.items() if k not in options.extra_body}
        self._calling = _encoded(calling).replace(b"{", b",", 1)[:-1] if calling else b""
        self._encoded = PerMessage(self._items)
        self._headers = _sent(key, headers)
        self._transport = Transport(secure=url.scheme == "https")

    async def close(self) -> None:
        """Release connections."""
        await self._transport.close()

    def _head(self, trial: int) -> bytes:
        """Return the beginning of every body of a trial, up to the conversation."""
        options = self._options
        settings = _merged(self._api.settings(options.sampling_of(trial)), options.extra_body)
        check_members(settings)
        return _encoded({"model": self._name, **settings})[:-1] + (
            f',"{self._api.conversation}":'.encode()
        )

    def _items(self, messages: Sequence[ChatMessage], place: int) -> bytes:
        items = self._api.items(self._accepted(messages[place]))
        return ",".join(map(_JSON.encode, items)).encode()

    def _leave_out(self, thoughts: frozenset[str]) -> None:
        super()._leave_out(thoughts)
        self._encoded = PerMessage(self._items)

    def _send(self, request: Request) -> Awaitable[HttpAnswer]:
        if request.trial not in self._heads:
            self._heads[request.trial] = self._head(request.trial)
        parts = [self._heads[request.trial]]
        if request.prompt is None:
            items = self._encoded.of(request.messages)
            parts += [b"[", b",".join(filter(None, items)), b"]"]
        else:
            parts.append(json.dumps(request.prompt).encode())
        if request.tools is not None and request.tools.tools:
            tools = self._api.tools(request.tools)
            parts += [b',"%b":' % self._api.offers, tools, self._calling]
        content = b"".join([*parts, b"}"])
        return self._transport.post(HttpRequest(self._url, self._headers, content))

    def _explained(self, error: Exception) -> ModelError:
        return explain(error, self._endpoint)

    def _body(self, answer: HttpAnswer) -> object:
        endpoint = self._endpoint
        if self._api.path != CHAT.path and answer.status in _NO_SUCH_PATH:
            # It may have the model, and not this API.
            endpoint = endpoint._replace(model=f"/{self._api.path}, or no {endpoint.model}")
        check_status(answer, endpoint)
        return self._api.completion(json_in(answer, self._endpoint.address))


def _sent(key: str, given: Mapping[str, str]) -> CIMultiDict[str]:
    """Return the headers of every request; the user's own win."""
    headers = CIMultiDict({**_HEADERS, "Authorization": f"Bearer {key or _NO_KEY}"})
    for name, variable in _HEADER_VARIABLES.items():
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
