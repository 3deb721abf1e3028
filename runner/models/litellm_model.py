"""Client that uses litellm; for providers that are not in ``runner.models.providers``."""

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

from runner.models.client import Client, check_members, known_cause, secrets_in
from runner.models.model_types import FatalError, ModelError, Request, RequestOptions
from runner.models.prompt_cache import is_marked, marked_messages, marked_tools
from runner.models.reply_reader import Endpoint, classify, classify_words, secrets_in_addresses
from runner.models.transport import resolve_redirect

_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH")
_ERROR_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w+Error: |\w+Exception - )+")
_THOUGHTS = ("reasoning", "reasoning_details", "thinking")
_UNREADABLE = "an answer that litellm cannot read"
_NO_KEY = re.compile(r"missing [\w ]{0,30}api key", re.IGNORECASE)
_REFUSED_SETTINGS = re.compile(r"parameters: \[([^][]*+)\]")


@cache
def load_litellm() -> Any:
    """Import litellm and set it up; only once per process, because its settings are global.

    Raises ModuleNotFoundError if litellm is not installed.
    """
    # Without this variable, the import downloads a file.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # An unsupported setting is an error; else the run would differ from its definition.
    litellm.drop_params = False
    # The first answer is slow and warns, so an empty one is made ahead of the run.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        litellm.ModelResponse()
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    _watch_redirects()
    return litellm


def _watch_redirects() -> None:
    """Make litellm refuse redirects to other servers."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
    from litellm.llms.openai.common_utils import BaseOpenAILLM

    async def refuse(answer: httpx.Response) -> None:
        if answer.has_redirect_location:
            resolve_redirect(URL(str(answer.url)), answer.headers["location"])

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
    """A client for a model of litellm's providers, ``provider/model``.

    Raises FatalError if the provider does not support one of the settings.
    """

    # litellm lets any exception through, such as KeyError for an unusual answer.
    FAILURES = (Exception,)

    def __init__(self, name: str, options: RequestOptions) -> None:
        self._litellm = load_litellm()
        provider = name.partition("/")[0]
        keys = [
            value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name.upper())
        ]
        secrets = (
            *secrets_in([*keys, *options.extra_headers.values()]),
            *secrets_in_addresses(options.base_url, os.environ),
        )
        advice = f"set the API key of {provider}, such as {provider.upper()}_API_KEY"
        address = (options.base_url or provider).partition("?")[0]
        super().__init__(Endpoint(name, address, secrets, advice), options)
        self._options = options
        settings = {
            "extra_headers": dict(options.extra_headers),
            "base_url": options.base_url,
            **_body_arguments(provider, options.extra_body),
        }
        self._settings = {key: value for key, value in settings.items() if value not in (None, {})}
        if provider == "vertex_ai" and options.calling.get("parallel_tool_calls") is False:
            # litellm would drop the setting silently.
            raise FatalError(
                f"{provider} cannot limit an answer to one call; leave out --parallel-tool-calls"
            )
        self._name = name

    async def close(self) -> None:
        """Release connections."""
        await self._litellm.close_litellm_async_clients()

    def _send(self, request: Request) -> Awaitable[Any]:
        sending: Awaitable[Any] = self._litellm.acompletion(**self._arguments(request))
        return sending

    def _arguments(self, request: Request) -> dict[str, Any]:
        # A copy, because litellm removes members that a provider does not accept.
        tools = json.loads(request.tools.encoded) if request.tools else []
        for tool in tools if "no-response" in self._demands else ():
            tool["function"].pop("response", None)
        messages = [dict(self._accepted(each)) for each in self._arranged(request.messages)]
        if is_marked(self._name, request, self._options):
            tools, messages = marked_tools(tools), marked_messages(messages)
        arguments = {
            **self._settings,
            **self._options.sampling_of(request.trial),
            "model": self._name,
            "messages": messages,
            "num_retries": 0,
            "max_retries": 0,
            # Our own timeout comes first, because litellm reports its timeout as status 408.
            "timeout": 2 * self._timeout,
            # Without this, litellm looks for a package that it does not install.
            "_skip_mcp_handler": True,
        }
        if tools:
            arguments |= {"tools": tools, **self._options.calling}
        return arguments

    def _body(self, answer: Any) -> object:
        return _restore(answer.model_dump(warnings=False))

    def _explain(self, error: Exception) -> ModelError:
        if isinstance(error, self._litellm.UnsupportedParamsError):
            found = _REFUSED_SETTINGS.search(str(error))
            if found and "tools" not in found[1]:
                return FatalError(f"{self._name} does not take {found[1]}; leave it out")
        known = known_cause(error, self._endpoint)
        if known is not None:
            return known
        words, status = _find_words(str(error)), getattr(error, "status_code", None)
        if isinstance(words, str) and _NO_KEY.match(words):
            return classify(401, words, {}, self._endpoint)
        # The status of litellm's own errors has no meaning.
        is_own = isinstance(error, self._litellm.APIError | self._litellm.APIConnectionError)
        if not isinstance(status, int) or status < 300 or (is_own and status >= 500):
            return classify_words(words, self._endpoint)
        headers = getattr(error, "litellm_response_headers", None) or {}
        return classify(status, words, headers, self._endpoint)


def is_provider(name: str) -> bool:
    """Tell whether litellm knows a provider of this name."""
    return name in {str(getattr(known, "value", known)) for known in load_litellm().provider_list}


def takes_choice(name: str, choice: object) -> bool:
    """Tell whether a provider of litellm accepts this ``tool_choice``."""
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    made = load_litellm().utils.get_optional_params
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, provider, *_ = load_litellm().get_llm_provider(name)
            asked = {"model": model, "custom_llm_provider": provider, "tools": [tool]}
            return bool(made(**asked, tool_choice=choice) != made(**asked))
    except Exception:
        # litellm reports unknown models with the first request.
        return True


def _body_arguments(provider: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    check_members(body)
    if not body:
        return {}
    copied = json.loads(json.dumps(body))
    # Bedrock signs its requests, so litellm takes the members as arguments.
    return copied if provider == "bedrock" else {"extra_body": copied}


def _find_words(text: str) -> object:
    text = _ERROR_PREFIX.sub("", text)
    first, traceback, _ = text.partition("Traceback (most recent call last)")
    if traceback:
        return first.strip() if _NO_KEY.match(first) else _UNREADABLE
    try:
        body, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    except (ValueError, RecursionError):
        return text
    return body


def _restore(body: dict[str, Any]) -> dict[str, Any]:
    for choice in body["choices"]:
        aside = choice.pop("provider_specific_fields", None) or {}
        choice |= {"error": aside.get("error")}
        choice["finish_reason"] = aside.get("native_finish_reason", choice["finish_reason"])
        message = choice["message"]
        own = message.pop("provider_specific_fields", None) or {}
        # Reasoning goes back under the provider's name, not under litellm's.
        if not own.keys().isdisjoint(_THOUGHTS):
            message.pop("reasoning_content", None)
        message |= own
    # A prompt is never empty, so zeros are not counts.
    if not (body.get("usage") or {}).get("prompt_tokens"):
        body["usage"] = None
    return body
