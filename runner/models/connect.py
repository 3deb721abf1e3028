"""From a model's name to a client for it; the clients' libraries are imported when needed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from runner.models.base import FatalError, Model
from runner.models.prices import Price, listed_price

_LIBRARIES = ("aiohttp", "httpx", "litellm", "openai", "yarl")
_OPENAI_HOST = "api.openai.com"


def connect(
    name: str,
    *,
    base_url: str | None = None,
    sampling: Mapping[str, Any] | None = None,
    extra_headers: Mapping[str, str] | None = None,
    extra_body: Mapping[str, Any] | None = None,
    timeout: float = 600.0,
    price: Price | None = None,
) -> Model:
    """Return a client for a model.

    Args:
        name: ``provider/model`` for a provider that litellm knows. Anything else, or any name if
            there is a base URL, is for an OpenAI-compatible server.
        base_url: Such a server, which gets the name as it is, slashes and all. Without it there is
            ``OPENAI_BASE_URL``, and then OpenAI itself.
        sampling: Settings such as temperature, top_p, seed and max_tokens.
        extra_headers: Further headers.
        extra_body: Further members of the body.
        timeout: Seconds that a request may take as a whole.
        price: What tokens cost; by default what is listed for the provider's model.

    Raises:
        FatalError: A package or a key is missing, or a name or setting makes no sense.
    """
    settings: dict[str, Any] = {
        "sampling": sampling,
        "extra_headers": extra_headers,
        "extra_body": extra_body,
        "timeout": timeout,
    }
    server = base_url or os.environ.get("OPENAI_BASE_URL") or f"https://{_OPENAI_HOST}/v1"
    at_openai = _OPENAI_HOST in server
    provider, slash, _ = name.partition("/")
    try:
        if slash and provider != "openai" and not base_url:
            from runner.models.litellm_model import LiteLLMModel, is_provider

            if is_provider(provider):
                return LiteLLMModel(name, price=price or listed_price(name), **settings)
            if at_openai:
                raise FatalError(
                    f"{provider!r} is no provider that litellm knows; if {name} is served by a "
                    "server of yours, say where: --base-url"
                )
        from runner.models.openai_model import OpenAIModel
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES:
            raise
        raise FatalError(
            f"live models need the package {error.name}: pip install 'turnwise[models]'"
        ) from None
    if at_openai:
        price = price or listed_price(name)
        name = name.removeprefix("openai/")
    return OpenAIModel(name, base_url=server, price=price, **settings)
