"""The settings of live models, each declared once.

A field says what it is for, how a flag gives it, which values a file may have, who is sent it, and
where it stands in a run's definition. The options, the reading of files, the definition and what
agents refuse follow from that.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from math import inf
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from checkers.profile import Mode
from runner.models.base import ApiName
from runner.models.numbers import above_zero, from_zero, index, positive
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

PriceList = tuple[float, float] | tuple[float, float, float] | tuple[float, float, float, float]
"""US dollars per million tokens: prompt, completion, and of the prompt cache reads and writes."""

FunctionDocs = Literal["own", "bfcl"]
"""Whose function documents the model is shown."""

Observations = Literal["own", "bfcl"]
"""Whose texts a model reads where a call is refused, functions are handed over or described."""

ReasoningPolicy = Literal["none", "last", "all"]
"""Of how many turns that are over a model sees its thoughts again; in a turn it always does."""

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a reasoning model is to think; each takes some of them."""

CountedAs = Literal["failure", "error"]
"""Whose doing it is that a request got no answer: the model's, or nobody's who is measured."""
ALL_KINDS = "all"

Sent = Literal["sampling", "calling", "provider", "server"]
"""Where a client finds it: in a mapping of RequestOptions, or as an attribute (``server``)."""

_ALWAYS_RECORDED = 10
"""Place of the last member of a definition that is there also where it is null."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What is known of a setting besides its type and its default."""

    help: str
    metavar: str | None = None
    read: Callable[[str], Any] | None = None
    """Makes the value of a flag's text; raises ArgumentTypeError where it cannot."""
    flag: str | None = None
    """What the user types, where that is not the field's name."""
    bare: Any = None
    """The value where the flag is given without one; None where it must have one."""
    pairs: bool = False
    """Whether the flag may be repeated, and adds a member to a mapping each time."""
    least: int = 0
    """The least number that a file may have."""
    secret: bool = False
    """Whether a message must not show the value."""
    sent: Sent | None = None
    """Where a client finds it, and an agent refuses it; None where no server is told."""
    place: int = 0
    """Place in a run's definition; 0 where it defines no run. A new one comes last, and is None by
    default: what older runs were asked is told by its absence."""
    recorded_as: Any = None
    """Type in the definition, where it is not the setting's, or text for one of several words."""


class DefiningMember(NamedTuple):
    """A member of a run's definition that is a setting."""

    name: str
    kind: Any
    always: bool
    """Whether it is there also where it is null."""


def setting(help: str, metavar: str | None = None, *, default: Any = None, **about: Any) -> Any:
    """Return the field of a setting.

    Args:
        help: What it is for.
        metavar: What to call its value.
        default: The value where none is given; ``dict`` for an empty mapping.
        about: Further members of About.
    """
    metadata = {"about": About(help=help, metavar=metavar, **about)}
    if default is dict:
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


def about(member: Field[Any]) -> About:
    """Return what is known of a setting."""
    told: About = member.metadata["about"]
    return told


def flag_of(member: Field[Any]) -> str:
    """Return the flag of a setting."""
    return about(member).flag or f"--{member.name.replace('_', '-')}"


def recorded(record: type) -> list[DefiningMember]:
    """Return those of the settings that define a run, in the order of the definition."""
    hints = get_type_hints(record)
    chosen = [member for member in fields(record) if about(member).place]
    return [
        DefiningMember(
            member.name,
            about(member).recorded_as or _in_json(hints[member.name]),
            about(member).place <= _ALWAYS_RECORDED,
        )
        for member in sorted(chosen, key=lambda member: about(member).place)
    ]


def sent_as(record: type, *ways: Sent) -> Mapping[str, str]:
    """Return the flags of the settings that are sent in one of some ways, by name."""
    order = sorted(fields(record), key=lambda member: about(member).place or inf)
    return {member.name: flag_of(member) for member in order if about(member).sent in ways}


def _in_json(hint: Any) -> Any:
    """Return the type of a setting in a definition: a word there may be one of an older version."""
    words = [kind for kind in (hint, *get_args(hint)) if get_origin(kind) is Literal]
    if not words:
        return hint
    return str if hint in words else str | None


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


def _counted(text: str) -> tuple[str, str]:
    kind, equals, counted = text.rpartition("=")
    if counted not in ("failure", "error") or bool(kind) != bool(equals):
        raise ArgumentTypeError(f"{text!r} is not failure, error, KIND=failure or KIND=error")
    return kind or ALL_KINDS, counted


@dataclass(frozen=True, kw_only=True)
class ReachSettings:
    """Live models: how they are reached."""

    base_url: str | None = setting(
        "address of an OpenAI-compatible server (default: the provider's own)",
        "URL",
        sent="server",
        place=1,
    )
    api: ApiName | None = setting(
        "which API of OpenAI's is spoken (default: what the model needs, else chat)",
        sent="server",
        place=14,
    )
    timeout: float = setting(
        "how long one request may take (default: 600)", "SECONDS", default=600.0, read=above_zero
    )
    extra_headers: Mapping[str, str] = setting(
        "a further HTTP header of every request; may be repeated",
        "NAME=VALUE",
        default=dict,
        read=_header,
        flag="--header",
        pairs=True,
        secret=True,
        sent="server",
        place=9,
        recorded_as=list[str],
    )
    extra_body: Mapping[str, Any] = setting(
        "an object whose members are put into every request",
        "JSON",
        default=dict,
        read=_object,
        flag="--body",
        sent="server",
        place=10,
    )


@dataclass(frozen=True, kw_only=True)
class SamplingSettings:
    """Live models: how they are asked."""

    reasoning_effort: Effort | None = setting(
        "how much a reasoning model is to think: none, minimal, low, medium, high, xhigh or "
        "max (default: the server's)",
        "LEVEL",
        sent="sampling",
        place=11,
    )
    temperature: float | None = setting(
        "sampling temperature, from 0 (default: the server's)",
        "T",
        read=from_zero,
        sent="sampling",
        place=5,
    )
    top_p: float | None = setting(
        "sample from this share of the probability, up to 1 (default: the server's)",
        "P",
        read=from_zero,
        sent="sampling",
        place=6,
    )
    max_tokens: int | None = setting(
        "tokens of an answer, at most (default: the server's; of raw protocols 4096)",
        "N",
        read=positive,
        sent="sampling",
        place=8,
    )


@dataclass(frozen=True, kw_only=True)
class AskingSettings:
    """Live models: how they are asked."""

    mode: Mode = setting(
        "function calling, or calls in text (default: fc)", default="fc", place=2, recorded_as=Mode
    )
    reasoning: ReasoningPolicy = setting(
        "thoughts of which earlier turns it sees again; those of its own turn always "
        "(default: all)",
        default="all",
        place=3,
    )
    tool_choice: str | None = setting(
        "whether it may call functions (auto, none), or must, in entries of one answer: "
        "required, or the name of the one (default: the server's, auto)",
        "{auto,none,required,NAME}",
        sent="calling",
        place=12,
    )
    parallel_tool_calls: Literal["on", "off"] | None = setting(
        "whether it may make several calls in one answer (default: the server's)",
        sent="calling",
        place=13,
    )
    prompt_caching: Literal["on", "off"] | None = setting(
        "mark prompts for Anthropic's cache, all or none (default: those that later requests "
        "begin with)",
        sent="provider",
        place=17,
    )
    function_docs: FunctionDocs | None = setting(
        "whose function documents it reads (default: those of the data set)", place=4
    )
    observations: Observations | None = setting(
        "whose texts it reads where calls are refused (default: bfcl for BFCL's data under "
        "profile bfcl, else own)",
        place=16,
    )
    prompts: str | None = setting(
        "TOML file of the texts that are put to it (default: configs/prompts/default.toml)", "FILE"
    )
    seed: int | None = setting(
        "seed of its sampling; trial k, from 0, has S+k (default: none is sent)",
        "S",
        read=index,
        sent="sampling",
        place=7,
    )


@dataclass(frozen=True, kw_only=True)
class PaceSettings:
    """Live models: the run."""

    concurrency: int = setting(
        "episodes at once (default: 16)", "N", default=16, read=positive, least=1
    )
    attempts: int = setting(
        "tries of one request (default: 8); of one that takes too long at most 2, and what a "
        "rate limit refuses is waited for",
        "N",
        default=8,
        read=positive,
        least=1,
    )
    rpm: int | None = setting(
        "most requests a minute (default: as many as the server takes)", "N", read=positive, least=1
    )
    tpm: int | None = setting(
        "most tokens a minute (default: as many as the server takes)", "N", read=positive, least=1
    )
    outage: float = setting(
        "stop after so long without any answer (default: 600)",
        "SECONDS",
        default=600.0,
        read=above_zero,
    )
    max_requests: int | None = setting(
        "most requests, those before a resume included (default: no limit)", "N", read=positive
    )
    max_cost: float | None = setting(
        "most US dollars, those before a resume included (default: no limit)",
        "USD",
        read=above_zero,
    )
    price: PriceList | None = setting(
        "US dollars per million tokens: of prompts, of answers, read from a prompt cache, "
        "written to it (default: litellm's table)",
        "IN,OUT[,READ[,WRITE]]",
        read=_price,
        sent="server",
    )


@dataclass(frozen=True, kw_only=True)
class KeepingSettings:
    """Live models: the run."""

    reply_cache: str | None = setting(
        "keep answers in this folder (without DIR in one of ours), and take from it what was "
        "asked before in the same trial (default: off)",
        "DIR",
        bare="",
    )
    errors_as: Mapping[str, CountedAs] = setting(
        "what a request without an answer counts as, of all kinds or of one (default: "
        "context_overflow, unparsed_call, content_policy and request_too_large are the model's "
        "failures; timeout, connection, rate_limit, server, refused and agent are errors); may be "
        "repeated",
        "[KIND=]failure|error",
        default=dict,
        read=_counted,
        pairs=True,
        place=15,
        recorded_as=Mapping[str, Any] | None,
    )


@dataclass(frozen=True, kw_only=True)
class LiveSettings(KeepingSettings, PaceSettings, AskingSettings, SamplingSettings, ReachSettings):
    """How a model is reached, asked and paid for."""
