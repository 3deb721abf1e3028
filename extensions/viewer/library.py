"""Runs that are looked at again and again: opened and executed once, until their files change.

Threads may use it at once. One episode is found and executed without the rest of its run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from runner.analysis.comparison import RunComparison, compare_each
from runner.analysis.figures import RunFigures
from runner.analysis.listing import JudgedResults, Mended
from runner.analysis.mended import Mend, judge_of
from runner.analysis.runs import (
    ViewedRun,
    data_change,
    dataset_of,
    executed_again,
    in_order,
    plain_dataset_of,
    rules_of,
)
from runner.data import choose
from runner.data.choose import Notify
from runner.data.errata import open_errata
from runner.records.definition import DatasetReference
from runner.records.record import Key
from runner.records.run import Run, open_run
from runner.records.shelf import ShelvedRun, Stamp, stamp_of
from trajectories.dataset import EMBEDDED, Dataset
from trajectories.errors import DataError
from trajectories.schema import Category

_MAX_RUNS, _MAX_EPISODES, _MAX_COMPARISONS, _MAX_DATASETS = 4, 64, 4, 8
"""How many of each are kept."""
_WARMED = 4
"""Data sets that are loaded before they are needed."""

_Value = TypeVar("_Value")
_Stamped = TypeVar("_Stamped")


class Opened(NamedTuple):
    """A run that was executed again, all of it or some of its episodes."""

    run: ViewedRun
    notes: Sequence[str]
    """What is to be known of it, such as that the data is not what it was."""
    stamp: Stamp
    """What its files were."""


class Beside(NamedTuple):
    """Runs that were compared."""

    compared: Sequence[RunComparison]
    """All but the first, each with that."""
    notes: Sequence[str]
    """What is to be known of it, such as that the data is not what it was."""


def titled(name: str, run: Run) -> str:
    """Return what to call a run that is listed under a name: that, and the model's."""
    return name if run.name in name else f"{name}: {run.name}"


class Library:
    """Opens runs.

    The runs are also judged by the errata that the user named, or by none (``none``).
    """

    def __init__(self, errata: str = "none") -> None:
        self._errata = errata
        self._runs: _Recent[Opened] = _Recent(_MAX_RUNS)
        self._episodes: _Recent[Opened] = _Recent(_MAX_EPISODES)
        self._beside: _Recent[Beside] = _Recent(_MAX_COMPARISONS)
        self._data: _Recent[Dataset] = _Recent(_MAX_DATASETS)

    def whole(self, folder: Path) -> Opened:
        """Return a run with all of its finished episodes.

        Raises:
            DataError: It cannot be read, or what it is of is not there.
        """

        def make(stamp: Stamp, before: Opened | None) -> Opened:
            return self._opened(open_run(folder), stamp, before)

        return self._runs.get(folder, lambda: stamp_of(folder), make)

    def one(self, folder: Path, key: Key) -> Opened:
        """Return a run with one of its episodes only.

        Raises:
            DataError: As for ``whole``, or the run has no such episode.
        """

        def make(stamp: Stamp, _: Opened | None) -> Opened:
            whole = self._runs.peek(folder)
            if whole is not None and whole.stamp == stamp:
                return _narrowed(whole, key)
            run = open_run(folder, only=key[0])
            return self._opened(_with_only(run, key), stamp, None)

        return self._episodes.get((folder, key), lambda: stamp_of(folder), make)

    def judged(self, folder: Path) -> JudgedResults:
        """Return what became of the entries of result files; nothing is fetched for that.

        Raises:
            DataError: They cannot be read, or their data is not here.
        """
        if not choose.has_bfcl():
            raise DataError(str(folder), "is of BFCL's data: turnwise dataset fetch bfcl")
        run = self.whole(folder).run
        name, version, sha256 = run.dataset.name, run.dataset.version, run.dataset.sha256
        return JudgedResults(
            run.source.name,
            DatasetReference(name, version, sha256),
            run.profile.name,
            tuple(each.judged for each in run.episodes),
        )

    def warm(self, runs: Iterable[ShelvedRun]) -> None:
        """Load the data of some runs before somebody asks: our own, which takes longest."""
        own = [r for r in runs if r.definition and r.definition.dataset.name == EMBEDDED]
        wanted = dict.fromkeys(run.definition.selection.category for run in own if run.definition)
        for category in islice(wanted, _WARMED):
            with suppress(DataError):
                self._load(None, choose.categories(category, None), _silent)

    def compared(self, folders: Mapping[str, Path]) -> Beside:
        """Return what compares all runs but the first with that, and what is to be known of it.

        Raises:
            DataError: One cannot be read, they are judged otherwise, or have nothing in common.
        """

        def stamps() -> Sequence[Stamp]:
            return [stamp_of(folder) for folder in folders.values()]

        return self._beside.get(tuple(folders.items()), stamps, lambda *_: self._compared(folders))

    def _compared(self, folders: Mapping[str, Path]) -> Beside:
        opened = {name: open_run(folder) for name, folder in folders.items()}
        runs = [replace(run, name=titled(name, run)) for name, run in opened.items()]
        notes: list[str] = []
        dataset = plain_dataset_of(runs[0], None, notes.append, self._load)
        changes = {run.name: data_change(run, dataset) for run in runs[1:]}
        notes += [f"{name}: {change}" for name, change in changes.items() if change]
        profiles, limits = zip(*(rules_of(run, dataset) for run in runs), strict=True)
        if len({profile.name for profile in profiles}) > 1:
            said = ", ".join(f"{r.name} by {p.name}" for r, p in zip(runs, profiles, strict=True))
            raise DataError("profile", f"the runs were judged by different ones: {said}")
        return Beside(compare_each(runs, dataset, profiles[0], limits), notes)

    def mended(self, folder: Path) -> Mended | None:
        """Return what a run scores with the errata; None where they are not of its data."""
        with suppress(DataError):
            run = open_run(folder)
            mend = self._mend(run, dataset_of(run, None, _silent, self._load))
            if mend is not None:
                rate = mend.figures(RunFigures([*run.records])).overall
                return Mended(rate and rate.value, rate and rate.interval)
        return None

    def _opened(self, run: Run, stamp: Stamp, before: Opened | None) -> Opened:
        notes: list[str] = []
        dataset = dataset_of(run, None, notes.append, self._load)
        profile, limit = rules_of(run, dataset)
        known = {} if before is None else {e.recorded.record.key: e for e in before.run.episodes}
        keys = in_order(run, dataset)
        changed = [
            key
            for key in keys
            if key not in known or known[key].recorded.record != run.episodes[key].record
        ]
        again = executed_again(run, changed, dataset, profile, limit)
        new = {each.recorded.record.key: each for each in again}
        episodes = [new.get(key) or known[key] for key in keys]
        viewed = ViewedRun(run, dataset, profile, episodes, self._mend(run, dataset))
        return Opened(viewed, notes, stamp)

    def _mend(self, run: Run, dataset: Dataset) -> Mend | None:
        profile, limit = rules_of(run, dataset)
        with suppress(DataError):
            readings = open_errata(self._errata, dataset, _silent)
            if readings is not None and readings.right:
                return Mend(dataset, readings, profile, judge_of(run, profile, limit))
        return None

    def _load(self, name: str | None, wanted: Sequence[Category], notify: Notify) -> Dataset:
        return self._data.get(
            (name, tuple(wanted)),
            lambda: _stamp(name),
            lambda *_: choose.dataset(name, wanted, notify),
        )


class _Recent(Generic[_Value]):
    """What was made last, each for a key and a stamp; who asks while it is made waits for it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, tuple[object, _Value]] = OrderedDict()
        self._locks: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def peek(self, key: Hashable) -> _Value | None:
        """Return what there is for a key."""
        return self._found.get(key, (None, None))[1]

    def get(
        self,
        key: Hashable,
        stamp: Callable[[], _Stamped],
        make: Callable[[_Stamped, _Value | None], _Value],
    ) -> _Value:
        """Return what there is for a key; of another stamp it is made, of what there was."""
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


def _narrowed(whole: Opened, key: Key) -> Opened:
    run = whole.run
    found = [each for each in run.episodes if each.recorded.record.key == key]
    source = _with_only(run.source, key)
    return whole._replace(run=run._replace(source=source, episodes=found))


def _with_only(run: Run, key: Key) -> Run:
    """Return a run that has one episode.

    Raises:
        DataError: It does not have it.
    """
    return replace(run, episodes={key: run.episode(*key)})


def _stamp(name: str | None) -> Stamp:
    """Return what tells whether a file or folder of data has changed."""
    try:
        found = Path(name or "").stat() if name else None
    except (OSError, ValueError):
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found else ()


def _silent(_: str) -> None:
    """Say nothing."""
