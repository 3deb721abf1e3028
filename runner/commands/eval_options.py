"""What ``turnwise eval`` takes: which model, which part of the data, and how a live model is run.

The options of live models are made of their settings (``runner.models.settings``).
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from envs.lazy import lazily
from runner.commands.judging import WorkOptions
from runner.commands.options import above_zero, given, index, option, options_of, positive, switch
from runner.commands.shared import EntriesOptions, ReachOptions
from runner.models import settings
from trajectories.errors import DataError

if TYPE_CHECKING:
    from runner.retrieval import offering
else:
    # Function documents take a while to load, and few runs retrieve.
    offering = lazily("runner.retrieval.offering")

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

    formats: str | None = option(
        "with --mode prompt: ask single-turn entries in several formats, all or names such as "
        "json-tagged-python-plain (calls in python, json or xml; bare or tagged; functions in "
        "json, python or xml; prompt plain or markdown)",
        "NAMES",
    )
    protocols: str | None = option(
        "ask in several protocols, one run each: names, text, native, raw or all", "NAMES"
    )


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
        "with --resume: do the episodes again that ended so (default: only what is missing)"
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
class ExperimentOptions:
    """Experiments on the list of functions."""

    vary: tuple[str, ...] = option(
        "a run for each level of an axis (tools=need,10,all; "
        "distractors=far,near; place=head,middle,tail,spread; order=as-is,shuffled,alphabetical; "
        "names=plain,snake,codes,swapped; descriptions=full,first,none,FILE; words=as-is,FILE); "
        "may be repeated; oracle, null and scripted models take part",
        "AXIS=LEVELS",
        default=(),
    )
    vary_seed: int = option("seed of what is drawn for --vary", "S", default=0, read=index)
    design: Literal["full", "latin"] | None = option(
        "of several axes: all combinations; or each entry at one level of each axis (default: each "
        "axis alone, the others at their first level)"
    )


@dataclass(frozen=True, kw_only=True)
class RetrieveOptions:
    """Functions that are offered."""

    retrieve: str | None = option(
        "only what retrieval finds, by what the user says in a turn: backends=N (all functions of "
        "the backends of the N nearest), top=N (the N nearest; top=N+needs: and what "
        "these may need first, by the function graph), search=N (find_functions alone, by "
        "which the model finds N at a time), or oracle (those of the ground truth)",
        "POLICY",
    )
    pool: str | None = option(
        "with --retrieve: what is looked through, and can be called: own (the 128 functions of the "
        "eight backends), all (of every environment), or a file that names functions of ours "
        "(default: own)",
        "NAME",
    )
    retrieve_by: str | None = option(
        "with --retrieve: the ranking, as turnwise retrieve query has it (default: default)",
        "METHOD",
    )
    keep: bool = switch("with --retrieve: what was offered stays for later turns (the default)")
    no_keep: bool = switch(
        "with --retrieve: what was offered in a turn is offered in that one only"
    )

    @property
    def retrieval(self) -> offering.Retrieval | None:
        """What retrieval is to do; None where nothing.

        Raises:
            DataError: The options contradict each other.
        """
        if self.retrieve is None:
            for flag in given(self, RetrieveOptions):
                raise DataError(flag, "says how --retrieve chooses; add it")
            return None
        policy = offering.Policy.named(self.retrieve)
        if self.no_keep and (self.keep or policy.how in ("search", "oracle")):
            raise DataError("--no-keep", f"does not go with {'--keep' if self.keep else policy}")
        by = self.retrieve_by or "default"
        return offering.Retrieval(policy, self.pool or "own", by, not self.no_keep)


@dataclass(frozen=True, kw_only=True)
class EvalOptions(
    EntriesOptions, RetrieveOptions, WorkOptions, LiveOptions, ExperimentOptions, ReachOptions
):
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
