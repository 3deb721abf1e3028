"""What ``turnwise eval`` takes: which model, which part of the data, and how a live model is run.

The options of live models are made of their settings (``runner.models.settings``).
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from runner.commands.options import above_zero, index, option, positive, switch
from runner.commands.shared import EntriesOptions, ReachOptions, WorkOptions
from runner.models import settings

_MOST_TRIALS = 10_000


def _trials(text: str) -> int:
    trials = positive(text)
    if trials > _MOST_TRIALS:
        raise ArgumentTypeError(f"more than {_MOST_TRIALS} trials of an entry")
    return trials


def options_of(group: type) -> Any:
    """Return the record of options for a group of settings, each of which may be left out."""
    made = []
    for member in fields(group):
        about = settings.about(member)
        kind = "tuple[tuple[str, str], ...]" if about.pairs else f"{member.type} | None"
        how = option(
            about.help,
            about.metavar,
            default=() if about.pairs else None,
            read=about.read,
            flags=(settings.flag_of(member),),
            bare=about.bare,
        )
        made.append((member.name, kind, how))
    names = {"__doc__": group.__doc__, "__module__": group.__module__}
    return make_dataclass(group.__name__, made, frozen=True, kw_only=True, namespace=names)


if TYPE_CHECKING:
    from runner.models.settings import (
        AskingSettings,
        KeepingSettings,
        PaceSettings,
        ReachSettings,
        SamplingSettings,
    )
else:
    # As options, any of them may be None: it was not given.
    AskingSettings = options_of(settings.AskingSettings)
    KeepingSettings = options_of(settings.KeepingSettings)
    PaceSettings = options_of(settings.PaceSettings)
    ReachSettings = options_of(settings.ReachSettings)
    SamplingSettings = options_of(settings.SamplingSettings)


@dataclass(frozen=True, kw_only=True)
class ReachedOptions(ReachSettings):
    """Live models: connection."""

    config: Path | None = option("TOML file with live-model options; flags win", "FILE")


@dataclass(frozen=True, kw_only=True)
class SamplingOptions(SamplingSettings):
    """Live models: requests."""


@dataclass(frozen=True, kw_only=True)
class _Asked(AskingSettings, SamplingOptions):
    """Live models: requests."""


@dataclass(frozen=True, kw_only=True)
class PaceOptions(PaceSettings):
    """Live models: run and budget."""


@dataclass(frozen=True, kw_only=True)
class _Kept(KeepingSettings, PaceOptions):
    """Live models: run and budget."""

    run_dir: Path | None = option("folder for the run (default: a new one in runs)", "DIR")
    resume: Path | None = option("resume the run in this folder", "DIR")
    only: Literal["errors", "failed"] | None = option(
        "with --resume: repeat episodes that ended so",
        needs="--resume",
    )
    trials: int = option("episodes per entry", "K", default=1, read=_trials)
    gpu_price: float | None = option(
        "hourly price of your GPU server",
        "USD_PER_HOUR",
        read=above_zero,
    )
    allow_errors: bool = switch("print a score even with more than 2% errors")
    no_preflight: bool = switch("skip the test request before the run")
    dry_run: bool = switch("print requests and cost, ask nothing")


@dataclass(frozen=True, kw_only=True)
class LiveOptions(ReachedOptions, _Asked, _Kept):
    """What only a live model has a use for."""


def settings_in(options: Any) -> dict[str, Any]:
    """Return the settings that were given as options, and None for the others."""
    values = vars(options)
    return {
        member.name: dict(values.get(member.name, ())) or None
        if settings.about(member).pairs
        else values.get(member.name)
        for member in fields(settings.LiveSettings)
    }


@dataclass(frozen=True, kw_only=True)
class EvalOptions(EntriesOptions, WorkOptions, LiveOptions, ReachOptions):
    """Which model to run, on what and how."""

    COMMON: ClassVar = (
        *("model", "category", "ids", "limit", "dataset"),
        *("base_url", "mode", "trials", "resume", "output"),
    )
    model: str = option(
        "oracle, null, scripted:RATE, scripted:POLICY, replay:PATH, "
        "python:MODULE:FUNCTION, provider/NAME, or NAME with --base-url",
        "NAME",
        required=True,
    )
    sample: int | None = option(
        "stratified sample of N entries",
        "N",
        read=positive,
    )
    sample_seed: int = option("seed of the sample", "S", default=0, read=index)
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """The options of extensions, by their names, where any is given."""
