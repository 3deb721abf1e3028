"""Options of ``turnwise eval``.

The module ``runner.models.settings`` defines the live-model options.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from runner.commands.common_options import SampleOptions, ServiceOptions, WorkOptions
from runner.commands.options import above_zero, option, positive, switch
from runner.models import settings
from runner.models.model_name import ModelName, parse_model_name

_MAX_TRIALS = 10_000


def _parse_trials(text: str) -> int:
    trials = positive(text)
    if trials > _MAX_TRIALS:
        raise ArgumentTypeError(f"{trials} is too many: at most {_MAX_TRIALS} trials per entry")
    return trials


def make_options(group: type) -> Any:
    """Return a class of command-line options for a group of settings; no option is required."""
    kinds: dict[str, str] = {}
    # Annotations are evaluated in the module of the class.
    body = {"__doc__": group.__doc__, "__module__": group.__module__, "__annotations__": kinds}
    for member in fields(group):
        about = settings.get_info(member)
        kinds[member.name] = (
            "tuple[tuple[str, str], ...]" if about.pairs else f"{member.type} | None"
        )
        default = () if about.pairs else None
        how = {"default": default, "read": about.read, "bare": about.bare}
        flags = (settings.flag_of(member),)
        body[member.name] = option(about.help, about.metavar, flags=flags, **how)
    return dataclass(frozen=True, kw_only=True)(type(group.__name__, (), body))


if TYPE_CHECKING:
    from runner.models.settings import (
        ConnectionSettings,
        RateSettings,
        RequestSettings,
        RunSettings,
        SamplingSettings,
    )
else:
    # As an option, every setting can be None.
    RequestSettings = make_options(settings.RequestSettings)
    RunSettings = make_options(settings.RunSettings)
    RateSettings = make_options(settings.RateSettings)
    ConnectionSettings = make_options(settings.ConnectionSettings)
    SamplingSettings = make_options(settings.SamplingSettings)


@dataclass(frozen=True, kw_only=True)
class ConnectionOptions(ConnectionSettings):
    """Live models: connection."""

    config: Path | None = option("TOML file with live-model options; flags override it", "FILE")


@dataclass(frozen=True, kw_only=True)
class SamplingOptions(SamplingSettings):
    """Live models: requests."""


@dataclass(frozen=True, kw_only=True)
class _RequestOptions(RequestSettings, SamplingOptions):
    """Live models: requests."""


@dataclass(frozen=True, kw_only=True)
class RateOptions(RateSettings):
    """Live models: run and budget."""


@dataclass(frozen=True, kw_only=True)
class _RunOptions(RunSettings, RateOptions):
    """Live models: run and budget."""

    run_dir: Path | None = option("folder for the run (default: a new one in runs)", "DIR")
    resume: Path | None = option("resume the run in this folder", "DIR", excludes=("--run-dir",))
    only: Literal["errors", "failed"] | None = option(
        "with --resume: repeat episodes with this outcome", needs="--resume"
    )
    trials: int = option("episodes per entry", "K", default=1, read=_parse_trials)
    gpu_price: float | None = option(
        "hourly price of your GPU server", "USD_PER_HOUR", read=above_zero
    )
    allow_errors: bool = switch("print a score even with more than 2% errors")
    no_preflight: bool = switch("skip the test request before the run")
    dry_run: bool = switch("print only the number of requests and the estimated cost")


@dataclass(frozen=True, kw_only=True)
class LiveOptions(ConnectionOptions, _RequestOptions, _RunOptions):
    """Options that only a live model uses."""


def given_settings(options: Any) -> dict[str, Any]:
    """Return the settings by name. The value None means that the user did not give the setting."""
    values = vars(options)
    return {
        member.name: dict(values.get(member.name, ())) or None
        if settings.get_info(member).pairs
        else values.get(member.name)
        for member in fields(settings.LiveSettings)
    }


@dataclass(frozen=True, kw_only=True)
class EvalOptions(SampleOptions, WorkOptions, LiveOptions, ServiceOptions):
    """The options of ``turnwise eval``."""

    COMMON: ClassVar = (
        *("model", "category", "ids", "limit", "dataset"),
        *("base_url", "mode", "trials", "resume", "output"),
    )
    model: ModelName = option(
        "oracle, null, scripted:RATE, scripted:POLICY, replay:PATH, "
        "python:MODULE:FUNCTION, provider/NAME, or NAME with --base-url",
        "NAME",
        required=True,
        read=parse_model_name,
    )
    extensions: Mapping[str, Any] = field(default_factory=dict)
