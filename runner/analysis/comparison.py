"""Two runs side by side, over the episodes that both have: who does better, where, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from checkers.profile import Profile
from checkers.statistics import Attempts, Pair, RunDifference, cluster_test, compare
from checkers.why.diagnosis import Cause, Diagnosis
from runner.analysis.figure_table import figures_json
from runner.analysis.figures import RunFigures
from runner.analysis.runs import Viewed, as_run, executed_again
from runner.records.record import EpisodeRecord, Key
from runner.records.run import Run
from trajectories.dataset import Dataset
from trajectories.errata.readings import AS_PUBLISHED, Readings
from trajectories.errors import DataError
from trajectories.schema import Category, Trajectory


class Compared(NamedTuple):
    """One entry in two runs."""

    trajectory: Trajectory
    first: Sequence[Diagnosis | None]
    """Of each trial in the first run why it failed; None where it passed."""
    second: Sequence[Diagnosis | None]
    """Those of the second run."""

    @property
    def pair(self) -> Pair:
        """How often it passed in either."""
        return Pair(_attempts(self.trajectory, self.first), _attempts(self.trajectory, self.second))

    @property
    def difference(self) -> float:
        """The second run's pass rate less the first's."""
        return self.pair.difference

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Why it failed, where it did so more often; the most frequent cause of several trials."""
        return most_frequent(self.second if self.difference < 0 else self.first)


class LeftOut(NamedTuple):
    """Entries of the runs that are not compared."""

    only_first: int
    """Those that the second run does not have."""
    only_second: int
    """Those that the first run does not have."""
    errors: int
    """Those of both that have no trial in one of the runs that could be judged."""


class CauseCount(NamedTuple):
    """How many failed episodes have a cause, and whether the runs differ in that."""

    cause: Cause
    first: int
    second: int
    p_value: float


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Two runs over the same entries."""

    runs: tuple[Run, Run]
    dataset: Dataset
    profile: Profile
    entries: Sequence[Compared]
    """In the data set's order."""
    left_out: LeftOut
    overall: RunDifference
    categories: Mapping[Category, RunDifference]
    causes: Sequence[CauseCount]
    """Those in which the runs differ most first."""
    readings: Readings
    """By what the entries were judged."""
    figures: Sequence[RunFigures]
    """Those of either run, over these entries."""
    mended: RunComparison | None = None
    """The same two with errata, beside the data as published; None where there are none."""

    @property
    def trials(self) -> tuple[int, int]:
        """Most trials of an entry, in either run."""
        return max(len(e.first) for e in self.entries), max(len(e.second) for e in self.entries)

    @property
    def lost(self) -> list[Compared]:
        """The entries that pass less often in the second run, those that lose most first."""
        worse = [entry for entry in self.entries if entry.difference < 0]
        return sorted(worse, key=lambda entry: entry.difference)

    @property
    def gained(self) -> list[Compared]:
        """The entries that pass more often in the second run, those that gain most first."""
        better = [entry for entry in self.entries if entry.difference > 0]
        return sorted(better, key=lambda entry: -entry.difference)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        data = self.dataset
        sides = [figures_json(each, beside=True) for each in self.figures]
        return {
            "runs": [{"name": run.name, "path": str(run.path)} for run in self.runs],
            "dataset": {"name": data.name, "version": data.version, "sha256": data.sha256},
            "profile": self.profile.name,
            "trials": list(self.trials),
            "left_out": self.left_out._asdict(),
            **{key: [side[key] for side in sides] for key in sides[0]},
            "overall": _difference_json(self.overall),
            "categories": {c.value: _difference_json(d) for c, d in self.categories.items()},
            "causes": [{**count._asdict(), "cause": count.cause.value} for count in self.causes],
            "lost": [_entry_json(entry) for entry in self.lost],
            "gained": [_entry_json(entry) for entry in self.gained],
            "errata": None if self.readings is AS_PUBLISHED else self.readings.name,
            "mended": self.mended and self.mended.to_json(),
        }


def compare_runs(
    runs: tuple[Run, Run],
    dataset: Dataset,
    profile: Profile,
    step_limits: tuple[int, int],
    readings: Readings = AS_PUBLISHED,
    *,
    require_told: bool = False,
) -> RunComparison:
    """Execute what two runs have in common once more, and compare it as ``compare_each`` does."""
    (found,) = compare_each(
        runs, dataset, profile, step_limits, readings, require_told=require_told
    )
    return found


def compare_each(
    runs: Sequence[Run],
    dataset: Dataset,
    profile: Profile,
    step_limits: Sequence[int],
    readings: Readings = AS_PUBLISHED,
    *,
    require_told: bool = False,
) -> list[RunComparison]:
    """Compare each run but the first with that, over the entries that all have.

    Args:
        runs: Two at least; what they have in common is executed once more.
        dataset: What all are of.
        profile: How all are executed and judged.
        step_limits: Steps that a turn of each may take, where the profile limits recorded runs.
        readings: By what the entries are judged.
        require_told: Whether an episode fails in which something asked was not told.

    Raises:
        DataError: The data set lacks an entry, or nothing that all have could be judged.
    """
    ids = [set(run.ids) for run in runs]
    shared = set.intersection(*ids)
    common = _common(shared, runs[0], dataset, readings)
    again = partial(executed_again, profile=profile, readings=readings, require_told=require_told)
    trials = [
        _trials(again(run, _keys(run, common), dataset=as_run(run, dataset), step_limit=limit))
        for run, limit in zip(runs, step_limits, strict=True)
    ]
    judged = [id for id in common if all(of.get(id) for of in trials)]
    if not judged:
        others = " and ".join(str(run.path) for run in runs[1:])
        message = f"has no episode that can be compared with one of {runs[0].path}"
        raise DataError(others, message)
    left_out = [
        LeftOut(len(ids[0] - shared), len(theirs - shared), len(common) - len(judged))
        for theirs in ids[1:]
    ]
    sides = [_compared([common[id] for id in judged], trials[0], of) for of in trials[1:]]
    figures = [RunFigures([one.judged for id in judged for one in of[id]]) for of in trials]
    return [
        RunComparison(
            runs=(runs[0], run),
            dataset=dataset,
            profile=profile,
            entries=compared,
            left_out=left,
            overall=compare([entry.pair for entry in compared]),
            categories=_by_category(compared),
            causes=_by_cause(compared),
            readings=readings,
            figures=(figures[0], theirs),
        )
        for run, compared, left, theirs in zip(runs[1:], sides, left_out, figures[1:], strict=True)
    ]


def _compared(entries: Sequence[Trajectory], first: _Trials, second: _Trials) -> list[Compared]:
    return [
        Compared(each, *([trial.diagnosis for trial in of[each.id]] for of in (first, second)))
        for each in entries
    ]


def most_frequent(trials: Sequence[Diagnosis | None]) -> Diagnosis | None:
    """Return why trials failed, the most frequent cause of several; None where all passed."""
    often = causes(trials)
    return max(filter(None, trials), key=lambda diagnosis: often[diagnosis.cause], default=None)


def causes(trials: Iterable[Diagnosis | None]) -> Counter[Cause]:
    """Count why trials failed."""
    return Counter(diagnosis.cause for diagnosis in trials if diagnosis)


def _common(ids: Set[str], run: Run, dataset: Dataset, readings: Readings) -> dict[str, Trajectory]:
    """Return those entries of a run that are not withdrawn, in the data set's order."""
    for id in sorted(ids - dataset.trajectories.keys()):
        raise DataError(str(run.path), f"{id!r} is not in {dataset.name}")
    return {
        id: readings.of(trajectory)[0]
        for id, trajectory in dataset.trajectories.items()
        if id in ids and readings.of(trajectory)
    }


class _Trial(NamedTuple):
    diagnosis: Diagnosis | None
    judged: EpisodeRecord


_Trials = Mapping[str, Sequence[_Trial]]
"""The trials of a run by entry."""


def _keys(run: Run, wanted: Container[str]) -> list[Key]:
    """Return the trials of some entries, but for those that ended in an error of the harness."""
    return [
        recorded.record.key
        for recorded in run.episodes.values()
        if recorded.id in wanted and recorded.record.outcome != "error"
    ]


def _trials(episodes: Iterable[Viewed]) -> dict[str, list[_Trial]]:
    """Return the trials by entry, of entries whose trials could all be judged."""
    trials: dict[str, list[_Trial]] = {}
    broken = set()
    for _, recorded, judged, examined in episodes:
        if examined is None:
            broken.add(recorded.id)
        else:
            judged = judged._replace(messages=(), steps=(), result=None)  # which take memory
            trial = _Trial(examined.diagnosis, judged)
            trials.setdefault(recorded.id, []).append(trial)
    return {id: found for id, found in trials.items() if id not in broken}


def _by_category(entries: Sequence[Compared]) -> dict[Category, RunDifference]:
    pairs: dict[Category, list[Pair]] = {}
    for entry in entries:
        pairs.setdefault(entry.trajectory.category, []).append(entry.pair)
    return {category: compare(pairs[category]) for category in Category if category in pairs}


def _by_cause(entries: Sequence[Compared]) -> list[CauseCount]:
    first = causes(trial for entry in entries for trial in entry.first)
    second = causes(trial for entry in entries for trial in entry.second)
    counts = [
        CauseCount(cause, first[cause], second[cause], cluster_test(_with_cause(entries, cause)))
        for cause in Cause
        if cause in first or cause in second
    ]
    return sorted(counts, key=lambda count: (count.p_value, -count.first - count.second))


def _with_cause(entries: Iterable[Compared], cause: Cause) -> list[Pair]:
    """Return how often each entry failed for a cause, in place of how often it passed."""
    return [
        Pair(
            *(
                Attempts(entry.trajectory.base, len(trials), causes(trials)[cause])
                for trials in (entry.first, entry.second)
            )
        )
        for entry in entries
    ]


def _attempts(trajectory: Trajectory, trials: Sequence[Diagnosis | None]) -> Attempts:
    return Attempts(trajectory.base, len(trials), list(trials).count(None))


def _difference_json(difference: RunDifference) -> dict[str, Any]:
    return {
        **difference._asdict(),
        "interval": list(difference.interval),
        "difference": difference.difference,
        "is_noise": difference.is_noise,
    }


def _entry_json(entry: Compared) -> dict[str, Any]:
    first, second = entry.pair
    return {
        "id": entry.trajectory.id,
        "category": entry.trajectory.category.value,
        "first": {"passed": first.passed, "trials": first.trials},
        "second": {"passed": second.passed, "trials": second.trials},
        "diagnosis": entry.diagnosis and entry.diagnosis.to_json(),
    }
