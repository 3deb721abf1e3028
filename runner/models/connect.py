"""From a model's name to a client for it, and to what it costs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs.lazy import lazily
from runner.models.agent import connect_agent
from runner.models.base import USUAL, ApiName, FatalError, Model, Price, RequestOptions
from runner.models.caching import refuse_marks
from runner.models.model_name import Agent, parsed
from runner.models.providers import PROVIDERS
from trajectories.errors import DataError
from trajectories.jsonl import parse_object, read_text

if TYPE_CHECKING:
    from runner.models import litellm_model, openai_model
else:
    # Their libraries take seconds to load, and not every installation has them.
    litellm_model = lazily(".litellm_model", __package__)
    openai_model = lazily(".openai_model", __package__)

_LIBRARIES = ("aiohttp", "httpx", "litellm", "multidict", "yarl")
_OPENAI_HOST = "api.openai.com"
# A file of litellm's, since litellm itself is slow to import.
_PRICES = "litellm/model_prices_and_context_window_backup.json"


def connect(name: str, options: RequestOptions = USUAL) -> Model:
    """Return a client for a model.

    Args:
        name: ``python:module:function`` for an agent of the user's own, ``provider/model`` for a
            provider in our table or known to litellm. Anything else, or any name if there is a base
            URL, is for an OpenAI-compatible server.
        options: With how it is asked; the server gets the name as it is, slashes and all. Without
            a base URL there is ``OPENAI_BASE_URL``, and then OpenAI itself.

    Raises:
        DataError: A package or a key is missing, or a name or setting makes no sense.
    """
    try:
        return _client(name, options)
    except FatalError as error:
        raise DataError("--model", str(error)) from None
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES:
            raise
        message = f"live models need the package {error.name}: pip install 'turnwise[models]'"
        raise DataError("--model", message) from None


def load_client(name: str, options: RequestOptions = USUAL) -> None:
    """Load what it takes to connect to a model, so that no time of a run's is spent on that."""
    with suppress(ModuleNotFoundError):  # to connect says what is missing
        if names_a_provider(name, options) and _provider(name) not in PROVIDERS:
            _ = litellm_model.LiteLLMModel
        elif parsed(name).is_hosted:
            _ = openai_model.OpenAIModel


def _client(name: str, options: RequestOptions) -> Model:
    if isinstance(parsed(name), Agent):
        return connect_agent(name, options)
    refuse_marks(name, options)
    server = _server(options)
    at_openai = _OPENAI_HOST in server
    options = replace(options, price=price_of(name, options))
    provider = _provider(name)
    if names_a_provider(name, options):
        if provider in PROVIDERS or litellm_model.is_provider(provider):
            if options.api not in (None, "chat"):
                # Only protocols ask by one of the older APIs.
                option = "--api" if options.api == "responses" else f"--protocol {options.api}"
                raise FatalError(
                    f"{option} is for OpenAI and servers of your own, not for {provider}"
                )
            if provider not in PROVIDERS:
                return litellm_model.LiteLLMModel(name, options)
            options = replace(_with_limit(name, options), api=None)
            model = name.removeprefix(f"{provider}/")
            return openai_model.OpenAIModel(model, options, PROVIDERS[provider])
        if at_openai:
            raise FatalError(
                f"{provider!r} is no provider that litellm knows; if {name} is served by a "
                "server of yours, say where: --base-url"
            )
    if at_openai:
        options = _as_listed(name, options)
        name = name.removeprefix("openai/")
    return openai_model.OpenAIModel(name, replace(options, base_url=server))


def _provider(name: str) -> str:
    return name.partition("/")[0]


def _with_limit(name: str, options: RequestOptions) -> RequestOptions:
    """Return options with the longest answer that a model gives, where its API has to be told."""
    longest = _listed(name).get("max_output_tokens")
    if _provider(name) != "anthropic" or not isinstance(longest, int):
        return options
    return replace(options, sampling={"max_tokens": longest, **options.sampling})


def _server(options: RequestOptions) -> str:
    """Return the OpenAI-compatible server that is asked, where one is."""
    return options.base_url or os.environ.get("OPENAI_BASE_URL") or f"https://{_OPENAI_HOST}/v1"


def price_of(name: str, options: RequestOptions = USUAL) -> Price | None:
    """Return what a model costs: as given, or as listed where its provider is asked.

    Returns:
        None where nobody knows, as with a server of the user's own.
    """
    if options.price is not None or not parsed(name).is_hosted:
        return options.price
    elsewhere = names_a_provider(name, options)
    return listed_price(name) if elsewhere or _OPENAI_HOST in _server(options) else None


def names_a_provider(name: str, options: RequestOptions = USUAL) -> bool:
    """Tell whether a name says whose model is asked, by that one's own protocol."""
    return "/" in name and _provider(name) != "openai" and not options.base_url


def takes_choice(name: str, options: RequestOptions) -> bool:
    """Tell whether what is asked of calls reaches who has the model."""
    elsewhere = names_a_provider(name, options) and _provider(name) not in PROVIDERS
    if not parsed(name).is_hosted or not elsewhere:
        return True
    try:
        return litellm_model.takes_choice(name, options.calling.get("tool_choice"))
    except ModuleNotFoundError:
        # To connect says what is missing.
        return True


def _as_listed(name: str, options: RequestOptions) -> RequestOptions:
    """Return options with the API that a model of OpenAI itself needs.

    Some have but one, and of those that think only the Responses API takes the thoughts back.
    """
    entry, thinks = _listed(name), _thinks(name)
    api = options.api or usual_api(name, options)
    if api != "responses" or thinks or not entry:
        return replace(options, api=api)
    # One that does not think refuses to be asked for its thoughts.
    return replace(options, api=api, extra_body={"include": [], **options.extra_body})


def usual_api(name: str, options: RequestOptions = USUAL) -> ApiName:
    """Return by which of OpenAI's APIs a model is asked unless the user says so."""
    if names_a_provider(name, options) or _OPENAI_HOST not in _server(options):
        return "chat"
    needed = _thinks(name) or _listed(name).get("mode") == "responses"
    return "responses" if needed else "chat"


def _thinks(name: str) -> bool:
    return bool(_listed(name).get("supports_reasoning")) and "-chat" not in name


_COSTS = (
    *("input_cost_per_token", "output_cost_per_token"),
    *("cache_read_input_token_cost", "cache_creation_input_token_cost"),
)


def listed_price(model: str) -> Price | None:
    """Return what litellm's table says that a model costs, None where nobody knows.

    Args:
        model: ``provider/name``, or the bare name of a model of OpenAI.
    """
    entry = _listed(model)
    input, output, read, written = [_cost(entry.get(name)) for name in _COSTS]
    # The table has zeros for models whose price depends on who runs them.
    if not input or output is None:
        return None
    return Price(input, output, read, written)


def _cost(value: object) -> float | None:
    """Return the dollars that a token costs, None where that is none."""
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1
    return float(value) if is_one else None  # type: ignore[arg-type]


def _listed(model: str) -> Mapping[str, Any]:
    """Return what litellm's table has of a model, nothing where it has none of it."""
    provider, _, name = model.partition("/") if "/" in model else ("openai", "", model)
    entry = _prices().get(model)
    if entry is None:
        entry = _prices().get(name, {})
        if isinstance(entry, dict) and entry.get("litellm_provider") != provider:
            return {}
    return entry if isinstance(entry, dict) else {}


@cache
def _prices() -> Mapping[str, Any]:
    try:
        path = Path(str(distribution("litellm").locate_file(_PRICES)))
        return parse_object(read_text(path), str(path), finite=False)
    except (PackageNotFoundError, DataError):
        return {}
