"""Conversion of a run to parameters, metrics, tags and a report for experiment trackers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from runner.analysis.figure_lines import progress_text
from runner.analysis.figure_table import rows_of
from runner.analysis.figures import ActCounts, GpuServerUsage, RunFigures, totals_of
from runner.analysis.replayed_runs import (
    ReplayedEpisode,
    dataset_of,
    replay_run,
    resolve_rules,
)
from runner.analysis.report.run_report import report, shorten_steps
from runner.data.dataset_choice import Notify
from runner.records.annotations import NOTHING
from runner.records.episode_record import EpisodeRecord, Key
from runner.records.recorded_run import Run, open_run
from trajectories.schema import Trajectory


class LoggedRun(NamedTuple):
    """Data of a run for a tracker: parameters, metrics, tags and a report."""

    name: str
    """Name of the run folder."""
    parameters: Mapping[str, Any]
    """Settings by name; keys of nested settings are joined by dots."""
    metrics: Mapping[str, float]
    """Maps names such as ``score/all`` to scores and other metrics."""
    tags: tuple[str, ...]
    report: str
    """The report as an HTML page."""


def load_logged_run(path: Path, dataset: str | None, notify: Notify) -> LoggedRun:
    """Load a run for an experiment tracker; for the report, execute its calls again.

    Raises DataError if the run cannot be read, or its data set is missing.
    """
    source = open_run(path, hold=False)
    data = dataset_of(source, dataset, notify)
    profile, limit = resolve_rules(source, data)
    replayed = replay_run(source, data, profile, limit)
    episodes = _CountedEpisodes(replayed.episodes)
    page = "".join(report([replayed._replace(episodes=episodes)]))
    definition = source.definition
    settings = definition.to_json() if definition else {"model": source.name}
    settings |= {"profile": profile.name, "dataset": data.name, "dataset_sha256": data.sha256}
    tags = source.annotations.get(None, NOTHING).tags
    figures = _figures(source, episodes)
    if figures.is_unfinished:
        notify(f"warning: the logged score is {progress_text(source.progress)} ({source.path})")
    metrics = dict(_metrics(figures))
    return LoggedRun(source.path.name, dict(_flat(settings)), metrics, tags, page)


class _CountedEpisodes(Iterable[ReplayedEpisode]):
    """Episodes that are executed on each use; only their entries and short records are kept."""

    def __init__(self, episodes: Iterable[ReplayedEpisode]) -> None:
        self.entries: dict[str, Trajectory] = {}
        self.records: dict[Key, EpisodeRecord] = {}
        self._episodes = episodes

    def __iter__(self) -> Iterator[ReplayedEpisode]:
        for each in self._episodes:
            self.entries[each.trajectory.id] = each.trajectory
            self.records[each.recorded.record.key] = shorten_steps(each)
            yield each


def _figures(run: Run, episodes: _CountedEpisodes) -> RunFigures:
    records, planned = [*episodes.records.values()], [*episodes.entries.values()]
    totals = totals_of(records)._replace(machine=GpuServerUsage.of(run.lives, episodes.entries))
    usage = totals if totals.requests else None
    return RunFigures(records, planned, totals=usage, progress=run.progress)


def _metrics(figures: RunFigures) -> Iterator[tuple[str, float]]:
    # No name is the beginning of another: MLflow's folders would not allow it.
    scores = {score.name: score for score in figures.scores}
    # A run of one category has no row for all categories.
    if figures.scores:
        scores["all"] = figures.scores[-1]
    for group, score in scores.items():
        low, high = score.interval or (None, None)
        found = {"score": score.rate, "score_low": low, "score_high": high}
        found |= {"passed": score.passed, "failed": score.failed, "errors": score.errors}
        yield from (
            (f"{name}/{group}", value) for name, value in found.items() if value is not None
        )
    progress = figures.progress
    if progress is not None and progress.planned is not None:
        yield from (("episodes/done", progress.done), ("episodes/planned", progress.planned))
    for row in rows_of([figures]):
        value = row.value(figures)
        if isinstance(value, ActCounts):
            yield row.name, value.acts
            yield f"{row.name}_share", value.share
        elif value is not None:
            yield row.name, value


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, member in value.items():
        if isinstance(member, Mapping):
            yield from _flat(member, f"{before}{name}.")
        elif member is not None:
            yield f"{before}{name}", member
