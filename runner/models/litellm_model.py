"""Models of litellm's providers that are not in our own table, sent by litellm itself."""

from __future__ import annotations

import json
import logging
import os
import re
import warnings
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

import httpx
from yarl import URL

from runner.models.base import FatalError, ModelError, Request, RequestOptions
from runner.models.caching import is_marked, marked_messages, marked_tools
from runner.models.connection import Client, check_members, known_cause, secrets_in
from runner.models.reply import Endpoint, classify, classify_words
from runner.models.transport import within

_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH")
_WHO_SAYS_SO = re.compile(r"^(?:(?:litellm\.)?\w+Error: |\w+Exception - )+")
_THOUGHTS = ("reasoning", "reasoning_details", "thinking")
_UNREADABLE = "an answer that litellm cannot read"
_NO_KEY = re.compile(r"missing [\w ]{0,30}api key", re.IGNORECASE)
_REFUSED_SETTINGS = re.compile(r"parameters: \[([^][]*+)\]")


@cache
def library() -> Any:
    """Return litellm, set up once for the whole process: it has no other settings than global ones.

    Raises:
        ModuleNotFoundError: It is not installed.
    """
    # Read when litellm is imported; without it, that fetches a file from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # A setting that a provider does not take is an error: else the run is not the one defined.
    litellm.drop_params = False
    # The first answer makes classes ready and warns of it; that is no part of a latency either.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        litellm.ModelResponse()
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    _watch_redirects()
    return litellm


def _watch_redirects() -> None:
    """Have litellm's own clients refuse to go on to another server, where keys would go along."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
    from litellm.llms.openai.common_utils import BaseOpenAILLM

    async def refuse(answer: httpx.Response) -> None:
        if answer.has_redirect_location:
            within(URL(str(answer.url)), answer.headers["location"])

    def watched(create: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **named: Any) -> Any:
            client = create(*args, **named)
            if client is not None:
                hooks = client.event_hooks
                client.event_hooks = {**hooks, "response": [*hooks["response"], refuse]}
            return client

        return made

    create = watched(AsyncHTTPHandler.create_client)
    AsyncHTTPHandler.create_client = create
    own: Any = BaseOpenAILLM
    own._get_async_http_client = staticmethod(watched(own._get_async_http_client))


class LiteLLMModel(Client):
    """A model of one of litellm's providers; the keys come from the provider's own variables.

    Args:
        name: ``provider/model``.
        options: How it is reached; litellm translates the settings by OpenAI's names for them.

    Raises:
        FatalError: A setting is not for that provider.
    """

    # litellm raises whatever went wrong in it, on an odd answer also KeyError and the like.
    FAILURES = (Exception,)

    def __init__(self, name: str, options: RequestOptions) -> None:
        self._litellm = library()
        provider = name.partition("/")[0]
        secrets = secrets_in([*_keys(os.environ), *options.extra_headers.values()])
        advice = f"set the key that {provider} gave you, such as {provider.upper()}_API_KEY"
        super().__init__(Endpoint(name, options.base_url or provider, secrets, advice), options)
        self._options = options
        settings = {
            "extra_headers": dict(options.extra_headers),
            "base_url": options.base_url,
            **_members(provider, options.extra_body),
        }
        self._settings = {key: value for key, value in settings.items() if value not in (None, {})}
        if provider == "vertex_ai" and options.calling.get("parallel_tool_calls") is False:
            # litellm leaves the setting out without a word.
            raise FatalError(f"{provider} cannot be asked for one call at a time: leave it out")
        self._name = name

    async def close(self) -> None:
        """Release connections."""
        await self._litellm.close_litellm_async_clients()

    def _send(self, request: Request) -> Awaitable[Any]:
        sending: Awaitable[Any] = self._litellm.acompletion(**self._arguments(request))
        return sending

    def _arguments(self, request: Request) -> dict[str, Any]:
        """Return what litellm is called with."""
        # A list of its own: litellm takes out what a provider does not want, Gemini's say.
        tools = json.loads(request.tools.encoded) if request.tools else []
        messages = [dict(self._accepted(message)) for message in request.messages]
        if is_marked(self._name, request, self._options):
            tools, messages = marked_tools(tools), marked_messages(messages)
        arguments = {
            **self._settings,
            **self._options.sampling_of(request.trial),
            "model": self._name,
            "messages": messages,
            "num_retries": 0,
            "max_retries": 0,
            "timeout": self._timeout,
            # Without it, litellm looks for a package that it does not install.
            "_skip_mcp_handler": True,
        }
        if tools:
            arguments |= {"tools": tools, **self._options.calling}
        return arguments

    def _body(self, answer: Any) -> object:
        return _restored(answer.model_dump(warnings=False))

    def _explained(self, error: Exception) -> ModelError:
        if isinstance(error, self._litellm.UnsupportedParamsError):
            found = _REFUSED_SETTINGS.search(str(error))
            if found and "tools" not in found[1]:
                return FatalError(f"{self._name} does not take {found[1]}: leave it out of the run")
        known = known_cause(error, self._endpoint)
        if known is not None:
            return known
        said, status = _said(str(error)), getattr(error, "status_code", None)
        if isinstance(said, str) and _NO_KEY.match(said):
            return classify(401, said, {}, self._endpoint)
        # What litellm itself cannot do or read has a status that means nothing.
        its_own = isinstance(error, self._litellm.APIError | self._litellm.APIConnectionError)
        if not isinstance(status, int) or status < 300 or (its_own and status >= 500):
            return classify_words(said, self._endpoint)
        headers = getattr(error, "litellm_response_headers", None) or {}
        return classify(status, said, headers, self._endpoint)


def is_provider(name: str) -> bool:
    """Tell whether litellm knows a provider of this name."""
    return name in {str(getattr(known, "value", known)) for known in library().provider_list}


def takes_choice(name: str, choice: object) -> bool:
    """Tell whether what is asked of calls reaches a provider; litellm drops some without a word.

    Args:
        name: ``provider/model``.
        choice: Of tools, as chat completions have it.
    """
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    made = library().utils.get_optional_params
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, provider, *_ = library().get_llm_provider(name)
            asked = {"model": model, "custom_llm_provider": provider, "tools": [tool]}
            return bool(made(**asked, tool_choice=choice) != made(**asked))
    except Exception:
        # What it knows nothing of, or refuses, it says of the first request.
        return True


def _members(provider: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments by which further members of the body arrive as such.

    Raises:
        FatalError: A member cannot be set.
    """
    check_members(body)
    if not body:
        return {}
    copied = json.loads(json.dumps(body))
    # Bedrock's signed requests have a place of their own for what only some models know.
    return copied if provider == "bedrock" else {"extra_body": copied}


def _keys(variables: Mapping[str, str]) -> list[str]:
    return [value for name, value in variables.items() if _SECRET_VARIABLE.search(name.upper())]


def _said(text: str) -> object:
    """Return what the provider said, without litellm's words around it."""
    text = _WHO_SAYS_SO.sub("", text)
    first, traceback, _ = text.partition("Traceback (most recent call last)")
    if traceback:
        return first.strip() if _NO_KEY.match(first) else _UNREADABLE
    try:
        body, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    except (ValueError, RecursionError):
        return text
    return body


def _restored(body: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with what litellm set aside or made up put right again."""
    for choice in body["choices"]:
        aside = choice.pop("provider_specific_fields", None) or {}
        choice |= {"error": aside.get("error")}
        choice["finish_reason"] = aside.get("native_finish_reason", choice["finish_reason"])
        message = choice["message"]
        own = message.pop("provider_specific_fields", None) or {}
        # The provider's thoughts under litellm's name for them; they go back under their own.
        if not own.keys().isdisjoint(_THOUGHTS):
            message.pop("reasoning_content", None)
        message |= own
    # No prompt is empty: nobody counted.
    if not (body.get("usage") or {}).get("prompt_tokens"):
        body["usage"] = None
    return body
