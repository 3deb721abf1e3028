"""Comparison of runs on their common entries, by category and by cause of failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from checkers.causes.diagnosis import Cause, Diagnosis
from checkers.profile import Profile
from checkers.statistics import EntryPair, RunDifference, TrialCounts, cluster_test, compare
from envs.errors import DataError
from runner.analysis.figure_table import figures_json, rows_of
from runner.analysis.figures import RunFigures
from runner.analysis.replayed_runs import ReplayedEpisode, replay_episodes, restore_entries
from runner.records.episode_record import EpisodeRecord, Key
from runner.records.recorded_run import Run
from trajectories.dataset import Dataset
from trajectories.errata.corrections import AS_PUBLISHED, CorrectedEntries
from trajectories.schema import Category, Trajectory


class ComparedEntry(NamedTuple):
    """One entry in two runs."""

    trajectory: Trajectory
    first: Sequence[Diagnosis | None]
    """Diagnosis of each trial in the first run; None for a passed trial."""
    second: Sequence[Diagnosis | None]

    @property
    def pair(self) -> EntryPair:
        """Numbers of trials and passed trials in both runs."""
        return EntryPair(
            _attempts(self.trajectory, self.first), _attempts(self.trajectory, self.second)
        )

    @property
    def difference(self) -> float:
        """The pass rate in the second run minus the pass rate in the first run."""
        return self.pair.difference

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Most frequent diagnosis of this entry in the worse run."""
        return most_frequent(self.second if self.difference < 0 else self.first)


class ExcludedEntries(NamedTuple):
    """Entries that the comparison leaves out."""

    only_first: int
    only_second: int
    errors: int
    """Number of common entries without a verdict in one or both runs."""


class CauseCount(NamedTuple):
    """One cause of failure: its number of episodes in each run, and a test of the difference."""

    cause: Cause
    first: int
    second: int
    p_value: float


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Comparison of two runs on the same entries."""

    runs: tuple[Run, Run]
    dataset: Dataset
    profile: Profile
    entries: Sequence[ComparedEntry]
    left_out: ExcludedEntries
    overall: RunDifference
    categories: Mapping[Category, RunDifference]
    causes: Sequence[CauseCount]
    """Largest differences first."""
    measures: Mapping[str, RunDifference]
    """Maps the label of an extension's metric to the difference between the two runs."""
    readings: CorrectedEntries
    figures: Sequence[RunFigures]
    mended: RunComparison | None = None
    """Comparison of the same runs on corrected data; ``None`` if no errata are selected."""

    @property
    def trials(self) -> tuple[int, int]:
        """Maximum number of trials per entry in each run."""
        return max(len(e.first) for e in self.entries), max(len(e.second) for e in self.entries)

    def cause_shares(self, count: CauseCount) -> tuple[float, float]:
        """Return, for each run, the share of episodes that failed for a cause."""
        first = sum(len(entry.first) for entry in self.entries)
        second = sum(len(entry.second) for entry in self.entries)
        return count.first / first, count.second / second

    @property
    def lost(self) -> list[ComparedEntry]:
        """Entries that pass less often in the second run, largest losses first."""
        worse = [entry for entry in self.entries if entry.difference < 0]
        return sorted(worse, key=lambda entry: entry.difference)

    @property
    def gained(self) -> list[ComparedEntry]:
        """Entries that pass more often in the second run, largest gains first."""
        better = [entry for entry in self.entries if entry.difference > 0]
        return sorted(better, key=lambda entry: -entry.difference)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        data = self.dataset
        sides = [figures_json(each, beside=True) for each in self.figures]
        return {
            "runs": [
                {
                    "name": run.name,
                    "path": str(run.path),
                    "unfinished": bool(run.progress and run.progress.is_unfinished),
                }
                for run in self.runs
            ],
            "dataset": {"name": data.name, "version": data.version, "sha256": data.sha256},
            "profile": self.profile.name,
            "trials": list(self.trials),
            "left_out": self.left_out._asdict(),
            **{key: [side[key] for side in sides] for key in sides[0]},
            "overall": _difference_json(self.overall),
            "categories": {c.value: _difference_json(d) for c, d in self.categories.items()},
            "measures": {name: _difference_json(d) for name, d in self.measures.items()},
            "causes": [
                {**each._asdict(), "cause": each.cause.value, "shares": [*self.cause_shares(each)]}
                for each in self.causes
            ],
            "lost": [_entry_json(entry) for entry in self.lost],
            "gained": [_entry_json(entry) for entry in self.gained],
            "errata": None if self.readings is AS_PUBLISHED else self.readings.name,
            "mended": self.mended and self.mended.to_json(),
        }


def compare_each(
    runs: Sequence[Run],
    dataset: Dataset,
    profile: Profile,
    step_limits: Sequence[int],
    readings: CorrectedEntries = AS_PUBLISHED,
    *,
    require_info: bool = False,
) -> list[RunComparison]:
    """Compare each run with the first run. Entries that all runs share are executed again.

    Args:
        step_limits: Maximum steps per turn for each run, if the profile limits recorded runs.
        readings: Errata by which the episodes are judged.
        require_info: Whether to fail episodes that do not report required information.

    Raises:
        DataError: The data set lacks an entry, or no shared entry could be judged.
    """
    ids = [set(run.ids) for run in runs]
    shared = set.intersection(*ids)
    common = _common(shared, runs[0], restore_entries(runs[0], dataset), readings)
    again = partial(replay_episodes, profile=profile, readings=readings, require_info=require_info)
    trials = [
        _trials(
            again(run, _keys(run, common), dataset=restore_entries(run, dataset), step_limit=limit)
        )
        for run, limit in zip(runs, step_limits, strict=True)
    ]
    judged = [id for id in common if all(of.get(id) for of in trials)]
    if not judged:
        others = " and ".join(str(run.path) for run in runs[1:])
        raise DataError(others, f"has no judged entry in common with {runs[0].path}")
    left_out = [
        ExcludedEntries(len(ids[0] - shared), len(theirs - shared), len(common) - len(judged))
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
            measures=_by_measure([common[id] for id in judged], trials[0], of),
            readings=readings,
            figures=(figures[0], theirs),
        )
        for run, of, compared, left, theirs in zip(
            runs[1:], trials[1:], sides, left_out, figures[1:], strict=True
        )
    ]


def _compared(
    entries: Sequence[Trajectory], first: _Trials, second: _Trials
) -> list[ComparedEntry]:
    return [
        ComparedEntry(each, *([trial.diagnosis for trial in of[each.id]] for of in (first, second)))
        for each in entries
    ]


def most_frequent(trials: Sequence[Diagnosis | None]) -> Diagnosis | None:
    """Return the diagnosis with the most frequent cause; None if all trials passed."""
    often = causes(trials)
    return max(filter(None, trials), key=lambda diagnosis: often[diagnosis.cause], default=None)


def causes(trials: Iterable[Diagnosis | None]) -> Counter[Cause]:
    """Return the number of failed trials for each cause."""
    return Counter(diagnosis.cause for diagnosis in trials if diagnosis)


def _common(
    ids: Set[str], run: Run, dataset: Dataset, readings: CorrectedEntries
) -> dict[str, Trajectory]:
    for id in sorted(ids - dataset.trajectories.keys()):
        raise DataError(str(run.path), f"{id!r} is not in {dataset.name}")
    return {
        id: readings.of(trajectory)[0]
        for id, trajectory in dataset.trajectories.items()
        if id in ids and readings.of(trajectory)
    }


class _JudgedTrial(NamedTuple):
    diagnosis: Diagnosis | None
    judged: EpisodeRecord


_Trials = Mapping[str, Sequence[_JudgedTrial]]


def _keys(run: Run, wanted: Container[str]) -> list[Key]:
    judged = (each.record for each in run.episodes.values() if each.record.outcome != "error")
    return sorted(record.key for record in judged if record.id in wanted)


def _trials(episodes: Iterable[ReplayedEpisode]) -> dict[str, list[_JudgedTrial]]:
    trials: dict[str, list[_JudgedTrial]] = {}
    broken = set()
    for _, recorded, judged, examined in episodes:
        if examined is None:
            broken.add(recorded.id)
        else:
            trial = _JudgedTrial(examined.diagnosis, judged.outline)
            trials.setdefault(recorded.id, []).append(trial)
    return {id: found for id, found in trials.items() if id not in broken}


def _by_category(entries: Sequence[ComparedEntry]) -> dict[Category, RunDifference]:
    pairs: dict[Category, list[EntryPair]] = {}
    for entry in entries:
        pairs.setdefault(entry.trajectory.category, []).append(entry.pair)
    return {category: compare(pairs[category]) for category in Category if category in pairs}


def _by_cause(entries: Sequence[ComparedEntry]) -> list[CauseCount]:
    first = causes(trial for entry in entries for trial in entry.first)
    second = causes(trial for entry in entries for trial in entry.second)
    counts = [
        CauseCount(cause, first[cause], second[cause], cluster_test(_with_cause(entries, cause)))
        for cause in Cause
        if cause in first or cause in second
    ]
    return sorted(counts, key=lambda count: (count.p_value, -count.first - count.second))


def _by_measure(
    entries: Sequence[Trajectory], first: _Trials, second: _Trials
) -> dict[str, RunDifference]:
    records = [trial.judged for of in (first, second) for each in entries for trial in of[each.id]]
    found = {}
    for label, holds in [(row.label, row.holds) for row in rows_of([RunFigures(records)])]:
        if holds is None:
            continue
        pairs = []
        for each in entries:
            sides = [[holds(trial.judged) for trial in of[each.id]] for of in (first, second)]
            known = [[value for value in side if value is not None] for side in sides]
            if all(known):
                counts = [TrialCounts(each.base, len(side), sum(side)) for side in known]
                pairs.append(EntryPair(*counts))
        if pairs:
            found[label] = compare(pairs)
    return found


def _with_cause(entries: Iterable[ComparedEntry], cause: Cause) -> list[EntryPair]:
    return [
        EntryPair(
            *(
                TrialCounts(entry.trajectory.base, len(trials), causes(trials)[cause])
                for trials in (entry.first, entry.second)
            )
        )
        for entry in entries
    ]


def _attempts(trajectory: Trajectory, trials: Sequence[Diagnosis | None]) -> TrialCounts:
    return TrialCounts(trajectory.base, len(trials), list(trials).count(None))


def _difference_json(difference: RunDifference) -> dict[str, Any]:
    return {
        **difference._asdict(),
        "interval": list(difference.interval),
        "difference": difference.difference,
        "is_noise": difference.is_noise,
    }


def _entry_json(entry: ComparedEntry) -> dict[str, Any]:
    first, second = entry.pair
    return {
        "id": entry.trajectory.id,
        "category": entry.trajectory.category.value,
        "first": {"passed": first.passed, "trials": first.trials},
        "second": {"passed": second.passed, "trials": second.trials},
        "diagnosis": entry.diagnosis and entry.diagnosis.to_json(),
    }
