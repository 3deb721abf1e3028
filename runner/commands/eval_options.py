"""What ``turnwise eval`` takes: which model, which part of the data, and how a live model is run.

The options of live models bear the names of the settings that they go before (``Settings``).
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from checkers.profile import Mode
from envs.lazy import lazily
from runner.commands.judging import WorkOptions
from runner.commands.options import above_zero, from_zero, index, option, positive, switch
from runner.commands.shared import EntriesOptions, ReachOptions
from runner.data.wording import Observations
from runner.live.settings import ALL_KINDS, Effort, PriceList
from runner.models.base import ApiName
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

if TYPE_CHECKING:
    from extensions.retrieval import offering
else:
    # Function documents take a while to load, and few runs retrieve.
    offering = lazily("extensions.retrieval.offering")

_MOST_TRIALS = 10_000


def _header(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _object(text: str) -> Mapping[str, Any]:
    try:
        return parse_object(text, "the JSON")
    except DataError as error:
        raise ArgumentTypeError(f"{error!s:.300}") from None


def _price(text: str) -> PriceList:
    try:
        match [from_zero(number) for number in text.split(",")]:
            case [prompt, completion]:
                return prompt, completion
            case [prompt, completion, read]:
                return prompt, completion, read
            case [prompt, completion, read, written]:
                return prompt, completion, read, written
    except ArgumentTypeError:
        pass
    raise ArgumentTypeError(f"{text!r} is not IN,OUT[,READ[,WRITE]], two to four numbers")


def _trials(text: str) -> int:
    trials = positive(text)
    if trials > _MOST_TRIALS:
        raise ArgumentTypeError(f"more than {_MOST_TRIALS} trials of an entry")
    return trials


def _counted(text: str) -> tuple[str, str]:
    kind, equals, counted = text.rpartition("=")
    if counted not in ("failure", "error") or bool(kind) != bool(equals):
        raise ArgumentTypeError(f"{text!r} is not failure, error, KIND=failure or KIND=error")
    return kind or ALL_KINDS, counted


@dataclass(frozen=True, kw_only=True)
class ReachedOptions:
    """Live models: how they are reached."""

    config: Path | None = option(
        "TOML file with what else flags say of a live model; flags win over it", "FILE"
    )
    base_url: str | None = option(
        "address of an OpenAI-compatible server (default: the provider's own)", "URL"
    )
    api: ApiName | None = option(
        "which API of OpenAI's is spoken (default: what the model needs, else chat)"
    )
    timeout: float | None = option(
        "how long one request may take (default: 600)", "SECONDS", read=above_zero
    )
    extra_headers: tuple[tuple[str, str], ...] = option(
        "a further HTTP header of every request; may be repeated",
        "NAME=VALUE",
        default=(),
        read=_header,
        flags=("--header",),
    )
    extra_body: Mapping[str, Any] | None = option(
        "an object whose members are put into every request",
        "JSON",
        read=_object,
        flags=("--body",),
    )


@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """Live models: how they are asked."""

    reasoning_effort: Effort | None = option(
        "how much a reasoning model is to think: none, minimal, low, medium, high, xhigh or max "
        "(default: the server's)",
        "LEVEL",
    )
    temperature: float | None = option(
        "sampling temperature, from 0 (default: the server's)", "T", read=from_zero
    )
    top_p: float | None = option(
        "sample from this share of the probability, up to 1 (default: the server's)",
        "P",
        read=from_zero,
    )
    max_tokens: int | None = option(
        "tokens of an answer, at most (default: the server's; of raw protocols 4096)",
        "N",
        read=positive,
    )


@dataclass(frozen=True, kw_only=True)
class _Asked(SamplingOptions):
    """Live models: how they are asked."""

    mode: Mode | None = option("function calling, or calls in text (default: fc)")
    reasoning: Literal["none", "last", "all"] | None = option(
        "thoughts of which earlier turns it sees again; those of its own turn always (default: all)"
    )
    tool_choice: str | None = option(
        "whether it may call functions (auto, none), or must, in entries of one answer: required, "
        "or the name of the one (default: the server's, auto)",
        "{auto,none,required,NAME}",
    )
    parallel_tool_calls: Literal["on", "off"] | None = option(
        "whether it may make several calls in one answer (default: the server's)"
    )
    prompt_caching: Literal["on", "off"] | None = option(
        "mark prompts for Anthropic's cache, all or none (default: those that later requests begin "
        "with)"
    )
    function_docs: Literal["own", "bfcl"] | None = option(
        "whose function documents it reads (default: those of the data set)"
    )
    observations: Observations | None = option(
        "whose texts it reads where calls are refused (default: bfcl for BFCL's data under profile "
        "bfcl, else own)"
    )
    prompts: str | None = option(
        "TOML file of the texts that are put to it (default: configs/prompts/default.toml)", "FILE"
    )
    seed: int | None = option(
        "seed of its sampling; trial k, from 0, has S+k (default: none is sent)", "S", read=index
    )


@dataclass(frozen=True, kw_only=True)
class PaceOptions:
    """Live models: the run."""

    concurrency: int | None = option("episodes at once (default: 16)", "N", read=positive)
    attempts: int | None = option(
        "tries of one request (default: 8); of one that takes too long at most 2, and what a rate "
        "limit refuses is waited for",
        "N",
        read=positive,
    )
    rpm: int | None = option(
        "most requests a minute (default: as many as the server takes)", "N", read=positive
    )
    tpm: int | None = option(
        "most tokens a minute (default: as many as the server takes)", "N", read=positive
    )
    outage: float | None = option(
        "stop after so long without any answer (default: 600)", "SECONDS", read=above_zero
    )
    max_requests: int | None = option(
        "most requests, those before a resume included (default: no limit)", "N", read=positive
    )
    max_cost: float | None = option(
        "most US dollars, those before a resume included (default: no limit)",
        "USD",
        read=above_zero,
    )
    price: PriceList | None = option(
        "US dollars per million tokens: of prompts, of answers, read from a prompt cache, written "
        "to it (default: litellm's table)",
        "IN,OUT[,READ[,WRITE]]",
        read=_price,
    )


@dataclass(frozen=True, kw_only=True)
class _Kept(PaceOptions):
    """Live models: the run."""

    run_dir: Path | None = option(
        "folder in which the run is kept (default: a new one in runs)", "DIR"
    )
    resume: Path | None = option("go on with the run in this folder", "DIR")
    only: Literal["errors", "failed"] | None = option(
        "with --resume: do the episodes again that ended so (default: only what is missing)"
    )
    trials: int = option("attempts at every entry", "K", default=1, read=_trials)
    gpu_price: float | None = option(
        "what the machine of a model of one's own costs an hour: gives the cost by the clock, and "
        "by the sum of latencies over the concurrency (default: no such cost)",
        "USD_PER_HOUR",
        read=above_zero,
    )
    reply_cache: str | None = option(
        "keep answers in this folder (without DIR in one of ours), and take from it what was asked "
        "before in the same trial (default: off)",
        "DIR",
        bare="",
    )
    errors_as: tuple[tuple[str, str], ...] = option(
        "what a request without an answer counts as, of all kinds or of one (default: "
        "context_overflow, unparsed_call, content_policy and request_too_large are the model's "
        "failures; timeout, connection, rate_limit, server, refused and agent are errors); may be "
        "repeated",
        "[KIND=]failure|error",
        default=(),
        read=_counted,
    )
    allow_errors: bool = switch("give a score also with more than 2% of errors")
    no_preflight: bool = switch(
        "skip the one request that tests server and settings before the run"
    )
    dry_run: bool = switch("say what would be asked, and at what cost; ask nothing")


@dataclass(frozen=True, kw_only=True)
class LiveOptions(ReachedOptions, _Asked, _Kept):
    """What only a live model has a use for."""


@dataclass(frozen=True, kw_only=True)
class EvalOptions(EntriesOptions, WorkOptions, LiveOptions, ReachOptions):
    """Which model to run, on what and how."""

    model: str = option(
        "oracle (plays the ground truth), null (never calls), scripted:RATE (errs in this share of "
        "its calls), scripted:POLICY (makes only some: first_two of a turn, writes, reads, or the "
        "literal ones), replay:PATH (recorded run), or a live model: NAME, if need be with "
        "--base-url, provider/NAME, or an agent of your own, python:MODULE:FUNCTION",
        "NAME",
        required=True,
    )
    sample: int | None = option(
        "only N entries, drawn so that every category and backend has its share",
        "N",
        read=positive,
    )
    sample_seed: int = option("seed of the sample", "S", default=0, read=index)
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """The options of extensions, by their names, where any is given."""
