"""Options of ``turnwise judge`` and ``turnwise label``, and the selection of episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from checkers.profile import Mode, Profile
from envs.errors import DataError
from extensions.judges.episode_brief import Show
from extensions.judges.judged_episode import JudgedEpisode, SolvableBy, Unit, exhibits
from extensions.judges.label_rules import JudgingRules
from runner.analysis.replayed_runs import dataset_of, describe_data_change, replay_episodes
from runner.commands.common_options import JsonOption, JudgingOptions, SampleOptions, note
from runner.commands.episode_options import rules_of
from runner.commands.eval_options import (
    ConnectionOptions,
    RateOptions,
    SamplingOptions,
    given_settings,
)
from runner.commands.options import argument, index, option, positive, switch
from runner.data import dataset_choice
from runner.live.run_settings import Settings, read_settings
from runner.models.model_name import ModelName, parse_model_name
from runner.records.episode_record import Key
from runner.records.recorded_run import Run, open_run
from trajectories.dataset import Dataset


@dataclass(frozen=True, kw_only=True)
class JudgedEpisodeOptions(SampleOptions, JudgingOptions):
    """Data."""


@dataclass(frozen=True, kw_only=True)
class ShownEpisodeOptions(JudgedEpisodeOptions):
    """Data."""

    show: Show | None = option(
        "shown part of an episode: answer, steps (also calls and results) or changes (also state "
        "changes) (default: steps)"
    )


@dataclass(frozen=True, kw_only=True)
class CachedRequestOptions(ConnectionOptions, SamplingOptions, RateOptions):
    """Live models: reply cache."""

    reply_cache: str | None = option("folder of the reply cache (default: a shared one)", "DIR")
    no_cache: bool = switch("ignore the shared reply cache", excludes=("--reply-cache",))
    dry_run: bool = switch("print only the number of requests and the estimated cost")

    def settings(self, **others: Any) -> Settings:
        """Return the settings from the options and from the settings file.

        Raises DataError if a file or an option cannot be used.
        """
        flags: Mapping[str, Any] = {**given_settings(self), **others}
        if not self.no_cache:
            flags = {**flags, "reply_cache": self.reply_cache or ""}
        return read_settings(self.config, flags)


@dataclass(frozen=True, kw_only=True)
class _VoteOptions:
    """Votes and labels."""

    votes: int | None = option(
        "maximum votes per episode (default: 5; 3 with --rules stable or fac)", "N", read=positive
    )
    all_votes: bool = switch("request all votes, even if fewer votes decide the label")
    rules: JudgingRules = option(
        "rules for labels: ToolLLM's paper, ToolBench's code, StableToolBench, or fac (only the "
        "final answer counts)",
        default="paper",
    )
    solvable: SolvableBy = option(
        "who decides whether a turn is solvable: known (ground truth) or judged (judge model)",
        default="known",
    )
    unit: Unit = option("unit that gets a label: episode or turn", default="episode")
    criteria: Literal["mixed", "judged"] = option(
        "criteria that the judge model rates: mixed (three of six) or judged (all six)",
        default="mixed",
    )
    labels: Path | None = option(
        "file of people's labels, saved from the page of turnwise label", "FILE"
    )
    allow_errors: bool = switch("print the rates even if some votes failed")


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(ShownEpisodeOptions, _VoteOptions, JsonOption, CachedRequestOptions):
    """The runs, the judge model, and the output."""

    runs: tuple[Path, ...] = argument(
        "run folder, result file, or folder of result files; every other run is compared with "
        "the first run",
        "RUN",
        required=False,
        default=(),
    )
    judge: ModelName | None = option(
        "judge model, or scripted:SHARE[,first=SHARE][,unsure=SHARE] for a simulated judge model",
        "MODEL",
        read=parse_model_name,
    )
    probe: bool = switch("judge 300 built-in episodes with known labels instead of a run")
    mode: Mode | None = option(
        "how the judge answers: with tool calls or with JSON text (default: fc)"
    )
    prompts: str | None = option(
        "TOML file with prompts (default: configs/prompts/judge.toml)", "FILE"
    )
    seed: int | None = option(
        "seed of samples and scripted judges",
        "S",
        read=index,
    )
    keep: Path | None = option(
        "folder for the votes (default: RUN/judged; for probes, a new folder in runs)", "DIR"
    )
    resume: bool = switch("resume from stored votes (error if no votes exist)")
    output: Path | None = option("write one JSON line per label", "FILE", flags=("--output", "-o"))
    disagreements: Path | None = option(
        "write the labels that differ from the verdict, each with the judge's input", "FILE"
    )


class JudgedRun(NamedTuple):
    """A run with the episodes that can be judged."""

    source: Run
    dataset: Dataset
    profile: Profile
    exhibits: list[JudgedEpisode]
    errors: int
    """Number of chosen episodes that ended in errors."""

    @property
    def keys(self) -> set[Key]:
        """Entry and trial of each episode."""
        return {exhibit.key for exhibit in self.exhibits}


def load_run(options: JudgedEpisodeOptions, path: Path, show: Show) -> JudgedRun:
    """Execute the chosen episodes of a run again.

    Raises DataError if the run does not exist or has none of the chosen episodes.
    """
    source = open_run(path)
    if not source.episodes:
        raise DataError(str(path), "has no finished episodes")
    dataset = dataset_of(source, options.dataset, note)
    profile, limit = rules_of(source, dataset, options)
    entries = dataset_choice.list_entries(dataset, source, options.subset, options.tag)
    if options.category is not None:
        wanted = dataset_choice.parse_categories(options.category, dataset.name)
        entries = [entry for entry in entries if entry.category in wanted]
    chosen = dataset_choice.select_entries(
        entries, options.ids, options.limit, options.sample, options.sample_seed
    )
    if not chosen:
        raise DataError(str(path), "does not contain the selected entries; select other entries")
    places = {entry.id: place for place, entry in enumerate(chosen)}
    keys = [key for key in source.episodes if key[0] in places]
    keys.sort(key=lambda key: (places[key[0]], key[1]))
    found = list(exhibits(replay_episodes(source, keys, dataset, profile, limit), show))
    return JudgedRun(source, dataset, profile, found, len(keys) - len(found))


def check_comparable(runs: Sequence[JudgedRun]) -> None:
    """Check that all runs have the same data and profile, and share some entries.

    Raises DataError if the runs cannot be compared.
    """
    for judged in runs[1:]:
        first, path = runs[0], str(judged.source.path)
        change = describe_data_change(judged.source, first.dataset)
        if change is not None:
            raise DataError(path, f"cannot be compared with {first.source.path}: {change}")
        if judged.profile.name != first.profile.name:
            other = f"{first.source.path} has profile {first.profile.name}"
            message = f"has profile {judged.profile.name}, but {other}"
            raise DataError(path, f"{message}; choose one profile with --profile")
        if not first.keys & judged.keys:
            raise DataError(path, f"has no entries in common with {first.source.path}")
