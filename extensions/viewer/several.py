"""Several runs of the same entries: each against the first, and where they are not alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from checkers.statistics import holm
from checkers.why.diagnosis import Cause, Diagnosis
from runner.analysis.comparison import RunComparison, causes, most_frequent
from runner.analysis.writing import Json
from trajectories.schema import Trajectory

MOST = 10
"""How many runs there is room for."""


class Flip(NamedTuple):
    """An entry that does not pass as often in all runs."""

    trajectory: Trajectory
    trials: Sequence[Sequence[Diagnosis | None]]
    """By run; of each trial why it failed, None where it passed."""


def several_json(comparisons: Sequence[RunComparison]) -> dict[str, Any]:
    """Return runs beside each other as a JSON object, from what compares all but one with it."""
    first, data = comparisons[0], comparisons[0].dataset
    corrected = holm([each.overall.p_value for each in comparisons])
    runs = [first.runs[0], *(each.runs[1] for each in comparisons)]
    return {
        "runs": [{"name": run.name, "path": str(run.path)} for run in runs],
        "dataset": {"name": data.name, "version": data.version, "sha256": data.sha256},
        "profile": first.profile.name,
        "entries": first.overall.entries,
        "left_out": [
            first.left_out.only_first,
            *(each.left_out.only_second for each in comparisons),
        ],
        "unjudged": first.left_out.errors,
        "scores": [first.overall.first, *(each.overall.second for each in comparisons)],
        "against": [
            {
                "difference": each.overall.difference,
                "interval": list(each.overall.interval),
                "worse": each.overall.worse,
                "better": each.overall.better,
                "p_value": each.overall.p_value,
                "corrected": p,
            }
            for each, p in zip(comparisons, corrected, strict=True)
        ],
        "categories": {
            category.value: [
                found.first,
                *(each.categories[category].second for each in comparisons),
            ]
            for category, found in first.categories.items()
        },
        "causes": [*_causes(comparisons)],
        "flips": [*map(_flip_json, flips(comparisons))],
    }


def flips(comparisons: Sequence[RunComparison]) -> Iterator[Flip]:
    """Yield the entries that do not pass as often in all runs, in the data set's order."""
    for entries in zip(*(each.entries for each in comparisons), strict=True):
        trials = [entries[0].first, *(each.second for each in entries)]
        if len({_share(each) for each in trials}) > 1:
            yield Flip(entries[0].trajectory, trials)


def _share(trials: Sequence[Diagnosis | None]) -> float:
    return list(trials).count(None) / len(trials)


def _causes(comparisons: Sequence[RunComparison]) -> Iterator[Json]:
    counts = [
        causes(trial for entry in comparisons[0].entries for trial in entry.first),
        *(causes(t for entry in each.entries for t in entry.second) for each in comparisons),
    ]
    for cause in Cause:
        found = [count[cause] for count in counts]
        if any(found):
            yield {"cause": cause.value, "runs": found}


def _flip_json(flip: Flip) -> Json:
    return {
        "id": flip.trajectory.id,
        "category": flip.trajectory.category.value,
        "runs": [_trials_json(each) for each in flip.trials],
    }


def _trials_json(trials: Sequence[Diagnosis | None]) -> Json:
    why = most_frequent(trials)
    return {
        "passed": list(trials).count(None),
        "trials": len(trials),
        "diagnosis": why and why.to_json(),
    }
