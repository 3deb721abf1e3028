"""Command ``turnwise episodes``: lists the episodes of a run with their causes of failure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkers.causes.diagnosis import Cause, Diagnosis
from envs.errors import DataError, suggest_name
from runner.analysis.replayed_runs import (
    ReplayedEpisode,
    dataset_of,
    replay_episodes,
    sort_episodes,
)
from runner.commands import DONE
from runner.commands.common_options import (
    DatasetOption,
    JsonOption,
    JudgingOptions,
    RequiredInfoOption,
    note,
)
from runner.commands.episode_options import rules_of
from runner.commands.options import argument, option, switch
from runner.data import dataset_choice
from runner.records.annotations import NOTHING, Annotations, TagsAndNote
from runner.records.recorded_run import open_run
from runner.show.terminal import cut_to_terminal, say, say_json
from trajectories.schema import Category

EXAMPLE = "turnwise episodes runs/a --failed"
NOTES = "causes of failure (rules: docs/causes.md):\n" + "".join(
    f"  {cause}\n      {cause.meaning}\n" for cause in Cause
)


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, JsonOption, JudgingOptions, RequiredInfoOption):
    """Options for the episodes to list."""

    run: Path = argument("run folder, result file, or folder of result files", "RUN")
    failed: bool = switch("only failed episodes")
    cause: str | None = option("only episodes with this cause of failure", "CAUSE")
    tag: str | None = option("only episodes with this tag", "TAG")
    category: str | None = option("only these categories or suites, separated by commas", "NAMES")


def run(options: Options) -> int:
    """Execute a run again and print a line per episode."""
    if options.cause is not None and options.cause not in list(Cause):
        near = suggest_name(options.cause, Cause) or "; turnwise episodes --help lists all causes"
        raise DataError("--cause", f"unknown cause {options.cause!r:.60}{near}")
    source = open_run(options.run)
    dataset = dataset_of(source, options.dataset, note)
    profile, limit = rules_of(source, dataset, options)
    named = options.category and dataset_choice.parse_categories(options.category, options.dataset)
    wanted = list(Category) if named is None else named
    keys = sort_episodes(source, dataset)
    again = replay_episodes(
        source, keys, dataset, profile, limit, require_info=options.require_info
    )
    notes = source.annotations
    episodes = (
        each
        for each in again
        if _is_wanted(each, options, wanted)
        and (options.tag is None or options.tag in _tags(each, notes))
    )
    if options.json:
        say_json({"episodes": [_json(each, notes) for each in episodes]})
    else:
        lines = [*_lines(episodes, notes)]
        for line in lines:
            say(cut_to_terminal(line))
        if not lines:
            note("no episode matches the options")
    return DONE


def _annotation(episode: ReplayedEpisode, notes: Annotations) -> TagsAndNote:
    return notes.get(episode.recorded.record.key, NOTHING)


def _tags(episode: ReplayedEpisode, notes: Annotations) -> list[str]:
    return [*episode.trajectory.tags, *_annotation(episode, notes).tags]


def _cause(episode: ReplayedEpisode) -> Diagnosis | None:
    return episode.examined.diagnosis if episode.examined else None


def _is_wanted(episode: ReplayedEpisode, options: Options, categories: Iterable[str]) -> bool:
    found = _cause(episode)
    return (
        episode.trajectory.category in categories
        and (not options.failed or episode.judged.outcome == "failed")
        and (options.cause is None or (found is not None and found.cause == options.cause))
    )


def _lines(episodes: Iterable[ReplayedEpisode], notes: Annotations) -> Iterable[str]:
    rows = []
    for episode in episodes:
        tags = "".join(f"[{tag}] " for tag in _tags(episode, notes))
        rows.append((_name(episode), f"{tags}{_describe_outcome(episode)}"))
    longest = max((len(name) for name, _ in rows), default=0)
    for name, end in rows:
        yield f"{name:{longest}}  {end}"


def _name(episode: ReplayedEpisode) -> str:
    trial = episode.recorded.trial
    return f"{episode.trajectory.id} trial {trial}" if trial else episode.trajectory.id


def _describe_outcome(episode: ReplayedEpisode) -> str:
    judged, found = episode.judged, _cause(episode)
    if judged.outcome == "error":
        return f"error: {judged.error}"
    if found is None:
        return str(judged.outcome)
    is_known = episode.examined and episode.examined.data_error
    known = "(known error of the data) " if is_known else ""
    return f"{known}{judged.outcome}: {found.sentence}"


def _difference(episode: ReplayedEpisode) -> str | None:
    failure = episode.judged.verdict and episode.judged.verdict.failure
    return str(failure.differences[0]) if failure and failure.differences else None


def _json(episode: ReplayedEpisode, notes: Annotations) -> dict[str, Any]:
    found = _cause(episode)
    return {
        "id": episode.trajectory.id,
        "trial": episode.recorded.trial,
        "category": episode.trajectory.category,
        "outcome": episode.judged.outcome,
        "cause": found and found.cause,
        "sub_reason": found and found.sub_reason,
        "turn": found and found.turn,
        "step": found and found.step,
        "call": found and found.call,
        "detail": episode.judged.error or (found and found.detail),
        "sentence": found and found.sentence,
        "data_error": episode.examined and episode.examined.data_error,
        "difference": _difference(episode),
        **_annotation(episode, notes).to_json(),
    }
