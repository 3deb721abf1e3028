"""Table of the providers that our own client supports, with addresses and key variables.

litellm is used for all other providers, for example those with an address per account or region. A
test compares this table with litellm's table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from runner.models.anthropic_api import ANTHROPIC
from runner.models.apis import CHAT, Api, Settings
from runner.models.gemini_api import GEMINI, GEMMA
from runner.models.model_types import ChatMessage


@dataclass(frozen=True, kw_only=True)
class Provider:
    """Connection and API of one provider."""

    name: str
    url: str | None = None
    bases: tuple[str, ...] = ()
    """Environment variables that override the base URL, in order of precedence."""
    keys: tuple[str, ...] = ()
    """Environment variables with the key; the first variable with a value is used."""
    api: Api = CHAT
    models: Mapping[str, Api] = field(default_factory=dict)
    """Maps the start of a model's name to the model's API; all other models use ``api``."""
    key_header: tuple[str, str] = ("Authorization", "Bearer ")
    """Name of the header with the API key, and the text before the key."""
    tokens: tuple[str, ...] = ()
    """Environment variables with a bearer token, in place of a key."""
    headers: Mapping[str, str] = field(default_factory=dict)
    variable_headers: Mapping[str, str] = field(default_factory=dict)
    refuses: frozenset[str] = frozenset()

    @property
    def base(self) -> str | None:
        """The base URL, possibly from an environment variable."""
        return _read_first_variable(self.bases) or self.url

    @property
    def key(self) -> str:
        """The key or token, or an empty string."""
        return _read_first_variable((*self.keys, *self.tokens))

    @property
    def credential(self) -> tuple[str, str]:
        """Name of the header with the key or token, and the text before the key or token."""
        is_token = not _read_first_variable(self.keys) and _read_first_variable(self.tokens)
        return ("Authorization", "Bearer ") if is_token else self.key_header

    def api_of(self, model: str) -> Api:
        """Return the API of a model."""
        found = [api for begin, api in self.models.items() if model.startswith(begin)]
        return found[0] if found else self.api


def _read_first_variable(variables: tuple[str, ...]) -> str:
    values = [os.environ.get(name, "").strip() for name in variables]
    return next(filter(None, values), "")


def _convert_deepseek(model: str, given: Settings) -> Settings:
    rest = dict(given)
    effort = rest.pop("reasoning_effort", None)
    if effort is not None:
        rest["thinking"] = {"type": "disabled" if effort == "none" else "enabled"}
    return {"model": model, **rest}


def _convert_fireworks(model: str, given: Settings) -> Settings:
    full = model if model.startswith("accounts/") else f"accounts/fireworks/models/{model}"
    return {"model": full, **given}


def _convert_mistral(model: str, given: Settings) -> Settings:
    return {"model": model, **{{"seed": "random_seed"}.get(k, k): v for k, v in given.items()}}


def _convert_mistral_choice(given: Settings) -> Settings:
    return {**given, "tool_choice": "any"} if given.get("tool_choice") == "required" else given


def _drop_empty_answer(message: ChatMessage) -> tuple[ChatMessage, ...]:
    is_empty = not (message["content"] or message.get("tool_calls"))
    return () if message["role"] == "assistant" and is_empty else (message,)


_MISTRAL = replace(
    CHAT,
    path="v1/chat/completions",
    settings=_convert_mistral,
    calling=_convert_mistral_choice,
    items=_drop_empty_answer,
)
_OPENROUTER = replace(
    CHAT, settings=lambda model, given: {"model": model, "usage": {"include": True}, **given}
)
_NO_PARALLEL = frozenset(["parallel_tool_calls"])
_NO_SEED = _NO_PARALLEL | {"seed"}
_NO_SETTINGS = _NO_SEED | {"temperature", "top_p", "max_tokens"}


def _chat(name: str, url: str | None = None, /, keys: str = "", **special: object) -> Provider:
    usual = {"bases": (f"{name.upper()}_API_BASE",), **special}
    variables = (keys or f"{name.upper()}_API_KEY").split()
    return Provider(name=name, url=url, keys=tuple(variables), **usual)  # type: ignore[arg-type]


OPENAI = Provider(
    name="openai",
    url="https://api.openai.com/v1",
    bases=("OPENAI_BASE_URL",),
    keys=("OPENAI_API_KEY",),
    variable_headers={
        "OpenAI-Organization": "OPENAI_ORG_ID",
        "OpenAI-Project": "OPENAI_PROJECT_ID",
    },
)
_ANTHROPIC = Provider(
    name="anthropic",
    url="https://api.anthropic.com",
    bases=("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
    keys=("ANTHROPIC_API_KEY",),
    tokens=("ANTHROPIC_AUTH_TOKEN",),
    api=ANTHROPIC,
    key_header=("x-api-key", ""),
    headers={"anthropic-version": "2023-06-01"},
    refuses=frozenset(["seed"]),
)
_GEMINI = Provider(
    name="gemini",
    url="https://generativelanguage.googleapis.com/v1beta",
    bases=("GEMINI_API_BASE",),
    keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    api=GEMINI,
    models={"gemma-3": GEMMA},
    key_header=("x-goog-api-key", ""),
)
_FIREWORKS_KEYS = "FIREWORKS_API_KEY FIREWORKS_AI_API_KEY FIREWORKSAI_API_KEY FIREWORKS_AI_TOKEN"
_TOGETHER_KEYS = "TOGETHER_API_KEY TOGETHER_AI_API_KEY TOGETHERAI_API_KEY TOGETHER_AI_TOKEN"
_OPENROUTER_HEADERS = {"HTTP-Referer": "OR_SITE_URL", "X-Title": "OR_APP_NAME"}
# fmt: off
_ROWS = (
    _ANTHROPIC,
    _GEMINI,
    _chat("aiml", "https://api.aimlapi.com/v1"),
    _chat("baseten", "https://inference.baseten.co/v1", bases=(), refuses=_NO_PARALLEL),
    _chat("cerebras", "https://api.cerebras.ai/v1", refuses=_NO_PARALLEL),
    _chat("dashscope", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    _chat("deepinfra", "https://api.deepinfra.com/v1/openai", refuses=_NO_SEED),
    _chat("deepseek", "https://api.deepseek.com/beta",
          api=replace(CHAT, settings=_convert_deepseek)),
    _chat("fireworks_ai", "https://api.fireworks.ai/inference/v1", _FIREWORKS_KEYS,
          bases=("FIREWORKS_API_BASE",), api=replace(CHAT, settings=_convert_fireworks)),
    _chat("friendliai", "https://api.friendli.ai/serverless/v1",
          "FRIENDLIAI_API_KEY FRIENDLI_TOKEN", bases=("FRIENDLI_API_BASE",)),
    _chat("github", "https://models.inference.ai.azure.com"),
    _chat("groq", "https://api.groq.com/openai/v1"),
    _chat("hosted_vllm"),
    _chat("hyperbolic", "https://api.hyperbolic.xyz/v1", refuses=_NO_PARALLEL),
    _chat("litellm_proxy"),
    _chat("llamafile", "http://127.0.0.1:8080/v1"),
    _chat("lm_studio"),
    _chat("minimax", "https://api.minimax.io/v1"),
    _chat("mistral", "https://api.mistral.ai/v1", "MISTRAL_AZURE_API_KEY MISTRAL_API_KEY",
          bases=("MISTRAL_AZURE_API_BASE",), api=_MISTRAL),
    _chat("moonshot", "https://api.moonshot.ai/v1"),
    _chat("nebius", "https://api.studio.nebius.ai/v1"),
    _chat("novita", "https://api.novita.ai/v3/openai"),
    _chat("nvidia_nim", "https://integrate.api.nvidia.com/v1"),
    _chat("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY OR_API_KEY",
          api=_OPENROUTER, variable_headers=_OPENROUTER_HEADERS),
    _chat("perplexity", "https://api.perplexity.ai", "PERPLEXITYAI_API_KEY PERPLEXITY_API_KEY",
          refuses=_NO_SEED),
    _chat("sambanova", "https://api.sambanova.ai/v1", refuses=_NO_SEED),
    _chat("together_ai", "https://api.together.ai/v1", _TOGETHER_KEYS),
    _chat("v0", "https://api.v0.dev/v1", refuses=_NO_SETTINGS),
    _chat("vercel_ai_gateway", "https://ai-gateway.vercel.sh/v1",
          "VERCEL_AI_GATEWAY_API_KEY VERCEL_OIDC_TOKEN"),
    _chat("volcengine", "https://ark.cn-beijing.volces.com/api/v3", refuses=_NO_PARALLEL),
    _chat("wandb", "https://api.inference.wandb.ai/v1"),
    _chat("xai", "https://api.x.ai/v1"),
    _chat("zai", "https://api.z.ai/api/paas/v4", refuses=_NO_SEED),
)
# fmt: on
PROVIDERS: Mapping[str, Provider] = {provider.name: provider for provider in _ROWS}
