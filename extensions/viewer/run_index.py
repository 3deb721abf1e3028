"""Index of the runs in a folder, kept in memory and updated when files change.

For the scores, the index reads only the start of each line of ``episodes.jsonl``. Afterwards, it
reads the whole lines, beginning with the newest run.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from envs.errors import DataError
from extensions.viewer.run_stamps import Stamp, stamp_of
from runner.analysis.catalog_figures import run_figures
from runner.analysis.figures import EpisodeUsage, RequiredInfoFigures, totals_of
from runner.records.durable_files import read_raw_lines
from runner.records.episode_record import EpisodeRecord, InfoReport, upgrade_record
from runner.records.json_codec import read
from runner.records.run_catalog import CatalogRun, read_catalog_run, run_folders, update_state
from runner.records.run_definition import DatasetReference, ModelSettings, RunDefinition
from runner.records.run_files import EPISODES_FILE
from trajectories.jsonl import parse_object

_NOT_IN_TEXT = ("utf-8", "replace")
_NOTHING_ASKED = ModelSettings(**dict.fromkeys(ModelSettings._fields))


class RunUsage(NamedTuple):
    """Usage and required information of a run."""

    requests: int
    cost: float | None
    """Cost in US dollars; None if a price is unknown."""
    p50: float | None
    """Median latency in seconds; None for fewer than two requests."""
    told: Mapping[str, float | None] | None
    """Maps a table column to the share of reported information."""


class CorrectedScore(NamedTuple):
    """Score of a run after the errata are applied."""

    score: float | None
    interval: tuple[float, float] | None


class JudgedResults(NamedTuple):
    """Verdicts on result files."""

    model: str
    """Name of the folder."""
    dataset: DatasetReference
    profile: str
    episodes: tuple[EpisodeRecord, ...]


class RunRow(NamedTuple):
    """Row of the table of runs."""

    name: str
    """Path relative to the listed folder."""
    run: CatalogRun
    stamp: Stamp
    version: int
    """Version of the index when this row last changed."""
    took: RunUsage | None = None
    """Usage; None if it is not computed yet, or cannot be computed."""
    mended: CorrectedScore | None = None
    """Score with errata; None if the data has no errata."""
    reckoned: bool = False
    """Whether the index has computed the metrics of the run."""
    judged: JudgedResults | None = None
    """Verdicts on result files; None for a run folder, or if no verdicts exist."""

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON."""
        definition, judged = self.run.definition, self.judged
        row = {
            "name": self.name,
            **run_json(self.run),
            "series": definition and _series(definition),
            "reckoned": self.reckoned,
            "took": self.took and self.took._asdict(),
            "mended": self.mended and self.mended._asdict(),
        }
        if judged:
            row |= {"model": judged.model, "dataset": judged.dataset._asdict()}
            row["profile"] = judged.profile
        return row


def _series(definition: RunDefinition) -> str:
    same = definition._replace(simulator="", prompts_sha256="", settings=_NOTHING_ASKED)
    return sha256(f"{definition.settings.mode} {same!r}".encode(*_NOT_IN_TEXT)).hexdigest()[:12]


class RunIndex:
    """Thread-safe index of the runs in a folder, at any depth.

    Args:
        mend: Function that returns a run's score with errata, or None.
        judge: Function that judges result files (default: result files are not listed).
    """

    def __init__(
        self,
        folder: Path,
        mend: Callable[[Path], CorrectedScore | None] | None = None,
        judge: Callable[[Path], JudgedResults] | None = None,
    ) -> None:
        self._folder = folder
        self._mend = mend
        self._judge = judge
        self._listed: dict[str, RunRow] = {}
        self._texts: dict[str, str] = {}
        self._gone: dict[str, int] = {}
        self._unreckoned: list[tuple[str, str]] = []
        self._version = 0
        self._changing = Lock()
        self._scanning = Lock()
        self.complete = False
        """Whether the first scan of the folder is complete."""

    def refresh(self) -> None:
        """Scan the folder for changes; only one thread scans at a time."""
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
        """Return JSON with the index's version and with all runs changed since ``version``."""
        with self._changing:
            listed = self._listed.values()
            changed = [self._texts[each.name] for each in listed if each.version > version]
            gone = [name for name, when in self._gone.items() if when > version]
            about = {"version": self._version, "complete": self.complete, "gone": gone}
        return f'{json.dumps(about)[:-1]}, "runs": [{", ".join(changed)}]}}'

    def all(self) -> list[RunRow]:
        """Return all runs."""
        with self._changing:
            return list(self._listed.values())

    def newest(self) -> list[CatalogRun]:
        """Return the runs, newest first."""
        return sorted([each.run for each in self.all()], key=lambda run: run.created, reverse=True)

    def find(self, name: str) -> RunRow:
        """Return a run by its name. Raises DataError if the run does not exist."""
        found = self._listed.get(name)
        if found is None:
            raise DataError(name, f"{self._folder} does not contain this run")
        return found

    def reckon(self) -> bool:
        """Compute the metrics of the next run; return False if no run is left."""
        with self._changing:
            if not self._unreckoned:
                return False
            _, name = self._unreckoned.pop()
            newest = self._listed.get(name)
        if newest is None or newest.reckoned:
            return True
        computed = self._compute(newest)
        with self._changing:
            now = self._listed.get(newest.name)
            if now is not None and now.stamp == newest.stamp:
                self._put(computed._replace(reckoned=True))
        return True

    def _compute(self, listed: RunRow) -> RunRow:
        run = listed.run
        if run.problem is not None:
            return listed
        mended = self._mend(run.folder) if self._mend else None
        if run.state != "recorded" or self._judge is None:
            return listed._replace(took=_usage(run.folder), mended=mended)
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
        # The name must be valid in a URL.
        return name.encode(*_NOT_IN_TEXT).decode()

    def _look_at(self, name: str, folder: Path, known: RunRow | None) -> None:
        stamp = stamp_of(folder)
        if known is None or known.stamp != stamp:
            found = RunRow(name, read_catalog_run(folder), stamp, 0)
            if known is not None:
                # Keep the old figures until there are new ones.
                found = found._replace(took=known.took, mended=known.mended)
        else:
            found = known._replace(run=update_state(known.run))
        if found != known:
            with self._changing:
                self._put(found)

    def _put(self, listed: RunRow) -> None:
        self._version += 1
        self._gone.pop(listed.name, None)
        self._listed[listed.name] = listed._replace(version=self._version)
        self._texts[listed.name] = json.dumps(listed.to_json())
        if not listed.reckoned:
            insort(self._unreckoned, (listed.run.created, listed.name))


def _usage(folder: Path) -> RunUsage | None:
    reports: list[InfoReport] = []

    def usages() -> Iterator[EpisodeUsage]:
        for each in _episodes(folder / EPISODES_FILE):
            if each.telling and each.outcome != "error":
                reports.append(each.telling)
            yield each

    try:
        # A run can have 100,000 episodes, so their usage is not kept in memory.
        totals = totals_of(usages())
    except DataError:
        return None
    told = RequiredInfoFigures.of(reports)
    latency = totals.latency
    shares = told and {name: share for name, share in told.shares.items() if share is not None}
    return RunUsage(totals.requests, totals.cost, latency and latency.p50, shares)


def _episodes(path: Path) -> Iterator[EpisodeUsage]:
    for number, raw in enumerate(read_raw_lines(path), start=1):
        where = f"{path}:{number}"
        line = parse_object(raw.decode("utf-8", "replace"), where)
        yield read(EpisodeUsage, upgrade_record(line), where)


def run_json(run: CatalogRun) -> dict[str, Any]:
    """Return a run of the catalog as JSON."""
    rate = run_figures(run).overall
    definition, progress = run.definition, run.progress
    return {
        "folder": str(run.folder),
        "state": run.state,
        "problem": run.problem,
        "created": run.created,
        "model": definition and definition.model,
        "dataset": definition and definition.dataset._asdict(),
        "profile": definition and definition.profile,
        "episodes": len(run.episodes),
        "errors": run.errors,
        "score": rate and rate.value,
        "interval": rate and rate.interval,
        "entries": rate.entries if rate else 0,
        **progress.to_json(),
        "resume": run.resume,
        **run.annotation.to_json(),
    }
