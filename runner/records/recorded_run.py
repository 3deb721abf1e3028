"""Reader of run folders and BFCL's result files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from checkers.profile import PROFILES, Mode, Profile
from envs.errors import DataError, require_type, suggest_name
from envs.lazy_modules import lazy_module
from runner import extension
from runner.extension import recorded_features
from runner.records import bfcl_result_file
from runner.records.durable_files import RUN_FILE, read_lines
from runner.records.episode_record import (
    EpisodeRecord,
    Key,
    RecordedEpisode,
    RunProgress,
    RunSegment,
    progress_type,
)
from trajectories.dataset import pause_collector
from trajectories.jsonl import parse_object

if TYPE_CHECKING:
    from checkers.replies import formats
    from runner.records import annotations as annotating
    from runner.records import json_codec, run_files
    from runner.records import run_definition as definitions
    from runner.records.annotations import Annotations
    from runner.records.run_definition import RunDefinition
    from trajectories.dataset import Dataset
else:
    # Few runs have a prompt format of their own, and result files have no definition.
    formats = lazy_module("checkers.replies.formats")
    definitions = lazy_module("runner.records.run_definition")
    json_codec = lazy_module("runner.records.json_codec")
    annotating = lazy_module("runner.records.annotations")
    run_files = lazy_module("runner.records.run_files")

MAX_HELD_BYTES = 64_000_000
"""Episodes of files up to this size stay in memory; larger files are read on each use."""
_MAX_SEARCHED_LISTS = 8
"""If more tool lists are wanted, the whole file is parsed."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A recorded run."""

    name: str
    """Name of the model, the file or the folder."""
    path: Path
    episodes: Mapping[Key, RecordedEpisode]
    """Episodes by trajectory id and trial, in file order."""
    definition: RunDefinition | None = None
    """Settings that determine the run's result; None for result files."""
    note: Mapping[str, Any] = field(default_factory=dict)
    """Facts about the start of the run that do not determine its result."""
    lives: Sequence[RunSegment] = ()
    """One segment per start or resume; the segments of killed processes are missing."""
    dataset: Dataset | None = None
    """Data set that was read from another tool's files; None if these files hold no entries."""

    def __repr__(self) -> str:
        """Return name, number of episodes and path."""
        return f"Run({self.name!r}: {len(self.episodes)} episodes; {self.path})"

    @property
    def profile(self) -> Profile | None:
        """Profile that executed and judged the run; None for result files."""
        return PROFILES[self.definition.profile] if self.definition else None

    @property
    def records(self) -> Iterator[EpisodeRecord]:
        """The records of the episodes."""
        return (recorded.record for recorded in self.episodes.values())

    @cached_property
    def annotations(self) -> Annotations:
        """Tags and notes.

        Raises DataError if the file of annotations cannot be read.
        """
        return annotating.read_annotations(self.path)

    @property
    def progress(self) -> RunProgress | None:
        """Finished and planned episodes; None for result files."""
        if self.definition is None:
            return None
        features = recorded_features(self.definition, str(self.path / RUN_FILE))
        progress = progress_type(self.note)
        return progress.of(self.episodes.keys(), self.note.get("episodes"), features)

    @property
    def ids(self) -> list[str]:
        """Distinct ids of the trajectories."""
        return list(dict.fromkeys(id for id, _ in self.episodes))

    def entries(self) -> dict[str, RecordedEpisode]:
        """Return the episodes by trajectory id. Raises DataError if the run has several trials."""
        for id, trial in self.episodes:
            if trial:
                why = f"has several trials of {id}; use a run with one trial"
                raise DataError(str(self.path), why)
        return {id: recorded for (id, _), recorded in self.episodes.items()}

    def episode(self, id: str, trial: int) -> RecordedEpisode:
        """Return one episode. Raises DataError if the episode does not exist."""
        require_type("trial", trial, int, described="the number of a trial")
        if not isinstance(id, str) or (id, trial) not in self.episodes:
            trials = ", ".join(str(known) for name, known in sorted(self.episodes) if name == id)
            if not trials:
                raise DataError(str(self.path), f"{id!r:.200} is not an entry of this run")
            raise DataError(str(self.path), f"has no trial {trial} of {id}, only trial {trials}")
        return self.episodes[id, trial]

    def tools(self, digests: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return tool lists by digest.

        Raises DataError if the file cannot be read, or if a list is missing.
        """
        require_type("digests", digests, Iterable, described="digests of tool lists")
        known = self.kept_tools(wanted := [*map(str, digests)])
        if missing := [digest for digest in wanted if digest not in known]:
            where = str(self.path / run_files.TOOLS_FILE)
            raise DataError(where, f"has no tool list {missing[0]!r}")
        return known

    def kept_tools(self, digests: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the tool lists by digest; a digest without a stored tool list is left out.

        Raises DataError if the file cannot be read.
        """
        require_type("digests", digests, Iterable, described="digests of tool lists")
        wanted = [*map(str, digests)]
        # An episode needs few of a thousand lists, and parsing all lists takes long.
        parts = [digest.encode("utf-8", "replace") for digest in wanted[:_MAX_SEARCHED_LISTS]]
        some = parts if len(parts) == len(wanted) else []
        known = dict(map(run_files.tools_of, read_lines(self.path / run_files.TOOLS_FILE, *some)))
        return {digest: known[digest] for digest in wanted if digest in known}


def open_run(
    *paths: str | Path, mode: Mode | None = None, only: str | None = None, hold: bool = True
) -> Run:
    """Read a recorded run.

    Raises DataError if the run is missing, cannot be read, or lacks the entry with the id ``only``.

    Args:
        paths: A run folder, or one or more result files or folders of result files.
        mode: Way in which the model of result files called functions (default: detected).
        only: Id of the only wanted trajectory (default: all trajectories).
        hold: Whether the episodes of a small run folder stay in memory.
    """
    if not paths or not all(isinstance(path, (str, Path)) for path in paths):
        raise DataError("paths", f"must be one or more paths, but is {paths!r:.60}")
    require_type("only", only, str, None, described="the id of a trajectory or None")
    path, *_ = places = [Path(each) for each in paths]
    run = _of_folder(path, only, hold) if is_run(path) else _of_files(places, mode, only)
    if only is not None and not run.episodes:
        hint = suggest_name(only, open_run(*paths, mode=mode).ids)
        raise DataError(str(path), f"{only!r:.200} is not an entry of this run{hint}")
    return run


def read_run(folder: Path) -> Run:
    """Read a run folder. Raises DataError if the folder holds no run or cannot be read."""
    return _of_folder(folder, None, hold=True)


def read_records(folder: Path) -> Iterator[EpisodeRecord]:
    """Yield the records of a run folder one by one. Raises DataError if a record cannot be read."""
    for line in read_lines(folder / run_files.EPISODES_FILE):
        yield EpisodeRecord.from_json(line.value, line.where)


def read_segments(folder: Path) -> list[RunSegment]:
    """Return the finished segments of a run folder. Raises DataError if the file cannot be read."""
    lines = read_lines(folder / run_files.LIVES_FILE)
    return [json_codec.read(RunSegment, line.value, line.where) for line in lines]


def is_run(path: Path) -> bool:
    """Tell whether a path is a run folder."""
    return os.path.exists(f"{path}/{RUN_FILE}")


@pause_collector()
def _of_folder(folder: Path, only: str | None, hold: bool) -> Run:
    run, where = run_files.read_run_file(folder), str(folder / RUN_FILE)
    _, definition, note = json_codec.read(definitions.RunFile, run, where)
    if definition.profile not in PROFILES:
        why = f"must be {' or '.join(PROFILES)}, but is {definition.profile!r}"
        raise DataError(where, f"$.definition.profile: {why}")
    make = partial(_recorded, mode=definition.settings.mode, reader=_reader_of(definition, where))
    path = folder / run_files.EPISODES_FILE
    is_large = path.is_file() and path.stat().st_size > MAX_HELD_BYTES
    reads_on_use = only is None and (is_large or not hold)
    held: dict[Key, RecordedEpisode] = {}
    places: dict[Key, _LinePlace] = {}
    # Encoded as the store writes it, so that only lines that contain it are parsed.
    wanted = b"" if only is None else json.dumps(only).encode()
    for line in read_lines(path, wanted):
        if only is not None and line.value.get("id") != only:
            continue
        match line.value:
            case {"id": str(id), "trial": int(trial)} if reads_on_use:
                key: Key = id, trial  # the record is read on use
            case value:
                recorded = make(value, line.where)
                key = recorded.record.key
                held[key] = recorded
        run_files.require_unseen(key, places, line)
        places[key] = _LinePlace(line.end - len(line.raw), len(line.raw), line.where)
    episodes = _StoredEpisodes(path, places, make) if reads_on_use else held
    return Run(definition.model, folder, episodes, definition, note, read_segments(folder))


class _LinePlace(NamedTuple):
    offset: int
    size: int
    where: str


class _StoredEpisodes(Mapping[Key, RecordedEpisode]):
    def __init__(
        self,
        path: Path,
        places: Mapping[Key, _LinePlace],
        make: Callable[[dict[str, Any], str], RecordedEpisode],
    ) -> None:
        self._path = path
        self._places = places
        self._make = make

    def __getitem__(self, key: Key) -> RecordedEpisode:
        offset, size, where = self._places[key]
        try:
            with open(self._path, "rb") as file:
                file.seek(offset)
                text = file.read(size).decode("utf-8", "replace")
        except OSError as error:
            raise DataError(str(self._path), f"cannot be read: {error.strerror}") from None
        return self._make(parse_object(text, where, unique=False), where)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places


def _recorded(
    value: dict[str, Any], where: str, mode: Mode, reader: formats.ReplyFormat | None
) -> RecordedEpisode:
    return RecordedEpisode(EpisodeRecord.from_json(value, where), mode, where, reader)


def _reader_of(definition: RunDefinition, where: str) -> formats.ReplyFormat | None:
    readers = [each.reader(where) for each in recorded_features(definition, where)]
    return next((reader for reader in readers if reader is not None), None)


def _of_files(paths: Sequence[Path], mode: Mode | None, only: str | None) -> Run:
    try:
        return _of_results(paths, mode, only)
    except DataError:
        run = extension.read_run(paths)
        if run is None:
            raise
    if only is not None:
        run = replace(run, episodes={key: e for key, e in run.episodes.items() if key[0] == only})
    return run


def _of_results(paths: Iterable[Path], mode: Mode | None, only: str | None) -> Run:
    found: dict[Key, RecordedEpisode] = {}
    first, *_ = paths
    for file in bfcl_result_file.find_result_files(paths):
        for recorded in bfcl_result_file.read(file, mode):
            key = recorded.record.key
            if key in found:
                message = f"{recorded.id} is also in {found[key].where}; score one run at a time"
                raise DataError(recorded.where, message)
            found[key] = recorded
    if not found:
        raise DataError(str(first), "holds no entries")
    if only is not None:
        found = {key: recorded for key, recorded in found.items() if key[0] == only}
    return Run(Path(realpath(first)).name.removesuffix(".json"), first, found)
