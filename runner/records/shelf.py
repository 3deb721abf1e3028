"""Runs as they lie in a folder: which there are, how far they got, who is writing them.

Of an episode only which it is and what became of it is read, so that thousands of runs are listed
at once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from runner.extension import RunFeature, recorded_features
from runner.records import result_file
from runner.records.codec import read
from runner.records.files import LOCK_FILE, raw_lines
from runner.records.record import EpisodeRecord, Outcome, RunDefinition, RunFile
from runner.records.run import is_run
from runner.records.run_files import EPISODES_FILE, RUN_FILE, read_run_file
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

State = Literal["finished", "unfinished", "running", "damaged", "unknown", "recorded"]

Stamp = tuple[int, ...]

_OUTCOMES: Mapping[bytes, Outcome] = {
    b"passed": "passed",
    b"failed": "failed",
    b"error": "error",
}
_DEEPEST = 6
"""Folders below the one that is looked through in which runs are looked for."""
_BEGINNING = re.compile(
    rb'\{"id":"([^"\\]*)","trial":(\d{1,6}),"category":"([^"\\]*)",'
    rb'"outcome":"(passed|failed|error)"'
)
"""How the run store writes a line."""


class ShelvedRun(NamedTuple):
    """One run folder."""

    folder: Path
    state: State
    """Whether it has all of its episodes, or does not say how many these are; whether somebody is
    writing it, or it cannot be read; ``recorded`` is a folder of result files."""
    episodes: tuple[EpisodeRecord, ...] = ()
    """Those that finished, with nothing but which they are and what became of them."""
    planned: int | None = None
    """How many it is to have; None where it does not say."""
    definition: RunDefinition | None = None
    """What defines it; None where that cannot be read."""
    created: str = ""
    """When it was begun, as an ISO time."""
    command: tuple[str, ...] = ()
    """What began it."""
    problem: str | None = None
    """Why it cannot be read."""
    features: tuple[RunFeature, ...] = ()
    """What extensions changed in it."""

    @property
    def done(self) -> int:
        """How many of the planned episodes are there: attempts at an entry count once."""
        return _done(self.episodes, self.features)

    @property
    def errors(self) -> int:
        """How many episodes ended in an error that is not the model's."""
        return sum(episode.outcome == "error" for episode in self.episodes)

    @property
    def resume(self) -> tuple[str, ...] | None:
        """The command that goes on with it; None where that is not known or nothing is left."""
        left = self.state == "unfinished" or (self.state == "finished" and self.errors)
        if not left or len(self.command) < 2:
            return None
        words = ["turnwise", *self.command[1:]]
        for flag in ("--run-dir", "--resume", "--only"):
            words = _without(words, flag)
        only = ("--only", "errors") if self.state == "finished" else ()
        beside_others = any(feature.has_siblings for feature in self.features)
        folder = self.folder.parent if beside_others else self.folder
        return (*words, "--resume", str(folder), *only)


def shelved(folder: Path) -> Iterator[ShelvedRun]:
    """Yield the runs in a folder and below it, by their paths.

    Raises:
        DataError: There is no such folder.
    """
    if not folder.is_dir():
        raise DataError(str(folder), "is no folder")
    yield from map(shelved_run, run_folders(folder))


def stamp_of(folder: Path) -> Stamp:
    """Return what tells whether a run has changed: sizes, times and places of its files."""
    # Joined as texts: thousands of folders are looked at several times a minute.
    found = _stamp(f"{folder}/{RUN_FILE}") + _stamp(f"{folder}/{EPISODES_FILE}")
    if found:
        return found
    files = sorted(folder.rglob("*_result.json"))
    return tuple(part for file in files for part in _stamp(str(file)))


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def still_written(run: ShelvedRun) -> ShelvedRun:
    """Return a run of whose files none has changed; who wrote it may have gone, or come back."""
    if run.state not in ("unfinished", "running"):
        return run
    state: State = "running" if _is_written(run.folder) else "unfinished"
    return run._replace(state=state)


def shelved_run(folder: Path) -> ShelvedRun:
    """Return one run as it lies in its folder, whatever state it is in."""
    if not is_run(folder):
        return ShelvedRun(folder, "recorded")
    try:
        file = read(RunFile, read_run_file(folder), str(folder / RUN_FILE))
        features = tuple(recorded_features(file.definition, str(folder / RUN_FILE)))
        episodes = tuple(_episodes(folder / EPISODES_FILE))
    except DataError as error:
        return ShelvedRun(folder, "damaged", problem=str(error))
    note = file.note
    planned, created, command = (note.get(name) for name in ("episodes", "created", "command"))
    known = planned if isinstance(planned, int) else None
    state: State = "unknown" if known is None else "unfinished"
    if known is not None and _done(episodes, features) >= known:
        state = "finished"
    elif _is_written(folder):
        state = "running"
    words = command if isinstance(command, list) else []
    return ShelvedRun(
        folder,
        state,
        episodes,
        known,
        definition=file.definition,
        created=str(created or ""),
        command=tuple(map(str, words)),
        features=features,
    )


def run_folders(folder: Path, deepest: int = _DEEPEST, *, results: bool = False) -> Iterator[Path]:
    """Yield the folders in which a run lies, below one or it itself; links are not followed.

    Args:
        folder: Where to look.
        deepest: How many folders deep.
        results: Whether folders of result files are runs, too, with all that is below them.
    """
    if is_run(folder):
        yield folder
        return
    try:
        with os.scandir(folder) as found:
            inside: list[str] = []
            files: list[str] = []
            for entry in found:
                (inside if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    except OSError:
        return
    if results and result_file.is_among(files):
        yield folder
        return
    for name in sorted(inside) if deepest else ():
        if not name.startswith("."):
            yield from run_folders(folder / name, deepest - 1, results=results)


def _episodes(path: Path) -> Iterator[EpisodeRecord]:
    for number, raw in enumerate(raw_lines(path), start=1):
        found = _BEGINNING.match(raw)
        if found is None:
            where = f"{path}:{number}"
            record = EpisodeRecord.from_json(
                parse_object(raw.decode("utf-8", "replace"), where), where
            )
            yield record._replace(messages=(), steps=(), result=None)
            continue
        id, trial, category, outcome = found.groups()
        yield EpisodeRecord(
            id.decode(), int(trial), category.decode(), _OUTCOMES[outcome], None, None
        )


def _done(episodes: Sequence[EpisodeRecord], features: Sequence[RunFeature]) -> int:
    if any(feature.repeats_entries for feature in features):
        return len({episode.id for episode in episodes})
    return len(episodes)


def _is_written(folder: Path) -> bool:
    """Tell whether the process is there that last wrote a run."""
    try:
        holder = int((folder / LOCK_FILE).read_text(encoding="utf-8"))
        os.kill(holder, 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _without(words: list[str], flag: str) -> list[str]:
    """Return a command without an option that has a value."""
    kept: list[str] = []
    skips = False
    for word in words:
        if not skips and word != flag and not word.startswith(f"{flag}="):
            kept.append(word)
        skips = word == flag
    return kept
