"""What ``turnwise eval`` takes: which model, which part of the data, and how a live model is run.

The options of live models are made of their settings (``runner.models.settings``).
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from runner.commands.judging import WorkOptions
from runner.commands.options import above_zero, index, option, options_of, positive, switch
from runner.commands.shared import EntriesOptions, ReachOptions
from runner.models import settings

_MOST_TRIALS = 10_000


def _trials(text: str) -> int:
    trials = positive(text)
    if trials > _MOST_TRIALS:
        raise ArgumentTypeError(f"more than {_MOST_TRIALS} trials of an entry")
    return trials


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
    """Live models: how they are reached."""

    config: Path | None = option(
        "TOML file with what else flags say of a live model; flags win over it", "FILE"
    )


@dataclass(frozen=True, kw_only=True)
class SamplingOptions(SamplingSettings):
    """Live models: how they are asked."""


@dataclass(frozen=True, kw_only=True)
class _Asked(AskingSettings, SamplingOptions):
    """Live models: how they are asked."""


@dataclass(frozen=True, kw_only=True)
class PaceOptions(PaceSettings):
    """Live models: the run."""


@dataclass(frozen=True, kw_only=True)
class _Kept(KeepingSettings, PaceOptions):
    """Live models: the run."""

    run_dir: Path | None = option(
        "folder in which the run is kept (default: a new one in runs)", "DIR"
    )
    resume: Path | None = option("go on with the run in this folder", "DIR")
    only: Literal["errors", "failed"] | None = option(
        "with --resume: do the episodes again that ended so (default: only what is missing)",
        needs="--resume",
    )
    trials: int = option("attempts at every entry", "K", default=1, read=_trials)
    gpu_price: float | None = option(
        "what the machine of a model of one's own costs an hour: gives the cost by the clock, and "
        "by the sum of latencies over the concurrency (default: no such cost)",
        "USD_PER_HOUR",
        read=above_zero,
    )
    allow_errors: bool = switch("give a score also with more than 2% of errors")
    no_preflight: bool = switch(
        "skip the one request that tests server and settings before the run"
    )
    dry_run: bool = switch("say what would be asked, and at what cost; ask nothing")


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
