"""Thread-safe cache of opened and replayed runs.

If a file of a run changes, the viewer reads the run again. Of most episodes, only an outline stays
in memory.

To show one episode, the viewer replays only this episode of the run. A replay of all episodes takes
seconds, so the viewer first shows the recorded outcomes of a run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from envs.errors import DataError
from extensions.viewer.run_index import CorrectedScore, JudgedResults
from extensions.viewer.run_stamps import Stamp, stamp_of
from runner.analysis.comparison import RunComparison, compare_each
from runner.analysis.corrected_judging import CorrectedJudging, judge_of
from runner.analysis.figures import RunFigures
from runner.analysis.replayed_runs import (
    ReplayedEpisode,
    ReplayedRun,
    dataset_of,
    describe_data_change,
    load_plain_dataset,
    replay_run,
    resolve_rules,
    sort_episodes,
)
from runner.analysis.report.page_parts import EpisodeOutline
from runner.analysis.report.run_report import outline
from runner.data import dataset_choice
from runner.data.dataset_choice import Notify
from runner.data.errata import open_errata
from runner.records.episode_record import EpisodeRecord, Key
from runner.records.json_codec import encode
from runner.records.recorded_run import Run, open_run
from runner.records.run_catalog import CatalogRun
from runner.records.run_definition import DatasetReference
from trajectories.dataset import EMBEDDED, Dataset, pause_collector
from trajectories.schema import Category

_MAX_RUNS, _MAX_EPISODES, _MAX_COMPARISONS, _MAX_DATASETS = 4, 64, 4, 8
"""Cache sizes."""
_WARMED = 4
"""Maximum number of preloaded data sets."""

_Value = TypeVar("_Value")
_Stamped = TypeVar("_Stamped")


class OpenedRun(NamedTuple):
    """Opened run. Of a whole run, only the outlines of the episodes stay in memory."""

    run: ReplayedRun
    outlines: Mapping[Key, EpisodeOutline]
    notes: Sequence[str]
    """Warnings, for example that the data set has changed."""
    stamp: Stamp
    """State of the run's files."""
    digests: Mapping[Key, int] = MappingProxyType({})
    """Hashes of the records from which the outlines were made."""


class ComparedRuns(NamedTuple):
    """Comparisons of the first run with every other run."""

    compared: Sequence[RunComparison]
    notes: Sequence[str]
    """Warnings, for example that the data set has changed."""


def titled(name: str, run: Run) -> str:
    """Return the title of a listed run.

    The title is ``name``. If ``name`` does not contain the name of the run, this name is added.
    """
    return name if run.name in name else f"{name}: {run.name}"


class RunCache:
    """Cache that opens runs, compares runs, and judges runs with errata."""

    def __init__(self, errata: str = "none") -> None:
        self._errata = errata
        self._runs: _KeyedCache[OpenedRun] = _KeyedCache(_MAX_RUNS)
        self._episodes: _KeyedCache[OpenedRun] = _KeyedCache(_MAX_EPISODES)
        self._beside: _KeyedCache[ComparedRuns] = _KeyedCache(_MAX_COMPARISONS)
        self._data: _KeyedCache[Dataset] = _KeyedCache(_MAX_DATASETS)

    def whole(self, folder: Path) -> OpenedRun:
        """Return a run with the outlines of all finished episodes.

        Raises DataError if the run cannot be read, or if its data set is missing.
        """

        def make(stamp: Stamp, before: OpenedRun | None) -> OpenedRun:
            run, notes = self._replayed(open_run(folder, hold=False))
            known, digests = (before.outlines, before.digests) if before else ({}, {})
            kept = {
                key: known[key]
                for key in known.keys() & run.source.episodes.keys()
                if digests[key] == _digest(run.source.episodes[key].record)
            }
            digests = {key: digests[key] for key in kept}
            for each in run.select(run.source.episodes.keys() - kept.keys()):
                key = each.recorded.record.key
                kept[key], digests[key] = outline(each), _digest(each.recorded.record)
            outlines = {key: kept[key] for key in sort_episodes(run.source, run.dataset)}
            return OpenedRun(run, outlines, notes, stamp, digests)

        return self._runs.get(folder, lambda: stamp_of(folder), make)

    def is_open(self, folder: Path) -> bool:
        """Tell whether the cache contains the run; its latest episodes may be missing."""
        return self._runs.peek(folder) is not None

    @pause_collector()
    def recorded(self, folder: Path) -> OpenedRun | None:
        """Open a run with the recorded outcomes, without replaying episodes.

        Return None if an episode has no recorded outcome. Raises DataError if the run cannot be
        read, or if its data set is missing.
        """
        stamp, (run, notes) = stamp_of(folder), self._replayed(open_run(folder, hold=False))
        outlines: dict[Key, EpisodeOutline] = {}
        for key in sort_episodes(run.source, run.dataset):
            found = run.source.episodes[key]
            if found.record.outcome is None:
                return None
            entry = run.dataset.trajectories[found.id]
            outlines[key] = outline(ReplayedEpisode(entry, found, found.record, None))
        return OpenedRun(run._replace(mend=None), outlines, notes, stamp)

    def one(self, folder: Path, key: Key) -> OpenedRun:
        """Return a run with only one of its episodes.

        Raises DataError if the run cannot be opened or has no such episode.
        """

        def make(stamp: Stamp, _: OpenedRun | None) -> OpenedRun:
            run, notes = self._replayed(_with_only(open_run(folder, only=key[0]), key))
            [episode] = run.episodes
            run = run._replace(episodes=[episode])
            return OpenedRun(run, {key: outline(episode)}, notes, stamp)

        return self._episodes.get((folder, key), lambda: stamp_of(folder), make)

    def judged(self, folder: Path) -> JudgedResults:
        """Return the outcomes of result files without downloading data.

        Raises DataError if the files cannot be read, or if their data set is missing.
        """
        if not dataset_choice.has_bfcl():
            message = "needs BFCL's data; run: turnwise dataset fetch bfcl"
            raise DataError(str(folder), message)
        opened = self.whole(folder)
        run = opened.run
        name, version, sha256 = run.dataset.name, run.dataset.version, run.dataset.sha256
        return JudgedResults(
            run.source.name,
            DatasetReference(name, version, sha256),
            run.profile.name,
            tuple(each.record.outline for each in opened.outlines.values()),
        )

    def warm(self, runs: Iterable[CatalogRun]) -> None:
        """Load the data of some runs in advance, because loading is slow; download nothing."""
        known = [run.definition for run in runs if run.definition]
        wanted = dict.fromkeys((each.dataset.name, each.selection.category) for each in known)
        for name, category in islice(wanted, _WARMED):
            if name != EMBEDDED and not Path(name).exists():
                continue
            source = None if name == EMBEDDED else name
            with suppress(DataError):
                dataset = self._load(
                    source, dataset_choice.parse_categories(category, source), _silent
                )
                tuple(dataset.trajectories.values())  # parses the entries

    def compared(self, folders: Mapping[str, Path]) -> ComparedRuns:
        """Compare the first run with each of the other runs.

        Raises:
            DataError: A run cannot be read, or the runs have different profiles or no common
                entries.
        """

        def stamps() -> Sequence[Stamp]:
            return [stamp_of(folder) for folder in folders.values()]

        return self._beside.get(tuple(folders.items()), stamps, lambda *_: self._compared(folders))

    def _compared(self, folders: Mapping[str, Path]) -> ComparedRuns:
        opened = {name: open_run(folder, hold=False) for name, folder in folders.items()}
        runs = [replace(run, name=titled(name, run)) for name, run in opened.items()]
        notes: list[str] = []
        dataset = load_plain_dataset(runs[0], None, notes.append, self._load)
        changes = {run.name: describe_data_change(run, dataset) for run in runs[1:]}
        notes += [f"{name}: {change}" for name, change in changes.items() if change]
        profiles, limits = zip(*(resolve_rules(run, dataset) for run in runs), strict=True)
        if len({profile.name for profile in profiles}) > 1:
            said = ", ".join(f"{r.name} by {p.name}" for r, p in zip(runs, profiles, strict=True))
            raise DataError("profile", f"the runs were judged by different profiles: {said}")
        return ComparedRuns(compare_each(runs, dataset, profiles[0], limits), notes)

    def mended(self, folder: Path) -> CorrectedScore | None:
        """Return a run's score on the corrected data set; None without errata."""
        with suppress(DataError):
            run = open_run(folder)
            mend = self._mend(run, dataset_of(run, None, _silent, self._load))
            if mend is not None:
                rate = mend.figures(RunFigures([*run.records], progress=run.progress)).overall
                return CorrectedScore(rate and rate.value, rate and rate.interval)
        return None

    def _replayed(self, run: Run) -> tuple[ReplayedRun, Sequence[str]]:
        notes: list[str] = []
        dataset = dataset_of(run, None, notes.append, self._load)
        profile, limit = resolve_rules(run, dataset)
        replayed = replay_run(run, dataset, profile, limit)
        return replayed._replace(mend=self._mend(run, dataset)), notes

    def _mend(self, run: Run, dataset: Dataset) -> CorrectedJudging | None:
        profile, limit = resolve_rules(run, dataset)
        with suppress(DataError):
            readings = open_errata(self._errata, dataset, _silent)
            if readings is not None and readings.right:
                return CorrectedJudging(dataset, readings, profile, judge_of(run, profile, limit))
        return None

    def _load(self, name: str | None, wanted: Sequence[Category], notify: Notify) -> Dataset:
        return self._data.get(
            (name, tuple(wanted)),
            lambda: file_stamp(name),
            lambda *_: dataset_choice.open_dataset(name, wanted, notify),
        )


class _KeyedCache(Generic[_Value]):
    """LRU cache by key and stamp. If several threads need a value, one of them computes it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, tuple[object, _Value]] = OrderedDict()
        self._locks: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def peek(self, key: Hashable) -> _Value | None:
        """Return the cached value, even if it is outdated."""
        return self._found.get(key, (None, None))[1]

    def get(
        self,
        key: Hashable,
        stamp: Callable[[], _Stamped],
        make: Callable[[_Stamped, _Value | None], _Value],
    ) -> _Value:
        """Return the value of a key; compute a new value if the stamp has changed."""
        with self._lock:
            making = self._locks.setdefault(key, Lock())
        with making:
            now, (known, before) = stamp(), self._found.get(key, (None, None))
            value = before if before is not None and known == now else make(now, before)
        with self._lock:
            self._found[key] = now, value
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
            if not making.locked():
                self._locks.pop(key, None)
        return value


def _digest(record: EpisodeRecord) -> int:
    return hash(encode(record))


def _with_only(run: Run, key: Key) -> Run:
    """Return a copy of a run with one episode. Raises DataError if the run has no such episode."""
    return replace(run, episodes={key: run.episode(*key)})


def file_stamp(name: str | None) -> Stamp:
    """Return a stamp of a data file or folder; the stamp changes with the data."""
    try:
        found = Path(name or "").stat() if name else None
    except (OSError, ValueError):
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found else ()


def _silent(_: str) -> None:
    """Ignore a message."""
