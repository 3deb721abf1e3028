"""Models of every provider that litellm knows, each through its own protocol."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any

# Read when litellm is imported; without it, that fetches a file from the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

from runner.models.base import FatalError, ModelError, Reply, Request, TransientError
from runner.models.connection import known_cause
from runner.models.pacing import Pacer
from runner.models.prices import Price, cost
from runner.models.reply import Endpoint, classify, classify_words, read_completion

litellm.suppress_debug_info = True
litellm.telemetry = False
# A setting that a provider does not take is an error: without it, the run is not the one defined.
litellm.drop_params = False
# The first answer makes classes ready and warns of it; that is no part of a latency either.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    litellm.ModelResponse()
for _name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)

_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
_WHO_SAYS_SO = re.compile(r"^(?:(?:litellm\.)?\w+Error: |\w+Exception - )+")
_REFUSED_SETTINGS = re.compile(r"parameters: \[(.*?)\]")


class LiteLLMModel:
    """A model of one of litellm's providers; the keys come from the provider's own variables.

    Args:
        name: ``provider/model``.
        base_url: Where the provider is; by default where litellm knows it to be.
        sampling: Settings by the names that OpenAI has for them; litellm translates.
        extra_headers: Further headers.
        extra_body: Further members of the body, untranslated.
        timeout: Seconds that a request may take as a whole.
        price: What tokens cost, or None where nobody knows.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        sampling: Mapping[str, Any] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        extra_body: Mapping[str, Any] | None = None,
        timeout: float = 600.0,
        price: Price | None = None,
    ) -> None:
        provider = name.partition("/")[0]
        values = (extra_headers or {}).values()
        secrets = [*_secrets(os.environ), *values, *(w for v in values for w in v.split()[1:])]
        advice = f"set the key that {provider} gave you, such as {provider.upper()}_API_KEY"
        self._endpoint = Endpoint(name, base_url or provider, tuple(secrets), advice)
        settings = {
            **(sampling or {}),
            "extra_headers": dict(extra_headers or {}),
            "extra_body": dict(extra_body or {}),
            "base_url": base_url,
        }
        self._settings = {key: value for key, value in settings.items() if value not in (None, {})}
        self._name = name
        self._timeout = timeout
        self._price = price
        self._pacer = Pacer()

    async def ask(self, request: Request) -> Reply:
        """Make one request, once.

        Raises:
            TransientError: It may work if tried again.
            RequestError: This request will never work; others may.
            FatalError: No request will work.
        """
        await self._pacer.turn()
        tools = {"tools": request.tools.tools} if request.tools and request.tools.tools else {}
        start = perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                response = await litellm.acompletion(
                    self._name,
                    [dict(message) for message in request.messages],
                    num_retries=0,
                    max_retries=0,
                    timeout=self._timeout,
                    # Without it, litellm looks for a package that it does not install.
                    _skip_mcp_handler=True,
                    **tools,
                    **self._settings,
                )
        except TimeoutError:
            raise TransientError(
                f"no answer of {self._endpoint.address} within {self._timeout:g} seconds"
            ) from None
        # litellm raises whatever went wrong in it, on an odd answer also KeyError and the like.
        except Exception as error:
            raise self._explained(error) from None
        latency = perf_counter() - start
        await self._pacer.turn()
        body = _restored(response.model_dump(warnings=False))
        reply = read_completion(body, latency, self._endpoint)
        return reply._replace(cost=cost(reply.usage, self._price))

    async def close(self) -> None:
        """Release connections."""
        await litellm.close_litellm_async_clients()

    def _explained(self, error: Exception) -> ModelError:
        if isinstance(error, litellm.UnsupportedParamsError):
            found = _REFUSED_SETTINGS.search(str(error))
            if found and "tools" not in found[1]:
                return FatalError(f"{self._name} does not take {found[1]}: leave it out of the run")
        known = known_cause(error, self._endpoint)
        if known is not None:
            return known
        said, status = _said(str(error)), getattr(error, "status_code", None)
        # What litellm itself cannot do or read has a status that means nothing.
        its_own = isinstance(error, litellm.APIError | litellm.APIConnectionError)
        if not isinstance(status, int) or status < 300 or (its_own and status >= 500):
            return classify_words(said, self._endpoint)
        headers = getattr(error, "litellm_response_headers", None) or {}
        return classify(status, said, headers, self._endpoint)


def is_provider(name: str) -> bool:
    """Tell whether litellm knows a provider of this name."""
    return name in {str(getattr(known, "value", known)) for known in litellm.provider_list}


def _secrets(variables: Mapping[str, str]) -> Iterator[str]:
    for name, value in variables.items():
        if _SECRET_VARIABLE.search(name.upper()) or "AUTH" in name.upper():
            yield value
            yield from value.split()[1:]


def _said(text: str) -> object:
    """Return what the provider said, without litellm's words around it."""
    if "Traceback (most recent call last)" in text:
        return "an answer that litellm cannot read"
    text = _WHO_SAYS_SO.sub("", text)
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
        message |= message.pop("provider_specific_fields", None) or {}
    # No prompt is empty: nobody counted.
    if not (body.get("usage") or {}).get("prompt_tokens"):
        body["usage"] = None
    return body
