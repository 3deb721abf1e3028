"""Settings of live models, each declared once.

The metadata of a field contains the help, the parser of the flag and the limits of the value. The
metadata also tells where the value is sent and stored. The command line and TOML files use the
metadata.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from math import inf
from typing import Any, Literal, NamedTuple, cast, get_args, get_origin, get_type_hints

from checkers.profile import Mode
from envs.errors import DataError
from runner.models.history_rules import HISTORY_RULES
from runner.models.model_types import ApiName
from runner.models.number_options import above_zero, from_zero, index, positive
from trajectories.jsonl import parse_object

PriceList = tuple[float, float] | tuple[float, float, float] | tuple[float, float, float, float]
"""US dollars per million tokens: prompt, completion, cache reads, cache writes."""

FunctionDocs = Literal["own", "bfcl"]
Observations = Literal["own", "bfcl"]
ReasoningPolicy = Literal["none", "last", "all"]
"""Earlier turns whose reasoning is sent back."""
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

CountedAs = Literal["failure", "error"]
"""Whether the model is to blame for an unanswered request."""
ALL_KINDS = "all"

Sent = Literal["sampling", "calling", "provider", "server"]
"""Field of RequestOptions for the setting; ``server`` means a field such as ``base_url``."""

_ALWAYS_RECORDED = 10
"""Every run definition contains the first ten settings."""


@dataclass(frozen=True, kw_only=True)
class SettingInfo:
    """Metadata of a setting."""

    help: str
    metavar: str | None = None
    read: Callable[[str], Any] | None = None
    """Parser of the flag's string; raises ArgumentTypeError."""
    flag: str | None = None
    bare: Any = None
    pairs: bool = False
    """Whether the flag can be repeated; each use then adds a field to a mapping."""
    least: int = 0
    """Minimum of a numeric setting in a TOML file."""
    secret: bool = False
    sent: Sent | None = None
    """Receiver of the setting; ``None`` if the setting is not sent."""
    place: int = 0
    """Position in the run definition, or 0. Add new settings at the end, with the default None."""
    recorded_as: Any = None
    """Type in the definition, if it differs from the setting's type."""


class DefinitionSetting(NamedTuple):
    """A setting in the run definition."""

    name: str
    kind: Any
    always: bool
    """Whether the setting is written even if null."""


def declare(help: str, metavar: str | None = None, *, default: Any = None, **about: Any) -> Any:
    """Return the dataclass field of a setting."""
    metadata = {"about": SettingInfo(help=help, metavar=metavar, **about)}
    if default is dict:
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


def get_info(member: Field[Any]) -> SettingInfo:
    """Return the metadata of a setting."""
    info: SettingInfo = member.metadata["about"]
    return info


def flag_of(member: Field[Any]) -> str:
    """Return the flag of a setting."""
    return get_info(member).flag or f"--{member.name.replace('_', '-')}"


def list_definition_settings(record: type) -> list[DefinitionSetting]:
    """Return the settings that define a run, in the order of the definition."""
    hints = get_type_hints(record)
    chosen = [member for member in fields(record) if get_info(member).place]
    return [
        DefinitionSetting(
            member.name,
            get_info(member).recorded_as or _find_recorded_type(hints[member.name]),
            get_info(member).place <= _ALWAYS_RECORDED,
        )
        for member in sorted(chosen, key=lambda member: get_info(member).place)
    ]


def sent_as(record: type, *ways: Sent) -> Mapping[str, str]:
    """Return the flags of the settings with the given receivers."""
    order = sorted(fields(record), key=lambda member: get_info(member).place or inf)
    return {member.name: flag_of(member) for member in order if get_info(member).sent in ways}


def _find_recorded_type(hint: Any) -> Any:
    words = [kind for kind in (hint, *get_args(hint)) if get_origin(kind) is Literal]
    if not words:
        return hint
    return str if hint in words else str | None


def _read_header(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _read_object(text: str) -> Mapping[str, Any]:
    try:
        return parse_object(text, "--body")
    except DataError as error:
        raise ArgumentTypeError(f"{error.args[1]:.300}") from None


def read_price(text: str) -> PriceList:
    """Return prices. Raises ArgumentTypeError if the text is not two to four numbers."""
    with suppress(ArgumentTypeError):
        if text.count(",") in (1, 2, 3):
            return cast(PriceList, tuple([from_zero(number) for number in text.split(",")]))
    raise ArgumentTypeError(f"{text!r} must be IN,OUT or IN,OUT,READ or IN,OUT,READ,WRITE")


def read_history_rules(text: str) -> str:
    """Validate the names of chat-history rules. Raises ArgumentTypeError for an unknown rule."""
    for rule in text.split(","):
        if rule not in HISTORY_RULES:
            raise ArgumentTypeError(f"{rule!r:.60} is not one of {', '.join(HISTORY_RULES)}")
    return text


def _read_rule(text: str) -> tuple[str, str]:
    kind, equals, counted = text.rpartition("=")
    if counted not in ("failure", "error") or bool(kind) != bool(equals):
        raise ArgumentTypeError(
            f"{text!r} must be `failure`, `error`, `KIND=failure` or `KIND=error`"
        )
    return kind or ALL_KINDS, counted


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings:
    """Live models: connection."""

    base_url: str | None = declare(
        "address of an OpenAI-compatible server", "URL", sent="server", place=1
    )
    api: ApiName | None = declare("API of the server (default: by model)", sent="server", place=14)
    timeout: float = declare(
        "maximum time per request (default: 600)", "SECONDS", default=600.0, read=above_zero
    )
    extra_headers: Mapping[str, str] = declare(
        "extra HTTP header; repeatable",
        "NAME=VALUE",
        default=dict,
        read=_read_header,
        flag="--header",
        pairs=True,
        secret=True,
        sent="server",
        place=9,
        recorded_as=list[str],
    )
    extra_body: Mapping[str, Any] = declare(
        "JSON object merged into every request",
        "JSON",
        default=dict,
        read=_read_object,
        flag="--body",
        sent="server",
        place=10,
    )


@dataclass(frozen=True, kw_only=True)
class SamplingSettings:
    """Live models: requests."""

    reasoning_effort: Effort | None = declare(
        "none, minimal, low, medium, high, xhigh or max", "LEVEL", sent="sampling", place=11
    )
    temperature: float | None = declare(
        "sampling temperature (default: the server's)",
        "T",
        read=from_zero,
        sent="sampling",
        place=5,
    )
    top_p: float | None = declare(
        "nucleus sampling (default: the server's)", "P", read=from_zero, sent="sampling", place=6
    )
    max_tokens: int | None = declare(
        "maximum tokens per answer", "N", read=positive, sent="sampling", place=8
    )


@dataclass(frozen=True, kw_only=True)
class RequestSettings:
    """Live models: requests."""

    mode: Mode = declare(
        "fc (tool calls) or prompt (calls in text) (default: fc)",
        default="fc",
        place=2,
        recorded_as=Mode,
    )
    reasoning: ReasoningPolicy = declare(
        "earlier turns whose reasoning is sent back (default: all)", default="all", place=3
    )
    tool_choice: str | None = declare(
        "auto (default), none, required or a function", "CHOICE", sent="calling", place=12
    )
    parallel_tool_calls: Literal["on", "off"] | None = declare(
        "allow several calls per answer (default: by provider)", sent="calling", place=13
    )
    prompt_caching: Literal["on", "off"] | None = declare(
        "add cache marks for Anthropic's models (default: only in multi-turn entries)",
        sent="provider",
        place=17,
    )
    history_rules: str | None = declare(
        f"the server's rules for the chat history: {', '.join(HISTORY_RULES)} (default: inferred "
        "from refusals)",
        "RULES",
        read=read_history_rules,
        sent="provider",
        place=18,
    )
    function_docs: FunctionDocs | None = declare(
        "wording of function documents (default: by data set)", place=4
    )
    observations: Observations | None = declare(
        "wording of errors for refused calls (default: depends on the data set)", place=16
    )
    prompts: str | None = declare("TOML file with prompts (default: built-in)", "FILE")
    seed: int | None = declare(
        "sampling seed S; trial k (first: 0) uses S+k", "S", read=index, sent="sampling", place=7
    )


@dataclass(frozen=True, kw_only=True)
class RateSettings:
    """Live models: run and budget."""

    concurrency: int = declare(
        "episodes at once (default: 16)", "N", default=16, read=positive, least=1
    )
    retries: int = declare("retries per request (default: 7)", "N", default=7, read=index, least=0)
    rpm: int | None = declare(
        "maximum requests per minute (default: no limit)", "N", read=positive, least=1
    )
    tpm: int | None = declare(
        "maximum tokens per minute (default: no limit)", "N", read=positive, least=1
    )
    outage: float = declare(
        "maximum time without answers (default: 600)", "SECONDS", default=600.0, read=above_zero
    )
    max_requests: int | None = declare("request budget, including all resumes", "N", read=positive)
    max_cost: float | None = declare("cost budget, including all resumes", "USD", read=above_zero)
    price: PriceList | None = declare(
        "prices per million tokens, IN,OUT[,READ[,WRITE]]", "USD", read=read_price, sent="server"
    )


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Live models: run and budget."""

    reply_cache: str | None = declare("cache answers to equal requests of a trial", "DIR", bare="")
    errors_as: Mapping[str, CountedAs] = declare(
        "count unanswered requests as `failure` or `error`, as in timeout=failure; repeatable",
        "RULE",
        default=dict,
        read=_read_rule,
        pairs=True,
        place=15,
        recorded_as=Mapping[str, Any] | None,
    )


@dataclass(frozen=True, kw_only=True)
class LiveSettings(
    RunSettings, RateSettings, RequestSettings, SamplingSettings, ConnectionSettings
):
    """All settings of live models."""
