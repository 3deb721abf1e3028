"""Catalog of the runs in a folder, with the state, progress and command of each run.

The catalog reads only the id, trial, category and outcome of each episode. Therefore, it lists
thousands of runs fast.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from envs.errors import DataError
from runner.extension import RunFeature, recorded_features
from runner.records import bfcl_result_file
from runner.records.annotations import NOTHING, TagsAndNote, read_annotations
from runner.records.durable_files import LOCK_FILE, RUN_FILE, read_raw_lines, read_run_text
from runner.records.episode_record import EpisodeRecord, Outcome, RunProgress
from runner.records.json_codec import read
from runner.records.recorded_run import is_run
from runner.records.run_definition import RunDefinition, RunFile
from runner.records.run_files import EPISODES_FILE, read_run_file
from runner.records.secret_finder import MASK
from trajectories.jsonl import parse_object

State = Literal["finished", "unfinished", "running", "damaged", "unknown", "recorded"]

_OUTCOMES: Mapping[bytes, Outcome] = {b"passed": "passed", b"failed": "failed", b"error": "error"}
_MAX_FOLDER_DEPTH = 6
_BEGINNING = re.compile(
    rb'\{"id":"([^"\\]*)","trial":(\d{1,6}),"category":"([^"\\]*)",'
    rb'"outcome":"(passed|failed|error)"(?:,"base":"([^"\\]*)"|(?!,"base"))'
)
"""Pattern for the start of each line of ``episodes.jsonl``."""


class CatalogRun(NamedTuple):
    """One run folder."""

    folder: Path
    state: State
    """State of the run. ``unknown``: the planned number of episodes is unknown. ``recorded``: a
    folder of result files.
    """
    episodes: tuple[EpisodeRecord, ...] = ()
    """Short records of the finished episodes."""
    planned: int | None = None
    definition: RunDefinition | None = None
    created: str = ""
    command: tuple[str, ...] = ()
    problem: str | None = None
    features: tuple[RunFeature, ...] = ()
    annotation: TagsAndNote = NOTHING

    @property
    def progress(self) -> RunProgress:
        """Finished and planned episodes."""
        return RunProgress.of([e.key for e in self.episodes], self.planned, self.features)

    @property
    def errors(self) -> int:
        """Number of episodes that ended in an error."""
        return sum(episode.outcome == "error" for episode in self.episodes)

    @property
    def resume(self) -> tuple[str, ...] | None:
        """Command that resumes the run; None if it is unknown or the run is finished."""
        left = self.state == "unfinished" or (self.state == "finished" and self.errors)
        if not left or len(self.command) < 2:
            return None
        only = ("--only", "errors") if self.state == "finished" else ()
        beside_others = any(feature.has_siblings for feature in self.features)
        folder = self.folder.parent if beside_others else self.folder
        return ("turnwise", self.command[1], "--resume", str(folder), *only)


def started_with(folder: Path, given: Sequence[str]) -> list[str]:
    """Return the command line that started a run, without the arguments for its folder.

    Args:
        folder: A run folder, or a folder with several runs of one command.
        given: Arguments of the command that resumes the run.

    Raises:
        DataError: The command is unknown, or ``given`` lacks one of its secrets.
    """
    if not folder.is_dir():
        raise DataError("--resume", f"{folder} is not a folder")
    runs = [read_catalog_run(each) for each in run_folders(folder, 1)]
    # A run that began during a resume may record only the short command of the resume.
    run = max(
        runs, key=lambda each: any(w.startswith("--model") for w in each.command), default=None
    )
    if run is None or len(run.command) < 2:
        why = f"{folder} does not record the command that started the run"
        raise DataError("--resume", (run and run.problem) or why)
    words = [*run.command[1:]]
    for flag in ("--run-dir", "--resume", "--only"):
        words = _without(words, flag)
    for word in words:
        if MASK in word:
            flag = word.partition("=")[0] if word.startswith("--") else words[words.index(word) - 1]
            if flag not in given:
                raise DataError(
                    "--resume", f"the run does not store the secret {flag}; add {flag} again"
                )
            words = _without(words, flag)
    return words


def update_state(run: CatalogRun) -> CatalogRun:
    """Return a run with its current state: check again whether a process still writes the run."""
    if run.state not in ("unfinished", "running"):
        return run
    state: State = "running" if _is_being_written(run.folder) else "unfinished"
    return run._replace(state=state)


def read_catalog_run(folder: Path) -> CatalogRun:
    """Return the run in a folder, whatever its state."""
    try:
        annotation = read_annotations(folder).get(None, NOTHING)
        if not is_run(folder):
            return CatalogRun(folder, "recorded", annotation=annotation)
        file = read(RunFile, read_run_file(folder), str(folder / RUN_FILE))
        features = tuple(recorded_features(file.definition, str(folder / RUN_FILE)))
        episodes = tuple(_episodes(folder / EPISODES_FILE))
    except DataError as error:
        return CatalogRun(folder, "damaged", problem=str(error))
    planned, created, command = map(file.note.get, ("episodes", "created", "command"))
    known = planned if isinstance(planned, int) else None
    state: State = "unknown" if known is None else "unfinished"
    progress = RunProgress.of([each.key for each in episodes], known, features)
    if known is not None and not progress.is_unfinished:
        state = "finished"
    elif _is_being_written(folder):
        state = "running"
    words = command if isinstance(command, list) else []
    return CatalogRun(
        folder,
        state,
        episodes,
        known,
        definition=file.definition,
        created=str(created or ""),
        command=tuple(map(str, words)),
        features=features,
        annotation=annotation,
    )


def run_folders(
    folder: Path, deepest: int = _MAX_FOLDER_DEPTH, *, results: bool = False
) -> Iterator[Path]:
    """Yield the run folders in and below a folder, without following links.

    With ``results``, folders of result files count as runs.
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
    if results and bfcl_result_file.has_result_file(files):
        yield folder
        return
    for name in sorted(inside) if deepest else ():
        if not name.startswith("."):
            yield from run_folders(folder / name, deepest - 1, results=results)


def _episodes(path: Path) -> Iterator[EpisodeRecord]:
    for number, raw in enumerate(read_raw_lines(path), start=1):
        found = _BEGINNING.match(raw)
        if found is None:
            where = f"{path}:{number}"
            value = parse_object(raw.decode("utf-8", "replace"), where)
            yield EpisodeRecord.from_json(value, where).outline
            continue
        id, trial, category, outcome, base = found.groups()
        record = EpisodeRecord(
            id.decode(), int(trial), category.decode(), _OUTCOMES[outcome], None, None
        )
        yield record if base is None else record._replace(base=base.decode())


def _is_being_written(folder: Path) -> bool:
    try:
        holder = int(read_run_text(folder / LOCK_FILE))
        os.kill(holder, 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _without(words: list[str], flag: str) -> list[str]:
    kept: list[str] = []
    skips = False
    for word in words:
        if not skips and word != flag and not word.startswith(f"{flag}="):
            kept.append(word)
        skips = word == flag
    return kept
