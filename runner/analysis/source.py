"""Opening a recorded run, of whatever form: a run folder of ours, or BFCL's result files.

All that looks at episodes begins here: what was recorded, which data it is of, and what becomes of
an episode when it is executed and judged once more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from checkers.profile import PROFILES, Mode, Profile
from checkers.replies.decoding import Step
from runner.data import choose
from runner.data.choose import Notify
from runner.records import result_file
from runner.records.store import EPISODES_FILE, RUN_FILE, Key, Record, Run, read_run
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

if TYPE_CHECKING:
    from checkers.replies.single_turn import FormatReader


class Recorded(NamedTuple):
    """One recorded episode."""

    id: str
    trial: int
    turns: Sequence[Sequence[Step]] | None
    """Turns of steps; None where there is an error instead."""
    mode: Mode
    """How the model called functions."""
    record: Mapping[str, Any] | None = None
    """The episode's record in a run folder of ours."""
    error: str | None = None
    """Why there are no steps."""
    reader: FormatReader | None = None
    """How text is read, where it was asked for in another format than the usual one."""


class RunSource(NamedTuple):
    """A recorded run."""

    name: str
    """The model's, or what the file or folder is called."""
    path: Path
    episodes: dict[Key, Recorded]
    """By trajectory and trial."""
    definition: Mapping[str, Any] | None = None
    """What defines a run of ours."""

    @property
    def profile(self) -> Profile | None:
        """How the run was executed and judged; None where it does not say."""
        return PROFILES[self.definition["profile"]] if self.definition else None

    def episode(self, id: str, trial: int) -> Recorded:
        """Return one episode.

        Raises:
            DataError: There is none.
        """
        if (id, trial) not in self.episodes:
            trials = ", ".join(str(known) for name, known in sorted(self.episodes) if name == id)
            raise DataError(str(self.path), f"has no trial {trial} of {id}; it has {trials}")
        return self.episodes[id, trial]


def open_run(path: Path, mode: Mode | None = None) -> RunSource:
    """Read a recorded run.

    Args:
        path: A run folder of ours, a result file, or a folder of result files.
        mode: How the model of result files called functions; by default this is seen from them.

    Raises:
        DataError: It is none of these, or something in it cannot be read.
    """
    if (path / RUN_FILE).exists():
        run = read_run(path)
        return _source(run, run.episodes())
    runs = choose.recorded_runs(path, mode=mode)
    episodes = {
        (id, 0): Recorded(id, 0, entry.turns, how, error=_error_in(entry.turns))
        for id, (entry, how) in runs.items()
    }
    return RunSource(path.resolve().name.removesuffix(".json"), path, episodes)


def open_trajectory(path: Path, id: str, mode: Mode | None = None) -> RunSource:
    """Read the episodes of one trajectory, and no others: parsing a large run takes seconds.

    Args:
        path: As for ``open_run``.
        id: The trajectory.
        mode: As for ``open_run``.

    Raises:
        DataError: The run cannot be read, or has no such episode.
    """
    if (path / RUN_FILE).exists():
        run = _source(read_run(path), _records_of(path / EPISODES_FILE, id))
    else:
        run = open_run(path, mode)
        found = {key: recorded for key, recorded in run.episodes.items() if key[0] == id}
        run = run._replace(episodes=found)
    if not run.episodes:
        raise DataError(str(path), f"{id!r} is not an entry of this run{_hint(id, path, mode)}")
    return run


def dataset_of(run: RunSource, name: str | None, notify: Notify) -> Dataset:
    """Load the data set that a run is of.

    Args:
        run: The run.
        name: What the user says that it is of; by default the run says so, or its ids do.
        notify: Told when the data is not what it was when the run was made.

    Raises:
        DataError: The data cannot be loaded.
    """
    if run.definition is None:
        ids = [id for id, _ in run.episodes]
        named = any(result_file.category_of(id) for id in ids)
        wanted = result_file.categories_of(ids)
        return _ready(choose.dataset(name or ("bfcl" if named else None), wanted, notify), run)
    then = run.definition["dataset"]
    name = name or (None if then["name"] == "turnwise" else then["name"])
    wanted = choose.categories(run.definition["selection"]["category"], name)
    dataset = choose.dataset(name, wanted, notify)
    change = data_change(run, dataset)
    if change is not None:
        notify(f"{run.path}: {change}")
    return _ready(dataset, run)


def _ready(dataset: Dataset, run: RunSource) -> Dataset:
    """Return a data set of which all that a run has can be judged."""
    known = dataset.trajectories
    choose.require_languages(known[id] for id, _ in run.episodes if id in known)
    return dataset


def data_change(run: RunSource, dataset: Dataset) -> str | None:
    """Say how a data set differs from the one that a run was made with, or None."""
    then = run.definition["dataset"] if run.definition else None
    if then is None or then["sha256"] == dataset.sha256:
        return None
    return (
        f"the data is not what it was: {dataset.name} {dataset.version} now has sha256 "
        f"{dataset.sha256[:12]}, it was {then['name']} {then['version']} with {then['sha256'][:12]}"
    )


def _records_of(path: Path, id: str) -> Iterator[Record]:
    """Yield the records of one trajectory's episodes."""
    # As the run store writes it, so that only lines that have it somewhere are parsed.
    written = json.dumps(id).encode()
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if written in line and line.endswith(b"\n"):
                    record = parse_object(line.decode(errors="replace"), f"{path}:{number}")
                    if record.get("id") == id:
                        yield record
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None


def _source(run: Run, records: Iterable[Record]) -> RunSource:
    """Return a run folder of ours with some of its records.

    Raises:
        DataError: Its definition lacks what is needed to execute it once more.
    """
    match run.definition:
        case {
            "model": str(model),
            "settings": {"mode": "fc" | "prompt" as mode},
            "dataset": {"name": str(), "version": str(), "sha256": str()},
            "selection": {"category": str() | None},
            "profile": str(profile),
            "step_limit": int(),
        } if profile in PROFILES:
            reader = _reader_of(run.definition)
            found = [_recorded(run, record, mode)._replace(reader=reader) for record in records]
            episodes = {(each.id, each.trial): each for each in found}
            return RunSource(model, run.folder, episodes, run.definition)
    raise DataError(str(run.folder / RUN_FILE), "does not say what is needed to execute it again")


def _reader_of(definition: Mapping[str, Any]) -> FormatReader | None:
    """Return what reads the answers of a run in a format of its own.

    Raises:
        DataError: There is no such format any more.
    """
    if "prompt_format" not in definition:
        return None
    # Imported here, since few runs have one, and it takes longer than to read a run.
    from runner.models.prompting import format_of

    found = format_of(definition)
    return found and found.reader


def _recorded(run: Run, record: Record, mode: Mode) -> Recorded:
    """Return the episode of a record.

    Raises:
        DataError: The record is none.
    """
    match record:
        case {"id": str(id), "trial": int(trial), "outcome": str(), "error": str() | None}:
            turns = record.get("result")
            error = None if turns is not None else record["error"] or "there is no record of steps"
            return Recorded(id, trial, turns, mode, record, error)
    raise DataError(str(run.folder), f"a record of {record.get('id')!r} is not an episode's")


def _error_in(turns: Sequence[Sequence[Step]] | None) -> str | None:
    return "there is an error where steps should be" if turns is None else None


def _hint(id: str, path: Path, mode: Mode | None) -> str:
    close = get_close_matches(id, {id for id, _ in open_run(path, mode).episodes}, n=1)
    return f"; did you mean {close[0]}?" if close else ""
