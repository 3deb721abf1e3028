"""What a live run is asked for: a TOML file, overridden by flags, checked key by key."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from checkers.profile import Mode
from envs.lazy import lazily
from envs.state import brief
from runner.data.wording import Observations
from runner.models.base import (
    ERROR_KINDS,
    FAULTS,
    ApiName,
    ErrorKind,
    Price,
    RequestOptions,
)
from runner.models.conversation import ReasoningPolicy
from runner.models.tools import legal_name
from runner.records.record import Asked
from runner.records.secret import MASK, address_without, body_without, is_secret_header
from trajectories.errors import DataError, did_you_mean
from trajectories.jsonl import check_finite

if TYPE_CHECKING:
    import pydantic

    from runner.extension import RunFeature
else:
    # Only a run with a file of settings needs it.
    pydantic = lazily("pydantic")

PriceList = tuple[float, float] | tuple[float, float, float] | tuple[float, float, float, float]
"""US dollars per million tokens: prompt, completion, and of the prompt cache reads and writes."""

FunctionDocs = Literal["own", "bfcl"]
"""Whose function documents the model is shown."""

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a reasoning model is to think; each takes some of them."""

CountedAs = Literal["failure", "error"]
"""Whose doing it is that a request got no answer: the model's, or nobody's who is measured."""
ALL_KINDS = "all"

_SAMPLING = ("temperature", "top_p", "seed", "max_tokens", "reasoning_effort")
_CALLING = ("tool_choice", "parallel_tool_calls")
CHOICES = ("auto", "none", "required")
"""What may be said of calls besides the name of a function."""


@dataclass(frozen=True)
class Settings:
    """How a model is reached, asked and paid for.

    Attributes:
        base_url: An OpenAI-compatible server, or None for the provider's own.
        mode: Function calling, or calls in text.
        reasoning: Thoughts of which turns that are over a model sees again.
        api: Which of OpenAI's APIs; None for what the model needs.
        function_docs: Whose function documents are shown; None for those of the data set.
        observations: Whose texts it reads where calls are refused; None for BFCL's with its data
            and profile, else ours.
        prompts: File with the texts put to the model, or None for ours.
        reasoning_effort: How much a reasoning model is to think; only sent when given.
        tool_choice: Whether it may or must call functions, or the one that it must; only sent when
            given, and with tools.
        parallel_tool_calls: Whether it may make several calls at once; likewise.
        prompt_caching: Whether prompts are marked for the cache of a provider that wants marks;
            None for where that pays.
        temperature: Sampling parameter; like those below, only sent when given.
        top_p: Sampling parameter.
        seed: Sampling parameter of the first trial; the one with the number k has ``seed + k``.
        max_tokens: Longest answer, in tokens.
        timeout: Longest time for one request, in seconds; a model may think for long.
        extra_headers: Further HTTP headers.
        extra_body: Further members of every request.
        price: US dollars per million tokens, as prompt and completion, and then perhaps those read
            from a cache and written to it, which else cost what others do; None to look it up.
        concurrency: Episodes at once.
        attempts: How often one request is tried; one that takes too long is tried twice at most.
        rpm: Most requests a minute, or None for as many as the server takes.
        tpm: Most tokens a minute, likewise.
        outage: Stop the run after so many seconds without any answer.
        max_requests: Stop the run after so many requests.
        max_cost: Stop the run after so many US dollars.
        reply_cache: Folder of answers that are not asked for again, an empty text for ours; None
            to ask for all.
        errors_as: What counts as the model's failure, and what as an error, where that is not as
            usual, by the kind of what kept a request from being answered, or ``all``.
        features: What extensions change in the run.
    """

    base_url: str | None = None
    mode: Mode = "fc"
    reasoning: ReasoningPolicy = "all"
    api: ApiName | None = None
    function_docs: FunctionDocs | None = None
    observations: Observations | None = None
    prompts: str | None = None
    reasoning_effort: Effort | None = None
    tool_choice: str | None = None
    parallel_tool_calls: Literal["on", "off"] | None = None
    prompt_caching: Literal["on", "off"] | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    timeout: float = 600.0
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    price: PriceList | None = None
    concurrency: int = 16
    attempts: int = 8
    rpm: int | None = None
    tpm: int | None = None
    outage: float = 600.0
    max_requests: int | None = None
    max_cost: float | None = None
    reply_cache: str | None = None
    errors_as: Mapping[str, CountedAs] = field(default_factory=dict)
    features: tuple[RunFeature, ...] = ()

    def request_options(self) -> RequestOptions:
        """Return how the model is reached, with the sampling parameters that were given."""
        given = {name: vars(self)[name] for name in _SAMPLING}
        parallel = self.parallel_tool_calls and self.parallel_tool_calls == "on"
        sampling = {name: value for name, value in given.items() if value is not None}
        calling = {"tool_choice": self._choice(), "parallel_tool_calls": parallel}
        options = RequestOptions(
            base_url=self.base_url,
            sampling=sampling,
            calling={name: value for name, value in calling.items() if value is not None},
            extra_headers=self.extra_headers,
            extra_body=self.extra_body,
            api=self.api,
            prompt_caching=self.prompt_caching and self.prompt_caching == "on",
            timeout=self.timeout,
            price=self.price and Price(*[dollars / 1e6 for dollars in self.price]),
        )
        for feature in self.features:
            options = feature.request_options(options)
        return options

    @property
    def forces_calls(self) -> bool:
        """Whether every answer has to be a call."""
        return self.tool_choice not in (None, "auto", "none")

    @property
    def forced(self) -> str | None:
        """The only function that may be called, and has to be; by the name that is sent."""
        chosen = self.tool_choice
        return None if chosen is None or chosen in CHOICES else legal_name(chosen)

    def _choice(self) -> object:
        """Return the choice of tools as chat completions have it."""
        if self.forced is None:
            return self.tool_choice
        return {"type": "function", "function": {"name": self.forced}}

    def failures(self) -> frozenset[ErrorKind]:
        """Return the kinds of what keeps a request from being answered that fail an episode."""
        usual = {kind: "failure" if kind in FAULTS else "error" for kind in ERROR_KINDS}
        every = dict.fromkeys(ERROR_KINDS, self.errors_as.get(ALL_KINDS))
        chosen = {kind: self.errors_as.get(kind) or every[kind] or usual[kind] for kind in usual}
        return frozenset(kind for kind in ERROR_KINDS if chosen[kind] == "failure")

    def _counted_otherwise(self) -> Mapping[str, CountedAs]:
        failures = self.failures()
        return {
            kind: "failure" if kind in failures else "error"
            for kind in ERROR_KINDS
            if (kind in failures) != (kind in FAULTS)
        }

    def defining(self) -> Asked:
        """Return what defines a run's result: all but how hard it pushes and what it may cost.

        Of headers only the names are given, of the address no credentials, of the body no keys.
        """
        server = self.base_url or os.environ.get("OPENAI_BASE_URL")
        return Asked(
            base_url=server and address_without(server),
            mode=self.mode,
            reasoning=self.reasoning,
            function_docs=self.function_docs,
            observations=self.observations,
            temperature=self.temperature,
            top_p=self.top_p,
            seed=self.seed,
            max_tokens=self.max_tokens,
            extra_headers=sorted(self.extra_headers),
            extra_body=body_without(self.extra_body),
            reasoning_effort=self.reasoning_effort,
            tool_choice=self.tool_choice,
            parallel_tool_calls=self.parallel_tool_calls,
            api=self.api,
            errors_as=self._counted_otherwise() or None,
            prompt_caching=self.prompt_caching,
        )

    def of_requests(self) -> Mapping[str, Any]:
        """Return what decides an answer besides the request, without secrets, as a JSON object."""
        defining = self.defining().to_json()
        headers = {
            name: MASK if is_secret_header(name, value) else value
            for name, value in self.extra_headers.items()
        }
        return {
            **{name: defining.get(name) for name in (*_SAMPLING, *_CALLING)},
            **{name: defining.get(name) for name in ("base_url", "api", "extra_body")},
            **{name: key for each in self.features for name, key in each.request_key().items()},
            "extra_headers": headers,
        }


def read_settings(path: Path | None, flags: Mapping[str, Any]) -> Settings:
    """Return the settings of a file, overridden by flags.

    Args:
        path: A TOML file with the members of Settings as keys, or None.
        flags: Members by name; None where a flag was not given.

    Raises:
        DataError: The file cannot be read, a key is unknown or of the wrong type, or a setting is
            not for models of that mode.
    """
    given = Settings() if path is None else _from_file(path)
    settings = replace(given, **{name: flag for name, flag in flags.items() if flag is not None})
    for kind in settings.errors_as:
        if kind not in (*ERROR_KINDS, ALL_KINDS):
            advice = did_you_mean(kind, ERROR_KINDS) or f"; there are {', '.join(ERROR_KINDS)}"
            raise DataError("--errors-as", f"{kind!r} is no kind of error{advice}")
    if settings.tool_choice is not None and not settings.tool_choice.strip():
        raise DataError("--tool-choice", f"must be one of {', '.join(CHOICES)}, or a function")
    for name in _CALLING:
        if settings.mode == "prompt" and vars(settings)[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise DataError(option, "is for function calling; --mode prompt sends no tools")
    cache = Path(settings.reply_cache or ".")
    if cache.exists() and not cache.is_dir():
        raise DataError("--reply-cache", f"{cache} is no folder")
    return settings


def _from_file(path: Path) -> Settings:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(str(path), f"is not valid TOML: {error}") from None
    hints = get_type_hints(Settings)
    names = [member.name for member in fields(Settings)]
    for key, value in given.items():
        if key not in names:
            advice = did_you_mean(key, names) or f"; there are {', '.join(names)}"
            raise DataError(f"{path}: {key}", f"unknown key{advice}")
        given[key] = _checked(key, value, hints[key], f"{path}: {key}")
    return Settings(**given)


def _checked(name: str, value: Any, hint: Any, where: str) -> Any:
    """Return a value that fits a type hint of Settings.

    Raises:
        DataError: It does not fit.
    """
    check_finite(value, where)
    # A header's value may be a key, which belongs in no message.
    given = "" if name == "extra_headers" else f", got {brief(value, 60)}"
    try:
        checked = pydantic.TypeAdapter(hint).validate_json(
            json.dumps(value, default=str), strict=True
        )
    except pydantic.ValidationError as error:
        raise DataError(where, f"{error.errors()[0]['msg'].lower()}{given}") from None
    except ValueError:  # it has more digits than Python writes
        raise DataError(where, "is an integer too large") from None
    numbers = checked if isinstance(checked, tuple) else (checked,)
    least = 1 if name in ("concurrency", "attempts", "rpm", "tpm") else 0
    if any(isinstance(n, (int, float)) and not n >= least for n in numbers):
        raise DataError(where, f"must be at least {least}{given}")
    return checked
