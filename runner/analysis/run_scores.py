"""Scores of recorded runs: run folders, verdict files and result files.

The outcomes are in run folders and verdict files. The calls in BFCL's result files are executed and
judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import Any, NamedTuple

from checkers.profile import PROFILES, Profile
from envs.errors import DataError
from runner.analysis.bfcl_table import GroupScore, classic
from runner.analysis.corrected_judging import CorrectedJudging, judge_of
from runner.analysis.figure_table import figures_json
from runner.analysis.figures import (
    GpuServerUsage,
    RedundancyFigures,
    RunFigures,
    UsageTotals,
    totals_of,
)
from runner.analysis.replayed_runs import dataset_of, replay_run
from runner.data import dataset_choice
from runner.data.dataset_choice import Notify, choose_profile
from runner.data.errata import open_errata
from runner.episodes.info_verdict import add_reported_info, fail_without_info
from runner.episodes.judging import evaluate, run_recorded
from runner.records import bfcl_result_file
from runner.records.episode_record import EpisodeRecord, InfoReport, Outcome, RunProgress
from runner.records.json_codec import read
from runner.records.recorded_run import is_run, open_run
from trajectories.jsonl import read_objects


class ScoringRules(NamedTuple):
    """Settings for judging result files."""

    dataset: str | None
    profile: Profile | None
    step_limit: int
    require_info: bool = False
    gpu_price: float | None = None
    """Hourly price of a GPU server in US dollars; replaces the recorded price."""


class RunScores(NamedTuple):
    """Scores and metrics of a run."""

    name: str
    path: Path
    profile: str
    figures: RunFigures
    errata: str | None = None

    def with_tag(self, tag: str) -> RunScores:
        """Return the scores of episodes with a tag. Raises DataError if no episode has the tag."""
        outcomes = [each for each in self.figures.outcomes if tag in each.tags]
        if not outcomes:
            raise DataError("--tag", f"{self.path} has no episode with the tag {tag!r:.80}")
        return self._replace(figures=replace(self.figures, outcomes=outcomes))

    def to_json(self) -> dict[str, Any]:
        """Return the scores and the metrics as a JSON object."""
        figures = self.figures
        rates = classic(figures.rates)
        return {
            "name": self.name,
            "path": str(self.path),
            "profile": self.profile,
            "errata": self.errata,
            "episodes": len(figures.outcomes),
            "errors": figures.errors,
            **score_json(figures),
            "table": [
                {"path": row.path, **_rate_json(row.rate), "field": row.field}
                for row in figures.rows
            ],
            "classic": [{"name": name, **_rate_json(rate)} for name, rate in rates.items()],
            **figures_json(figures),
        }


def open_scores(
    path: Path, rules: ScoringRules, notify: Notify, *, allow_errors: bool
) -> RunScores:
    """Return the scores of a run.

    Args:
        path: A run folder, a result file, a folder of result files, or a file of verdicts.
        rules: Settings for judging result files.
        notify: Called when data must be downloaded.
        allow_errors: Whether to give a score despite many errors.

    Raises:
        DataError: The path is not such a file or folder, has no judged episode, or has too many
            errors.
    """
    if is_run(path):
        found = _kept(path, rules)
    else:
        found = _from_verdicts(path) if _holds_verdicts(path) else _judged(path, rules, notify)
    figures = replace(found.figures, allow_errors=allow_errors)
    if rules.require_info:
        figures = replace(figures, outcomes=[*map(fail_without_info, figures.outcomes)])
    found = found._replace(figures=figures)
    if not figures.rates:
        raise DataError(str(path), "has no judged episode")
    if not figures.scored and not allow_errors:
        share = f"{figures.errors} of {len(figures.outcomes)} episodes"
        raise DataError(str(path), f"{share} ended in errors: see --allow-errors")
    return found


def corrected_scores(
    published: RunScores, rules: ScoringRules, errata: str, notify: Notify
) -> RunScores | None:
    """Return the scores of a run with errata; None if ``errata`` is ``none``.

    Raises DataError if the errata cannot be used, or the path contains verdicts but no episodes.
    """
    path = published.path
    if errata == "none":
        return None
    if _holds_verdicts(path):
        raise DataError(str(path), "contains only verdicts; --errata needs the run folder")
    run = open_run(path)
    dataset = dataset_of(run, rules.dataset, notify)
    readings = open_errata(errata, dataset, notify)
    assert readings is not None
    limit = run.definition.step_limit if run.definition else rules.step_limit
    profile = PROFILES[published.profile]
    judge = judge_of(run, profile, limit)
    corrected = CorrectedJudging(dataset, readings, profile, judge, rules.require_info)
    figures = replace(corrected.figures(published.figures), totals=None)
    name = f"corrected by {readings.name}: {published.name}"
    return published._replace(name=name, figures=figures, errata=readings.name)


def _holds_verdicts(path: Path) -> bool:
    # Files of other tools are not always JSON lines.
    with suppress(DataError):
        return path.is_file() and "valid" in next(read_objects(path), ("", {}))[1]
    return False


def _kept(path: Path, rules: ScoringRules) -> RunScores:
    run = open_run(path)
    assert run.definition is not None
    records: list[EpisodeRecord] = []
    calls: list[RedundancyFigures] = []

    def scan() -> Iterator[EpisodeRecord]:
        for record in run.records:
            calls.append(RedundancyFigures.of(record))
            records.append(record.outline)
            yield record

    totals = totals_of(scan())
    machine = GpuServerUsage.of(run.lives, [r.id for r in records], rules.gpu_price)
    totals = totals._replace(machine=machine)
    redundancy = RedundancyFigures.sum(calls)
    figures = RunFigures(records, totals=totals, progress=run.progress, calls=redundancy)
    return RunScores(run.name, path, run.definition.profile, figures)


def _from_verdicts(path: Path) -> RunScores:
    lines = bfcl_result_file.read_verdicts(path, ())
    records = [_record(path, *key, line) for key, line in lines.items()]
    profiles = {str(line.get("profile", "unknown")) for line in lines.values()}
    return RunScores(_name(path), path, " and ".join(sorted(profiles)), RunFigures(records))


def _record(path: Path, id: str, trial: int, line: Mapping[str, Any]) -> EpisodeRecord:
    category = line.get("category", bfcl_result_file.category_of(id))
    if not isinstance(category, str):
        raise DataError(str(path), f"the line of {id} has no category; judge the run again")
    outcomes: dict[bool | None, Outcome] = {True: "passed", False: "failed", None: "error"}
    base = line.get("base")
    if not isinstance(base, str | None):
        raise DataError(str(path), f'"base" of {id} must be a string, but is {base!r:.60}')
    record = EpisodeRecord(id, trial, category, outcomes[line["valid"]], None, None, base=base)
    tags = line.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise DataError(str(path), f'"tags" of {id} must be a list of strings')
    record, told = record._replace(tags=tuple(tags)), line.get("telling")
    return record if told is None else record._replace(telling=read(InfoReport, told, str(path)))


def _judged(path: Path, rules: ScoringRules, notify: Notify) -> RunScores:
    recorded = open_run(path)
    dataset = dataset_of(recorded, rules.dataset, notify)
    profile = rules.profile or choose_profile(dataset)
    if recorded.dataset is not None:
        # Runs of other tools may have several trials.
        replayed = replay_run(recorded, dataset, profile, rules.step_limit)
        figures = RunFigures([each.judged for each in replayed.episodes])
        return RunScores(_name(path), path, profile.name, figures)
    entries, limit = recorded.entries(), rules.step_limit
    run = partial(run_recorded, entries=entries, profile=profile, step_limit=limit)
    trajectories = dataset_choice.list_entries(dataset, recorded)
    dataset_choice.require_languages(trajectories)
    judged = evaluate(dataset, trajectories, profile, run)
    told = [add_reported_info(one, dataset.trajectories[one.id], entries[one.id]) for one in judged]
    figures = RunFigures(told, totals=_totals_of_files(path))
    return RunScores(_name(path), path, profile.name, figures)


def _totals_of_files(path: Path) -> UsageTotals | None:
    lines = [
        line
        for file in bfcl_result_file.find_result_files([path])
        for _, line in read_objects(file)
    ]
    latencies = [seconds for line in lines for seconds in _numbers(line.get("latency"))]
    if not latencies:
        return None
    prompt, completion = (
        int(sum(tokens for line in lines for tokens in _numbers(line.get(name))))
        for name in ("input_token_count", "output_token_count")
    )
    return UsageTotals(len(latencies), prompt, completion, latencies, None)


_MAX_COUNT = 1e15


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, list):
        for member in value:
            yield from _numbers(member)
    elif isinstance(value, (int, float)) and -_MAX_COUNT <= value <= _MAX_COUNT:
        yield float(value)


def _name(path: Path) -> str:
    return Path(realpath(path)).name.removesuffix(".jsonl").removesuffix(".json")


def score_json(figures: RunFigures) -> dict[str, Any]:
    """Return score, interval, entries and progress of a run as JSON fields."""
    progress = figures.progress or RunProgress(len(figures.outcomes), None)
    return {**_rate_json(figures.overall), **progress.to_json()}


def _rate_json(rate: GroupScore | None) -> dict[str, Any]:
    if rate is None:
        return {"score": None, "interval": None, "entries": 0}
    return {"score": rate.value, "interval": rate.interval, "entries": rate.entries}
