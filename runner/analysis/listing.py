"""The runs of a folder as a table shows them, kept in memory and read again where they change.

Which runs there are and what they scored is known at once, from the beginnings of their lines. What
they took and told stands deeper in the lines, and is reckoned up run by run, the newest first.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from runner.analysis.figures import EpisodeTook, RunFigures, ToldFigures, totals_of
from runner.records.codec import read
from runner.records.files import raw_lines
from runner.records.record import (
    Asked,
    DatasetReference,
    EpisodeRecord,
    RunDefinition,
    with_extensions,
)
from runner.records.run_files import EPISODES_FILE
from runner.records.shelf import (
    ShelvedRun,
    Stamp,
    run_folders,
    shelved_run,
    stamp_of,
    still_written,
)
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

_NOT_IN_TEXT = ("utf-8", "replace")
_NOTHING_ASKED = Asked(**dict.fromkeys(Asked._fields))


class RunTook(NamedTuple):
    """What a run took and told."""

    requests: int
    cost: float | None
    """US dollars; None where a price is unknown."""
    p50: float | None
    """Median of the latencies of its requests, in seconds; None of fewer than two."""
    told: Mapping[str, float | None] | None
    """Shares by what columns call them; None where no words are on record."""


class Mended(NamedTuple):
    """What a run scored as errata have its data."""

    score: float | None
    interval: tuple[float, float] | None


class JudgedResults(NamedTuple):
    """What became of the entries of result files, which do not say it themselves."""

    model: str
    """What the folder is called."""
    dataset: DatasetReference
    profile: str
    episodes: tuple[EpisodeRecord, ...]


class Listed(NamedTuple):
    """One run of the table."""

    name: str
    """Its path below the folder that is listed."""
    run: ShelvedRun
    stamp: Stamp
    version: int
    """At which change of the table it became what it is."""
    took: RunTook | None = None
    """None until it is reckoned, or where it cannot be."""
    mended: Mended | None = None
    """None where there are no errata, or none of its data."""
    reckoned: bool = False
    judged: JudgedResults | None = None
    """None of a run folder, or until result files are judged."""

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON."""
        definition = self.run.definition
        return {
            "name": self.name,
            **run_json(self.run),
            "series": definition and _series(definition),
            "reckoned": self.reckoned,
            "took": self.took and self.took._asdict(),
            "mended": self.mended and self.mended._asdict(),
            **self._judged_json(),
        }

    def _judged_json(self) -> dict[str, Any]:
        if self.judged is None:
            return {}
        model, dataset, profile, _ = self.judged
        return {"model": model, "dataset": dataset._asdict(), "profile": profile}


def run_json(run: ShelvedRun) -> dict[str, Any]:
    """Return what JSON has of a run as it lies in its folder."""
    rate = RunFigures(run.episodes).overall
    definition = run.definition
    return {
        "folder": str(run.folder),
        "state": run.state,
        "problem": run.problem,
        "created": run.created,
        "model": definition and definition.model,
        "dataset": definition and definition.dataset._asdict(),
        "profile": definition and definition.profile,
        "episodes": len(run.episodes),
        "planned": run.planned,
        "errors": run.errors,
        "score": rate and rate.value,
        "interval": rate and rate.interval,
        "resume": run.resume,
    }


def _series(definition: RunDefinition) -> str:
    """Return what runs have in common whose scores are of one history."""
    same = definition._replace(simulator="", prompts_sha256="", settings=_NOTHING_ASKED)
    return sha256(f"{definition.settings.mode} {same!r}".encode(*_NOT_IN_TEXT)).hexdigest()[:12]


class RunIndex:
    """The runs of a folder; threads may use it at once.

    Args:
        folder: Where they are, at any depth.
        mend: Returns what a run scores with errata; None where there are none.
        judge: Judges result files; by default they are not listed.
    """

    def __init__(
        self,
        folder: Path,
        mend: Callable[[Path], Mended | None] | None = None,
        judge: Callable[[Path], JudgedResults] | None = None,
    ) -> None:
        self._folder = folder
        self._mend = mend
        self._judge = judge
        self._listed: dict[str, Listed] = {}
        self._texts: dict[str, str] = {}
        self._gone: dict[str, int] = {}
        self._unreckoned: list[tuple[str, str]] = []
        self._version = 0
        self._changing = Lock()
        self._scanning = Lock()
        self.complete = False
        """Whether the whole folder has been looked through."""

    def refresh(self) -> None:
        """Look for what has changed; who comes while another one looks waits for that."""
        with self._scanning:
            known = dict(self._listed)
            for folder in run_folders(self._folder, results=self._judge is not None):
                name = self._name(folder)
                self._look_at(name, folder, known.pop(name, None))
            with self._changing:
                for name in known:
                    self._version += 1
                    del self._listed[name]
                    self._gone[name] = self._version
            self.complete = True

    def since(self, version: int) -> str:
        """Return as JSON the present version, the runs that changed after one, those that went."""
        with self._changing:
            listed = self._listed.values()
            changed = [self._texts[each.name] for each in listed if each.version > version]
            gone = [name for name, when in self._gone.items() if when > version]
            about = {"version": self._version, "complete": self.complete, "gone": gone}
        return f'{json.dumps(about)[:-1]}, "runs": [{", ".join(changed)}]}}'

    def all(self) -> list[Listed]:
        """Return the runs there are."""
        with self._changing:
            return list(self._listed.values())

    def newest(self) -> list[ShelvedRun]:
        """Return the runs, the newest first."""
        return sorted([each.run for each in self.all()], key=lambda run: run.created, reverse=True)

    def find(self, name: str) -> Listed:
        """Return a run by its name.

        Raises:
            DataError: There is none.
        """
        found = self._listed.get(name)
        if found is None:
            raise DataError(name, f"there is no such run in {self._folder}")
        return found

    def reckon(self) -> bool:
        """Reckon what one more run took and told; tell whether there was one."""
        with self._changing:
            if not self._unreckoned:
                return False
            _, name = self._unreckoned.pop()
            newest = self._listed.get(name)
        if newest is None or newest.reckoned:
            return True
        reckoned = self._reckoned(newest)
        with self._changing:
            now = self._listed.get(newest.name)
            if now is not None and now.stamp == newest.stamp:
                self._put(reckoned._replace(reckoned=True))
        return True

    def _reckoned(self, listed: Listed) -> Listed:
        run = listed.run
        if run.problem is not None:
            return listed
        mended = self._mend(run.folder) if self._mend else None
        if run.state != "recorded" or self._judge is None:
            return listed._replace(took=_took(run.folder), mended=mended)
        try:
            judged = self._judge(run.folder)
        except DataError as error:
            return listed._replace(run=run._replace(state="damaged", problem=str(error)))
        known = run._replace(episodes=judged.episodes, planned=len(judged.episodes))
        return listed._replace(run=known, mended=mended, judged=judged)

    def _name(self, folder: Path) -> str:
        if folder == self._folder:
            name = folder.resolve().name
        else:
            name = folder.relative_to(self._folder).as_posix()
        # As it can stand in an address.
        return name.encode(*_NOT_IN_TEXT).decode()

    def _look_at(self, name: str, folder: Path, known: Listed | None) -> None:
        stamp = stamp_of(folder)
        if known is None or known.stamp != stamp:
            found = Listed(name, shelved_run(folder), stamp, 0)
            if known is not None:
                # Old figures say more than none until there are new ones.
                found = found._replace(took=known.took, mended=known.mended)
        else:
            found = known._replace(run=still_written(known.run))
        if found != known:
            with self._changing:
                self._put(found)

    def _put(self, listed: Listed) -> None:
        self._version += 1
        self._gone.pop(listed.name, None)
        self._listed[listed.name] = listed._replace(version=self._version)
        self._texts[listed.name] = json.dumps(listed.to_json())
        if not listed.reckoned:
            insort(self._unreckoned, (listed.run.created, listed.name))


def _took(folder: Path) -> RunTook | None:
    try:
        episodes = list(_episodes(folder / EPISODES_FILE))
    except DataError:
        return None
    totals = totals_of(episodes)
    told = ToldFigures.of(each.telling for each in episodes if each.outcome != "error")
    latency = totals.latency
    shares = told and {name: share for name, share in told.shares.items() if share is not None}
    return RunTook(totals.requests, totals.cost, latency and latency.p50, shares)


def _episodes(path: Path) -> Iterator[EpisodeTook]:
    for number, raw in enumerate(raw_lines(path), start=1):
        where = f"{path}:{number}"
        line = parse_object(raw.decode("utf-8", "replace"), where)
        yield read(EpisodeTook, with_extensions(line), where)
