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
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

_MOST_DIGITS = 18


def positive(text: str) -> int:
    """Read a whole number above 0, of no more digits than anything here is counted in."""
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise ArgumentTypeError(f"{text!r:.40} is not a positive whole number")
    return int(text)


def index(text: str) -> int:
    """Read a whole number from 0, of no more digits than anything here is counted in."""
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise ArgumentTypeError(f"{text!r:.40} is not a whole number from 0")
    return int(text)


def port(text: str) -> int:
    """Read the number of a port."""
    if not text.isdecimal() or len(text) > len("65535") or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r:.40} is not a port, a number from 0 to 65535")
    return int(text)


def from_zero(text: str) -> float:
    """Read a finite number that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number from 0")
    return value


def above_zero(text: str) -> float:
    """Read a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


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
    """Live models: connection."""

    base_url: str | None = setting(
        "address of an OpenAI-compatible server",
        "URL",
        sent="server",
        place=1,
    )
    api: ApiName | None = setting(
        "OpenAI API (default: by model)",
        sent="server",
        place=14,
    )
    timeout: float = setting(
        "maximum time per request (default: 600)", "SECONDS", default=600.0, read=above_zero
    )
    extra_headers: Mapping[str, str] = setting(
        "extra HTTP header; repeatable",
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
        "JSON object merged into every request",
        "JSON",
        default=dict,
        read=_object,
        flag="--body",
        sent="server",
        place=10,
    )


@dataclass(frozen=True, kw_only=True)
class SamplingSettings:
    """Live models: requests."""

    reasoning_effort: Effort | None = setting(
        "none, minimal, low, medium, high, xhigh or max",
        "LEVEL",
        sent="sampling",
        place=11,
    )
    temperature: float | None = setting(
        "sampling temperature (default: the server's)",
        "T",
        read=from_zero,
        sent="sampling",
        place=5,
    )
    top_p: float | None = setting(
        "nucleus sampling threshold (default: the server's)",
        "P",
        read=from_zero,
        sent="sampling",
        place=6,
    )
    max_tokens: int | None = setting(
        "maximum tokens per answer",
        "N",
        read=positive,
        sent="sampling",
        place=8,
    )


@dataclass(frozen=True, kw_only=True)
class AskingSettings:
    """Live models: requests."""

    mode: Mode = setting(
        "tool calls or calls in text (default: fc)", default="fc", place=2, recorded_as=Mode
    )
    reasoning: ReasoningPolicy = setting(
        "earlier reasoning to send: none, last or all",
        default="all",
        place=3,
    )
    tool_choice: str | None = setting(
        "auto, none, required or a function (default: auto)",
        "CHOICE",
        sent="calling",
        place=12,
    )
    parallel_tool_calls: Literal["on", "off"] | None = setting(
        "several calls per answer",
        sent="calling",
        place=13,
    )
    prompt_caching: Literal["on", "off"] | None = setting(
        "mark all prompts or none for Anthropic's cache",
        sent="provider",
        place=17,
    )
    function_docs: FunctionDocs | None = setting(
        "function documents (default: by data set)", place=4
    )
    observations: Observations | None = setting(
        "texts of refused calls (default: by data set)",
        place=16,
    )
    prompts: str | None = setting("TOML file with prompts (default: the built-in one)", "FILE")
    seed: int | None = setting(
        "sampling seed; trial k, from 0, uses S+k",
        "S",
        read=index,
        sent="sampling",
        place=7,
    )


@dataclass(frozen=True, kw_only=True)
class PaceSettings:
    """Live models: run and budget."""

    concurrency: int = setting(
        "episodes at once (default: 16)", "N", default=16, read=positive, least=1
    )
    attempts: int = setting(
        "attempts per request (default: 8)",
        "N",
        default=8,
        read=positive,
        least=1,
    )
    rpm: int | None = setting(
        "maximum requests per minute (default: no limit)", "N", read=positive, least=1
    )
    tpm: int | None = setting(
        "maximum tokens per minute (default: no limit)", "N", read=positive, least=1
    )
    outage: float = setting(
        "maximum time without answers (default: 600)",
        "SECONDS",
        default=600.0,
        read=above_zero,
    )
    max_requests: int | None = setting("request budget, over all resumes", "N", read=positive)
    max_cost: float | None = setting(
        "cost budget, over all resumes",
        "USD",
        read=above_zero,
    )
    price: PriceList | None = setting(
        "per million tokens: IN,OUT[,READ[,WRITE]]",
        "USD",
        read=_price,
        sent="server",
    )


@dataclass(frozen=True, kw_only=True)
class KeepingSettings:
    """Live models: run and budget."""

    reply_cache: str | None = setting(
        "reuse answers to equal requests of a trial",
        "DIR",
        bare="",
    )
    errors_as: Mapping[str, CountedAs] = setting(
        "[KIND=]failure or [KIND=]error; repeatable",
        "RULE",
        default=dict,
        read=_counted,
        pairs=True,
        place=15,
        recorded_as=Mapping[str, Any] | None,
    )


@dataclass(frozen=True, kw_only=True)
class LiveSettings(KeepingSettings, PaceSettings, AskingSettings, SamplingSettings, ReachSettings):
    """How a model is reached, asked and paid for."""
