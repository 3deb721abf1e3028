"""Connection to a model by name, and the price of its tokens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs.errors import DataError
from envs.lazy_modules import lazy_module
from runner.models.agent_model import AgentModel, agent_named, refuse_options
from runner.models.model_name import ModelName
from runner.models.model_types import USUAL, ApiName, FatalError, Model, Price, RequestOptions
from runner.models.prompt_cache import refuse_marks
from runner.models.providers import PROVIDERS
from trajectories.jsonl import parse_object, read_text

if TYPE_CHECKING:
    from runner.models import litellm_model, openai_model
else:
    # The libraries take seconds to load and are optional.
    litellm_model = lazy_module(".litellm_model", __package__)
    openai_model = lazy_module(".openai_model", __package__)

_LIBRARIES = ("aiohttp", "httpx", "litellm", "multidict", "yarl")
_OPENAI_HOST = "api.openai.com"
# The file is read directly, because litellm is slow to import.
_PRICES = "litellm/model_prices_and_context_window_backup.json"


def connect(name: ModelName, options: RequestOptions = USUAL) -> Model:
    """Return a client for a model.

    Raises DataError if a package or key is missing, or a name or setting is invalid.

    Args:
        name: ``python:module:function`` for an agent, or ``provider/model`` for a provider in our
            table or in litellm. Another name, or a name together with a base URL, is sent unchanged
            to an OpenAI-compatible server.
        options: Connection and settings. The base URL defaults to ``OPENAI_BASE_URL``, then OpenAI.
    """
    try:
        return _make_client(name, options)
    except FatalError as error:
        raise DataError("--model", str(error)) from None
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES:
            raise
        message = f"live models need the package {error.name}: pip install 'turnwise[models]'"
        raise DataError("--model", message) from None


def load_client(name: ModelName, options: RequestOptions = USUAL) -> None:
    """Import the libraries for a model before the run starts."""
    with suppress(ModuleNotFoundError):  # connect() reports it
        if names_a_provider(name, options) and _find_provider(name) not in PROVIDERS:
            _ = litellm_model.LiteLLMModel
        elif name.is_hosted:
            _ = openai_model.OpenAIModel


def _make_client(name: ModelName, options: RequestOptions) -> Model:
    if name.is_agent:
        refuse_options(name, options)
        return AgentModel(agent_named(name), options.timeout)
    refuse_marks(name, options)
    server = _find_server(options)
    at_openai = _OPENAI_HOST in server
    options = replace(options, price=price_of(name, options))
    provider = _find_provider(name)
    if names_a_provider(name, options):
        if provider in PROVIDERS or litellm_model.is_provider(provider):
            if options.api not in (None, "chat"):
                # Only calling formats use the older APIs.
                option = (
                    "--api" if options.api == "responses" else f"--calling-format {options.api}"
                )
                raise FatalError(f"{option} is for OpenAI and your own servers, not for {provider}")
            if provider not in PROVIDERS:
                return litellm_model.LiteLLMModel(name, options)
            options = replace(_add_answer_limit(name, options), api=None)
            model = name.removeprefix(f"{provider}/")
            return openai_model.OpenAIModel(model, options, PROVIDERS[provider])
        if at_openai:
            raise FatalError(
                f"litellm knows no provider {provider!r}; for your own server, pass --base-url"
            )
    if at_openai:
        options = _choose_api(name, options)
    model = name.removeprefix("openai/") if at_openai else name
    return openai_model.OpenAIModel(model, replace(options, base_url=server))


def _find_provider(name: str) -> str:
    return name.partition("/")[0]


def _add_answer_limit(name: str, options: RequestOptions) -> RequestOptions:
    """For Anthropic, add the model's maximum number of answer tokens."""
    max_tokens = _find_entry(name).get("max_output_tokens")
    if _find_provider(name) != "anthropic" or not isinstance(max_tokens, int):
        return options
    return replace(options, sampling={"max_tokens": max_tokens, **options.sampling})


def _find_server(options: RequestOptions) -> str:
    return options.base_url or os.environ.get("OPENAI_BASE_URL") or f"https://{_OPENAI_HOST}/v1"


def price_of(name: ModelName, options: RequestOptions = USUAL) -> Price | None:
    """Return the given price of a model, else the listed price, else None."""
    if options.price is not None or not name.is_hosted:
        return options.price
    is_elsewhere = names_a_provider(name, options)
    return listed_price(name) if is_elsewhere or _OPENAI_HOST in _find_server(options) else None


def names_a_provider(name: str, options: RequestOptions = USUAL) -> bool:
    """Tell whether a name selects the API of a provider other than OpenAI."""
    return "/" in name and _find_provider(name) != "openai" and not options.base_url


def takes_choice(name: ModelName, options: RequestOptions) -> bool:
    """Tell whether ``tool_choice`` reaches the provider."""
    is_elsewhere = names_a_provider(name, options) and _find_provider(name) not in PROVIDERS
    if not name.is_hosted or not is_elsewhere:
        return True
    try:
        return litellm_model.takes_choice(name, options.calling.get("tool_choice"))
    except ModuleNotFoundError:
        return True  # connect() reports it


def _choose_api(name: str, options: RequestOptions) -> RequestOptions:
    entry, has_reasoning = _find_entry(name), _has_reasoning(name)
    api = options.api or usual_api(name, options)
    if api != "responses" or has_reasoning or not entry:
        return replace(options, api=api)
    # A model without reasoning refuses a request that includes it.
    return replace(options, api=api, extra_body={"include": [], **options.extra_body})


def usual_api(name: str, options: RequestOptions = USUAL) -> ApiName:
    """Return the default API of a model."""
    if names_a_provider(name, options) or _OPENAI_HOST not in _find_server(options):
        return "chat"
    needed = _has_reasoning(name) or _find_entry(name).get("mode") == "responses"
    return "responses" if needed else "chat"


def _has_reasoning(name: str) -> bool:
    return bool(_find_entry(name).get("supports_reasoning")) and "-chat" not in name


_COSTS = (
    *("input_cost_per_token", "output_cost_per_token"),
    *("cache_read_input_token_cost", "cache_creation_input_token_cost"),
)


def listed_price(model: str) -> Price | None:
    """Return litellm's price of a model, or None; a name without a provider means OpenAI."""
    entry = _find_entry(model)
    input, output, read, written = [_read_cost(entry.get(name)) for name in _COSTS]
    # The table has zeros for models whose price depends on the host.
    if not input or output is None:
        return None
    return Price(input, output, read, written)


def _read_cost(value: object) -> float | None:
    is_valid = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1
    return float(value) if is_valid else None  # type: ignore[arg-type]


def _find_entry(model: str) -> Mapping[str, Any]:
    provider, _, name = model.partition("/") if "/" in model else ("openai", "", model)
    entry = _load_prices().get(model)
    if entry is None:
        entry = _load_prices().get(name, {})
        if isinstance(entry, dict) and entry.get("litellm_provider") != provider:
            return {}
    return entry if isinstance(entry, dict) else {}


@cache
def _load_prices() -> Mapping[str, Any]:
    try:
        path = Path(str(distribution("litellm").locate_file(_PRICES)))
        return parse_object(read_text(path), str(path), finite=False)
    except (PackageNotFoundError, DataError):
        return {}
