"""What recorded runs scored, of whatever form they are, without a look at their episodes.

Run folders of ours and files of verdicts say what became of each episode; result files of
BFCL are executed and judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import Any, NamedTuple

from checkers.profile import PROFILES, Profile
from runner.analysis.figure_table import figures_json
from runner.analysis.figures import OwnMachine, RunFigures, Totals, totals_of
from runner.analysis.groups import Rate, classic
from runner.analysis.mended import Mend, judge_of
from runner.analysis.runs import dataset_of
from runner.data import choose
from runner.data.choose import Notify, profile_for
from runner.data.errata import open_errata
from runner.episodes.evaluate import evaluate, run_recorded
from runner.episodes.telling import requiring_told, with_telling
from runner.records import result_file
from runner.records.codec import read
from runner.records.record import EpisodeRecord, Outcome, Telling
from runner.records.run import is_run, open_run
from trajectories.errors import DataError
from trajectories.jsonl import read_objects


class ScoringRules(NamedTuple):
    """How result files are judged, which do not say so themselves."""

    dataset: str | None
    """What the user calls the data that they are of; by default their ids say so."""
    profile: Profile | None
    """None for the one that suits the data."""
    step_limit: int
    """Steps that a turn may take, where the profile limits recorded runs."""
    require_told: bool = False
    """Whether an episode fails in which something was not told that the user asked to hear."""
    gpu_price: float | None = None
    """US dollars per hour that a model's own machine costs, if not what a run kept."""


class RunScores(NamedTuple):
    """What became of a run's episodes, and what it took."""

    name: str
    """The model's, or what the file or folder is called."""
    path: Path
    """Where it is."""
    profile: str
    """The name of that by which it was judged."""
    figures: RunFigures
    errata: str | None = None
    """What the user called the errata by which the data was read; None as published."""

    def to_json(self) -> dict[str, Any]:
        """Return the scores and the figures as a JSON object."""
        figures = self.figures
        rates = classic(figures.rates)
        return {
            "name": self.name,
            "path": str(self.path),
            "profile": self.profile,
            "errata": self.errata,
            "episodes": len(figures.outcomes),
            "errors": figures.errors,
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
    """Return what a run scored.

    Args:
        path: A run folder of ours, a result file or a folder of such, or a file of verdicts.
        rules: How result files are judged.
        notify: Told when data has to be downloaded.
        allow_errors: Whether a score is given however many errors there were.

    Raises:
        DataError: It is none of these, nothing in it was judged, or too much of it is errors.
    """
    found = _opened(path, rules, notify)
    figures = found.figures
    if rules.require_told:
        figures = replace(figures, outcomes=[*map(requiring_told, figures.outcomes)])
        found = found._replace(figures=figures)
    if not figures.rates:
        raise DataError(str(path), "has no episode that was judged")
    if not figures.scored and not allow_errors:
        share = f"{figures.errors} of {len(figures.outcomes)} episodes"
        message = f"{share} ended in an error that is not the model's: see --allow-errors"
        raise DataError(str(path), message)
    return found


def mended_scores(
    published: RunScores, rules: ScoringRules, errata: str, notify: Notify
) -> RunScores | None:
    """Return what a run scores as errata have it; None where the user wants none.

    Raises:
        DataError: The errata cannot be used, or only verdicts were kept of the run.
    """
    path = published.path
    if errata == "none":
        return None
    if _holds_verdicts(path):
        raise DataError(str(path), "holds verdicts only: --errata judges again, and needs the run")
    run = open_run(path)
    dataset = dataset_of(run, rules.dataset, notify)
    readings = open_errata(errata, dataset, notify)
    assert readings is not None
    limit = run.definition.step_limit if run.definition else rules.step_limit
    profile = PROFILES[published.profile]
    judge = judge_of(run, profile, limit)
    mend = Mend(dataset, readings, profile, judge, rules.require_told)
    figures = replace(mend.figures(published.figures), totals=None)
    name = f"mended by {readings.name}: {published.name}"
    return published._replace(name=name, figures=figures, errata=readings.name)


def _holds_verdicts(path: Path) -> bool:
    return path.is_file() and "valid" in next(read_objects(path), ("", {}))[1]


def _opened(path: Path, rules: ScoringRules, notify: Notify) -> RunScores:
    if is_run(path):
        return _kept(path, rules)
    if _holds_verdicts(path):
        return _from_verdicts(path)
    return _judged(path, rules, notify)


def _kept(path: Path, rules: ScoringRules) -> RunScores:
    run = open_run(path)
    assert run.definition is not None
    records = list(run.records)
    machine = OwnMachine.of(run.lives, len(records), rules.gpu_price)
    totals = replace(totals_of(records), machine=machine)
    return RunScores(run.name, path, run.definition.profile, RunFigures(records, totals=totals))


def _from_verdicts(path: Path) -> RunScores:
    lines = result_file.read_verdicts(path, ())
    records = [_record(path, *key, line) for key, line in lines.items()]
    profiles = {str(line.get("profile", "unknown")) for line in lines.values()}
    return RunScores(_name(path), path, " and ".join(sorted(profiles)), RunFigures(records))


def _record(path: Path, id: str, trial: int, line: Mapping[str, Any]) -> EpisodeRecord:
    category = line.get("category", result_file.category_of(id))
    if not isinstance(category, str):
        raise DataError(str(path), f"does not say of which category {id} is: judge it anew")
    outcomes: dict[bool | None, Outcome] = {True: "passed", False: "failed", None: "error"}
    record = EpisodeRecord(id, trial, category, outcomes[line["valid"]], None, None)
    told = line.get("telling")
    return record if told is None else record._replace(telling=read(Telling, told, str(path)))


def _judged(path: Path, rules: ScoringRules, notify: Notify) -> RunScores:
    recorded = open_run(path)
    dataset = dataset_of(recorded, rules.dataset, notify)
    profile = rules.profile or profile_for(dataset)
    entries, limit = recorded.entries(), rules.step_limit
    run = partial(run_recorded, entries=entries, profile=profile, step_limit=limit)
    trajectories = choose.trajectories(dataset, recorded)
    choose.require_languages(trajectories)
    judged = evaluate(dataset, trajectories, profile, run)
    told = [with_telling(one, dataset.trajectories[one.id], entries[one.id]) for one in judged]
    figures = RunFigures(told, totals=_totals_of_files(path))
    return RunScores(_name(path), path, profile.name, figures)


def _totals_of_files(path: Path) -> Totals | None:
    """Return what the requests of result files used, None where they do not say."""
    lines = [line for file in result_file.find([path]) for _, line in read_objects(file)]
    latencies = [seconds for line in lines for seconds in _numbers(line.get("latency"))]
    if not latencies:
        return None
    prompt, completion = (
        int(sum(tokens for line in lines for tokens in _numbers(line.get(name))))
        for name in ("input_token_count", "output_token_count")
    )
    return Totals(len(latencies), prompt, completion, latencies, None)


_MOST = 1e15
"""Tokens or seconds of a step; there is no run that has more."""


def _numbers(value: object) -> Iterator[float]:
    """Yield the numbers in a figure of a result line: one, or lists of turns and steps."""
    if isinstance(value, list):
        for member in value:
            yield from _numbers(member)
    elif isinstance(value, (int, float)) and -_MOST <= value <= _MOST:
        yield float(value)


def _name(path: Path) -> str:
    return Path(realpath(path)).name.removesuffix(".jsonl").removesuffix(".json")


def _rate_json(rate: Rate | None) -> dict[str, Any]:
    if rate is None:
        return {"score": None, "interval": None, "entries": 0}
    return {"score": rate.value, "interval": rate.interval, "entries": rate.entries}
