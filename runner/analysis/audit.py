"""Recorded runs of several models, executed and judged for ``trajectories.audit``; no printing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from checkers.calls.errors import CannotJudge
from checkers.profile import Profile
from checkers.statistics import Score, score
from checkers.verdict import TurnOutcome
from runner.episodes.evaluate import judge_recorded
from runner.records.record import Recorded
from runner.records.run import Run, open_run
from trajectories.audit import AuditedRun
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import Prepared, prepare


class Executed(NamedTuple):
    """What recorded runs came to."""

    truths: Mapping[str, Sequence[TurnOutcome]]
    """Entry id to what its ground truth leads to."""
    runs: Mapping[str, Mapping[str, AuditedRun]]
    """Model to entry id to its run."""

    def scores(self) -> dict[str, Score]:
        """Return each model's score."""
        return {
            model: score([run.verdict for run in entries.values()])
            for model, entries in self.runs.items()
        }


def read_runs(paths: Iterable[Path]) -> dict[str, Run]:
    """Read the runs of several models, each a result file or a folder of them.

    Raises:
        DataError: A path holds no run, or two have the same name.
    """
    models: dict[str, Run] = {}
    for path, name in _named([path.resolve() for path in paths]):
        if name in models:
            raise DataError(str(path), f"a run called {name} is there already; rename one of them")
        models[name] = open_run(path)
    return models


def _named(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each path with its own name, preceded by the folder's where names are not enough."""
    names = Counter([path.name for path in paths])
    for path in paths:
        name = path.name.removesuffix(".json")
        yield path, name if names[path.name] == 1 else f"{path.parent.name}/{name}"


def execute_runs(dataset: Dataset, models: Mapping[str, Run], profile: Profile) -> Executed:
    """Execute the runs of several models again and judge them.

    Args:
        dataset: What they are runs of.
        models: Model to its recorded entries.
        profile: How steps are decoded, executed and judged.
    """
    truths: dict[str, Sequence[TurnOutcome]] = {}
    runs: dict[str, dict[str, AuditedRun]] = {model: {} for model in models}
    recorded_of = {model: run.entries() for model, run in models.items()}
    for id in dict.fromkeys(id for entries in recorded_of.values() for id in entries):
        try:
            prepared = prepare(dataset, dataset.trajectories[id], profile)
        except CannotJudge:
            continue
        truths[id] = prepared.truth
        for model, entries in recorded_of.items():
            if id in entries:
                # Without a verdict there is nothing to be said of the entry.
                with suppress(CannotJudge):
                    runs[model][id] = _run(prepared, entries[id], profile)
    return Executed(truths, runs)


def _run(prepared: Prepared, entry: Recorded, profile: Profile) -> AuditedRun:
    found = judge_recorded(prepared, entry.turns, entry.mode, profile)
    return AuditedRun(found.verdict, tuple(found.outcomes))
