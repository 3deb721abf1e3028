"""Opening a recorded run, of whatever form: a run folder of ours, or result files of BFCL.

All that looks at runs begins here. Only what is asked for is parsed: a large run takes seconds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkers.profile import PROFILES, Mode, Profile
from envs.lazy import lazily
from runner.extension import recorded_features
from runner.records import result_file
from runner.records.codec import read
from runner.records.files import lines
from runner.records.record import EpisodeRecord, Key, Life, Recorded, RunDefinition, RunFile
from runner.records.run_files import (
    EPISODES_FILE,
    LIVES_FILE,
    RUN_FILE,
    TOOLS_FILE,
    once,
    read_run_file,
    tools_of,
)
from trajectories.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from checkers.replies import formats
else:
    # Few runs have a format of their own.
    formats = lazily("checkers.replies.formats")

_FEW = 8
"""Up to so many tool lists are looked for in their file before anything of it is read."""


@dataclass(frozen=True)
class Run:
    """A recorded run.

    Attributes:
        name: The model's, or what the file or folder is called.
        path: Where it is.
        episodes: By trajectory and trial, in the order of the files.
        definition: What defines a run of ours; None of result files.
        note: What else was kept of its start.
        lives: How long each sitting of a run of ours took; one that was killed is not among them.
    """

    name: str
    path: Path
    episodes: Mapping[Key, Recorded]
    definition: RunDefinition | None = None
    note: Mapping[str, Any] = field(default_factory=dict)
    lives: Sequence[Life] = ()

    def __repr__(self) -> str:
        """Return what it is; its episodes are no matter of one line."""
        return f"Run({self.name!r}: {len(self.episodes)} episodes; {self.path})"

    @property
    def profile(self) -> Profile | None:
        """How the run was executed and judged; None where it does not say."""
        return PROFILES[self.definition.profile] if self.definition else None

    @property
    def records(self) -> Iterator[EpisodeRecord]:
        """The records of the episodes."""
        return (recorded.record for recorded in self.episodes.values())

    @property
    def ids(self) -> list[str]:
        """The trajectories, each once."""
        return list(dict.fromkeys(id for id, _ in self.episodes))

    def entries(self) -> dict[str, Recorded]:
        """Return the episodes by trajectory, of a run with one trial.

        Raises:
            DataError: It has several of a trajectory.
        """
        for id, trial in self.episodes:
            if trial:
                raise DataError(str(self.path), f"has several trials of {id}; one is judged here")
        return {id: recorded for (id, _), recorded in self.episodes.items()}

    def episode(self, id: str, trial: int) -> Recorded:
        """Return one episode.

        Raises:
            DataError: There is none.
        """
        if (id, trial) not in self.episodes:
            trials = ", ".join(str(known) for name, known in sorted(self.episodes) if name == id)
            if not trials:
                raise DataError(str(self.path), f"{id!r:.200} is not an entry of this run")
            raise DataError(str(self.path), f"has no trial {trial} of {id}; it has {trials}")
        return self.episodes[id, trial]

    def tools(self, digests: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the tool lists that steps name, by digest.

        Raises:
            DataError: The file cannot be read, or lacks one.
        """
        wanted = list(digests)
        known = self.kept_tools(wanted)
        for digest in wanted:
            if digest not in known:
                raise DataError(str(self.path / TOOLS_FILE), f"has no tool list {digest!r}")
        return known

    def kept_tools(self, digests: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return those of these tool lists that the run has, by digest.

        Raises:
            DataError: The file cannot be read.
        """
        wanted = list(digests)
        # Of one episode few of a thousand lists are wanted, which take long to read.
        parts = [digest.encode("utf-8", "replace") for digest in wanted[:_FEW]]
        some = parts if len(parts) == len(wanted) else []
        known = dict(tools_of(line) for line in lines(self.path / TOOLS_FILE, *some))
        return {digest: known[digest] for digest in wanted if digest in known}


def open_run(*paths: Path, mode: Mode | None = None, only: str | None = None) -> Run:
    """Read a recorded run.

    Args:
        paths: A run folder of ours; or one or more result files, or folders of such.
        mode: How the model of result files called functions; by default this is seen from them.
        only: The trajectory whose episodes are wanted; by default all are.

    Raises:
        DataError: There is no run, something in it cannot be read, or it has nothing of ``only``.
    """
    path = paths[0]
    run = _of_folder(path, only) if is_run(path) else _of_results(paths, mode, only)
    if only is not None and not run.episodes:
        hint = did_you_mean(only, open_run(*paths, mode=mode).ids)
        raise DataError(str(path), f"{only!r} is not an entry of this run{hint}")
    return run


def read_run(folder: Path) -> Run:
    """Read a run folder of ours.

    Raises:
        DataError: There is none, or something in it cannot be read.
    """
    return _of_folder(folder, None)


def records_in(folder: Path) -> Iterator[EpisodeRecord]:
    """Yield the records of a run folder of ours, one by one: none of them is held.

    Raises:
        DataError: One cannot be read.
    """
    for line in lines(folder / EPISODES_FILE):
        yield EpisodeRecord.from_json(line.value, line.where)


def lives_in(folder: Path) -> list[Life]:
    """Return how long the sittings of a run folder took, as far as that was kept.

    Raises:
        DataError: The file cannot be read.
    """
    return [read(Life, line.value, line.where) for line in lines(folder / LIVES_FILE)]


def is_run(path: Path) -> bool:
    """Tell whether there is a run folder of ours."""
    return os.path.exists(f"{path}/{RUN_FILE}")


def _of_folder(folder: Path, only: str | None) -> Run:
    file = folder / RUN_FILE
    _, definition, note = read(RunFile, read_run_file(folder), str(file))
    if definition.profile not in PROFILES:
        known = " or ".join(PROFILES)
        message = f"$.definition.profile: must be {known}, is {definition.profile!r}"
        raise DataError(str(file), message)
    reader = _reader_of(definition, str(file))
    mode = definition.settings.mode
    episodes: dict[Key, Recorded] = {}
    # As the run store writes it, so that only lines that have it somewhere are parsed.
    wanted = b"" if only is None else json.dumps(only).encode()
    for line in lines(folder / EPISODES_FILE, wanted):
        if only is None or line.value.get("id") == only:
            record = EpisodeRecord.from_json(line.value, line.where)
            episodes[once(record.key, episodes, line)] = Recorded(record, mode, line.where, reader)
    return Run(definition.model, folder, episodes, definition, note, lives_in(folder))


def _reader_of(definition: RunDefinition, where: str) -> formats.ReplyFormat | None:
    """Return what reads the answers of a run in a prompt format of its own.

    Raises:
        DataError: There is no such format any more.
    """
    readers = [each.reader(where) for each in recorded_features(definition, where)]
    return next((reader for reader in readers if reader is not None), None)


def _of_results(paths: Iterable[Path], mode: Mode | None, only: str | None) -> Run:
    found: dict[Key, Recorded] = {}
    first, *_ = paths
    for file in result_file.find(paths):
        for recorded in result_file.read(file, mode):
            if recorded.record.key in found:
                earlier = found[recorded.record.key].where
                message = f"{recorded.id} is in {earlier} too; score one run at a time"
                raise DataError(recorded.where, message)
            found[recorded.record.key] = recorded
    if not found:
        raise DataError(str(first), "holds no entry")
    if only is not None:
        found = {key: recorded for key, recorded in found.items() if key[0] == only}
    return Run(Path(realpath(first)).name.removesuffix(".json"), first, found)
