"""Storage of a run in progress: definition, finished episodes, answers so far and offered tools.

A written line never changes. Answers of unfinished episodes are written when they arrive. A killed
run loses at most an unfinished last line, and each episode resumes from its last answer. A thread
syncs the files to disk, because the wait for the disk would delay all episodes. A power failure may
lose the last few lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from envs.errors import DataError
from envs.lazy_modules import lazy_module
from envs.state import ABSENT
from runner.records.durable_files import (
    LOCK_FILE,
    RUN_FILE,
    FileLine,
    LineFile,
    LockedFolder,
    WriteError,
    lock_folder,
    read_lines,
    read_raw_lines,
    report_write_errors,
    sync_folder,
    unfinished_path,
    write_whole,
)
from runner.records.episode_record import (
    FORMAT,
    EpisodeRecord,
    Key,
    Outcome,
    ResumableStep,
    RunSegment,
    RunSpending,
    StepRecord,
)
from runner.records.json_codec import EncodedJson, encode, members_of, read
from runner.records.run_definition import RunDefinition
from runner.records.run_file_mask import SecretMask
from runner.records.run_files import (
    EPISODES_FILE,
    LIVES_FILE,
    SUPERSEDED_FILE,
    TOOLS_FILE,
    UNDERWAY_FILE,
    read_run_file,
    require_unseen,
    tools_of,
)
from runner.records.secret_finder import MASK

if TYPE_CHECKING:
    from concurrent import futures
else:
    # Only runs in progress need threads.
    futures = lazy_module("concurrent.futures")

_NEXT_SUPERSEDED_FILE = "superseded.next"
_MAX_MODEL_NAME_CHARS = 60
_MAX_OBSOLETE_BYTES = 64_000_000
"""The answers file is rewritten when the answers of finished episodes exceed this size."""
_BEFORE_STEP = b'"step":'
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class EpisodeSink(Protocol):
    """Interface that receives the finished episodes of a run, such as ``RunStore``."""

    def append(self, record: EpisodeRecord) -> None:
        """Add a finished episode."""
        ...

    def put_tools(self, digest: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Store a tool list before an episode refers to the list."""
        ...

    def put_step(self, step: ResumableStep, spent: RunSpending) -> None:
        """Store an answer of an unfinished episode and the budget spent so far."""
        ...


class _AnswerLine(NamedTuple):
    id: str
    trial: int
    step: EncodedJson
    message: Mapping[str, Any]
    spent: RunSpending


class _StoredAnswer(NamedTuple):
    """Position of a line in the file of answers. The line stays on disk to save memory."""

    place: int
    begin: int
    end: int
    step: StepRecord | None = None
    """The step, if this process wrote the line."""
    text: slice = slice(0)
    """Position of the step's text in the line."""


class _SpendingLine(NamedTuple):
    spent: RunSpending


class RunStore(LockedFolder):
    """A run folder that only this process writes to; ``create`` and ``resume`` return a store."""

    def __init__(
        self,
        folder: Path,
        definition: RunDefinition,
        note: Mapping[str, Any],
        secrets: Sequence[str],
        said: Callable[[str], str],
        *,
        resumes: bool,
    ) -> None:
        self.folder = folder
        self.secrets = SecretMask(secrets, said)
        """Object that masks secrets and counts them."""
        self.spent = RunSpending()
        """Budget spent so far."""
        self.lost_tools: set[str] = set()
        """Digests of missing tool lists that episodes use."""
        self._done: dict[Key, Outcome] = {}
        self._underway: dict[Key, list[_StoredAnswer]] = {}
        self._obsolete = 0
        self._steps: LineFile | None = None
        self._digests: set[str] = set()
        with ExitStack() as opened:
            opened.enter_context(lock_folder(folder))
            self._begin(definition, note, resumes)
            self._tools = LineFile(folder / TOOLS_FILE)
            opened.callback(self._tools.close)
            self._episodes = LineFile(folder / EPISODES_FILE)
            opened.callback(lambda: self._episodes.close())
            self._episodes.lock()
            opened.callback(self._close_steps)
            self._load()
            sync_folder(folder)
            self._syncing: futures.Future[None] | None = None
            opened.callback(self._sync)
            opened.callback(self._leave_underway)
            opened.callback(self._wait_for_disk)
            self._syncer = opened.enter_context(futures.ThreadPoolExecutor(max_workers=1))
            self._opened = opened.pop_all()

    @classmethod
    def create(
        cls,
        folder: Path,
        definition: RunDefinition,
        *,
        note: Mapping[str, Any] | None = None,
        secrets: Sequence[str] = (),
        said: Callable[[str], str] = lambda _: "",
    ) -> RunStore:
        """Start a run in a new or empty folder.

        Raises DataError if the folder holds a run, is in use, or cannot be written.

        Args:
            folder: A new or empty folder.
            definition: All settings that determine the run's result.
            note: Other facts about the start: time, command line, concurrency, budgets.
            secrets: Strings written as ``***``, unless they are ordinary words of the data.
            said: Function that returns the text of a trajectory by id. The text contains no secret.
        """
        with report_write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, definition, note or {}, secrets, said, resumes=False)

    @classmethod
    def resume(
        cls,
        folder: Path,
        definition: RunDefinition,
        *,
        note: Mapping[str, Any] | None = None,
        secrets: Sequence[str] = (),
        said: Callable[[str], str] = lambda _: "",
    ) -> RunStore:
        """Resume a run. If the run was killed before its first write, start it; see ``create``.

        Raises DataError if the folder has no readable run of this definition, is in use, or is
        read-only.
        """
        if not (folder / RUN_FILE).exists() and not _is_unused(folder):
            raise DataError(str(folder), f"contains no run: {RUN_FILE} is missing")
        return cls(folder, definition, note or {}, secrets, said, resumes=True)

    @property
    def done(self) -> Mapping[Key, Outcome]:
        """Outcomes of the finished episodes."""
        return self._done

    def append(self, record: EpisodeRecord) -> None:
        """Write a finished episode; a thread syncs the file to disk later.

        Raises DataError if the file cannot be written.
        """
        key, outcome = record.key, record.outcome
        if outcome is None:
            raise ValueError(f"episode {key} is not finished")
        if key in self._done:
            raise ValueError(f"the run already contains episode {key}")
        self._episodes.append(self.secrets.of_episode(record.present(), self._written(record)))
        self._done[key] = outcome
        self._obsolete += sum(each.end - each.begin for each in self._underway.pop(key, ()))
        if self._obsolete > _MAX_OBSOLETE_BYTES:
            self._wait_for_disk()
            self._write_underway()
        if self._syncing is None or self._syncing.done():
            self._wait_for_disk()
            self._syncing = self._syncer.submit(self._sync)

    def put_tools(self, digest: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Store a tool list before the first episode that uses the list; later calls do nothing.

        Raises DataError if the file cannot be written.
        """
        if digest not in self._digests:
            self._tools.append(self.secrets.of_tools({"digest": digest, "tools": tools}))
            self._digests.add(digest)
            self.lost_tools.discard(digest)

    def put_step(self, step: ResumableStep, spent: RunSpending) -> None:
        """Store the spent budget and the answer; omit an answer that contains a secret.

        Raises DataError if the file cannot be written.
        """
        self.spent = spent
        text = EncodedJson(encode(step.step))
        raw = self.secrets.of_step(_AnswerLine(step.id, step.trial, text, step.message, spent))
        if raw is not None:
            self._steps = self._steps or LineFile(self.folder / UNDERWAY_FILE)
            end = self._steps.append(raw)
            start = raw.index(_BEFORE_STEP) + len(_BEFORE_STEP)
            place = slice(start, start + len(text))
            self._go_on(step.key, _StoredAnswer(step.place, end - len(raw), end, step.step, place))

    def put_life(self, life: RunSegment) -> None:
        """Store the duration of a finished segment of the run.

        Raises DataError if the file cannot be written.
        """
        if not self._episodes.is_in_place():
            return
        file = LineFile(self.folder / LIVES_FILE)
        for _ in file.mended():
            pass
        file.append(json.dumps(members_of(life), allow_nan=False).encode() + b"\n")
        file.close()

    def underway(self, key: Key) -> list[ResumableStep]:
        """Return the answers of an unfinished episode, in order."""
        lines = map(json.loads, map(self._read_answer, self._underway.get(key, ())))
        return [read(ResumableStep, line, UNDERWAY_FILE) for line in lines]

    def supersede(self, keys: Collection[Key], *, go_on: bool = False) -> None:
        """Run finished episodes again: move their records to the file of superseded episodes.

        With ``go_on``, the moved episodes resume from their last answer. If the process is killed,
        either all episodes or no episodes are moved. Raises DataError if a file cannot be read or
        written.
        """
        keys = self._done.keys() & set(keys)
        if not keys:
            return
        self._wait_for_disk()
        path, upcoming = self.folder / EPISODES_FILE, self.folder / _NEXT_SUPERSEDED_FILE
        superseded = self.folder / SUPERSEDED_FILE
        if go_on:
            self._take_up(line for line in read_lines(path) if _episode_of(line)[0] in keys)
        taken = (line.raw for line in read_lines(path) if _episode_of(line)[0] in keys)
        write_whole(upcoming, chain(read_raw_lines(superseded), taken))
        # This write moves them; without it, `upcoming` has no effect.
        others = (line.raw for line in read_lines(path) if _episode_of(line)[0] not in keys)
        write_whole(path, others)
        self._episodes.close()
        self._episodes = LineFile(path)
        self._episodes.lock()
        for key in keys:
            del self._done[key]
        with report_write_errors(superseded):
            upcoming.replace(superseded)
        sync_folder(self.folder)

    def _begin(self, definition: RunDefinition, note: Mapping[str, Any], resumes: bool) -> None:
        path = self.folder / RUN_FILE
        run = {"format": FORMAT, "definition": definition.to_json(), "note": note}
        encoded = self.secrets.of_run(run)
        if resumes and path.exists():
            then, now = read_run_file(self.folder), json.loads(encoded)
            _compare(self.folder, then["definition"], now["definition"])
            return
        if any((self.folder / name).exists() for name in (RUN_FILE, EPISODES_FILE, TOOLS_FILE)):
            why = "already contains a run; resume it with --resume, or choose another folder"
            raise DataError(str(self.folder), why)
        write_whole(path, [encoded])

    def _load(self) -> None:
        for line in self._tools.mended():
            self._digests.add(require_unseen(tools_of(line)[0], self._digests, line))
            self.secrets.spare(line.raw.decode(), "a tool list")
        for line in self._episodes.mended():
            key, outcome = _episode_of(line)
            self._done[require_unseen(key, self._done, line)] = outcome
            self.lost_tools.update(_tools_named(line))
        self.lost_tools -= self._digests
        self._load_underway()
        with report_write_errors(self.folder):
            self._finish_superseding()
            for name in (RUN_FILE, EPISODES_FILE, UNDERWAY_FILE, _NEXT_SUPERSEDED_FILE):
                unfinished_path(self.folder / name).unlink(missing_ok=True)

    def _load_underway(self) -> None:
        path, found = self.folder / UNDERWAY_FILE, 0
        if not path.exists():
            return
        self._steps = LineFile(path)
        for line in self._steps.mended():
            found += 1
            self.spent = read(_SpendingLine, line.value, line.where).spent
            if "step" in line.value:
                answered = read(ResumableStep, line.value, line.where)
                begin = line.end - len(line.raw)
                self._go_on(answered.key, _StoredAnswer(answered.place, begin, line.end))
        for key in self._done.keys() & self._underway.keys():
            del self._underway[key]
        if found > sum(map(len, self._underway.values())):
            self._write_underway()

    def _read_answer(self, kept: _StoredAnswer) -> bytes:
        assert self._steps is not None
        return self._steps.read(kept.begin, kept.end)

    def _written(self, record: EpisodeRecord) -> dict[str, Sequence[object]]:
        """Return the ``steps`` field; reuse the text of steps that this process already wrote."""
        kept = self._underway.get(record.key, ())
        texts = {id(each.step): self._read_answer(each)[each.text] for each in kept if each.step}
        steps = [EncodedJson(texts[id(s)].decode()) if id(s) in texts else s for s in record.steps]
        return {"steps": steps} if texts else {}

    def _go_on(self, key: Key, kept: _StoredAnswer) -> None:
        """Add an answer; it replaces stored answers of the same ``place`` and of later places."""
        before = self._underway.setdefault(key, [])
        while before and before[-1].place >= kept.place:
            before.pop()
        before.append(kept)

    def _take_up(self, taken: Iterator[FileLine]) -> None:
        for line in taken:
            record = EpisodeRecord.from_json(line.value, line.where)
            if MASK.encode() not in line.raw:
                for step in record.answered:
                    self.put_step(step, self.spent)
        self._write_underway()

    def _write_underway(self) -> None:
        path = self.folder / UNDERWAY_FILE
        last = json.dumps({"spent": members_of(self.spent)}, allow_nan=False).encode() + b"\n"
        kept = chain.from_iterable(self._underway.values())
        write_whole(path, chain(map(self._read_answer, kept), [last]))
        end = 0
        for answers in self._underway.values():
            for number, each in enumerate(answers):
                begin, end = end, end + each.end - each.begin
                answers[number] = each._replace(begin=begin, end=end)
        self._close_steps()
        self._steps = LineFile(path)
        self._obsolete = 0

    def _close_steps(self) -> None:
        if self._steps is not None:
            self._steps.close()

    def _leave_underway(self) -> None:
        with suppress(WriteError):
            if self._episodes.is_in_place() and (self._steps or self.spent != RunSpending()):
                self._write_underway()

    def _finish_superseding(self) -> None:
        """Complete or undo an interrupted move of episodes."""
        upcoming = self.folder / _NEXT_SUPERSEDED_FILE
        if not upcoming.exists():
            return
        *_, last = read_lines(upcoming)
        if _episode_of(last)[0] in self._done:
            upcoming.unlink()
        else:
            upcoming.replace(self.folder / SUPERSEDED_FILE)

    def _sync(self) -> None:
        # Tools first: no episode may name tools that a power failure lost.
        self._tools.sync()
        if self._steps is not None:
            self._steps.sync()
        self._episodes.sync()

    def _wait_for_disk(self) -> None:
        if self._syncing is not None:
            self._syncing.result()


def default_folder(model: str, now: datetime) -> Path:
    """Return the default folder of a run."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", model)[:_MAX_MODEL_NAME_CHARS].strip(".-")
    return Path("runs") / f"{now:%Y%m%d-%H%M%S}-{name or 'model'}"


def create_folder(folder: Path) -> Path:
    """Create a new folder and return its path; append a number to the name if necessary.

    Raises DataError if the folder cannot be created.
    """
    place, number = folder, 1
    while True:
        with report_write_errors(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                place.mkdir()
                return place
        number += 1
        place = folder.with_name(f"{folder.name}-{number}")


def _episode_of(line: FileLine) -> tuple[Key, Outcome]:
    match line.value:
        case {"id": str(id), "trial": int(trial), "category": str(), "outcome": outcome}:
            if outcome in ("passed", "failed", "error"):
                return (id, trial), outcome
    raise DataError(
        line.where, 'must have "id", "trial", "category" and "outcome" (passed, failed or error)'
    )


def _tools_named(line: FileLine) -> Iterator[str]:
    steps = line.value.get("steps")
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and isinstance(step.get("tools"), str):
            yield step["tools"]


def _compare(folder: Path, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    changes = [
        f"{path} was {a!r:.120} and is now {b!r:.120}"
        for path, a, b in _changes(then, now)
        if _meant(path, a, then) != _meant(path, b, now)
    ]
    if changes:
        why = f"the run started with other settings: {'; '.join(changes)}; use the same options"
        raise DataError(str(folder), f"{why} and environment variables, or start a new run")


def _meant(path: str, value: Any, definition: Mapping[str, Any]) -> Any:
    if path in ("dataset.name", "dataset.version"):
        # The hash identifies the data.
        return None
    if path == "settings.base_url" and isinstance(value, str):
        return server_meant(value)
    if path == "settings.function_docs" and value is None:
        return "bfcl" if definition["dataset"]["name"].partition(":")[0] == "bfcl" else "own"
    return value


def server_meant(address: str) -> tuple[str, str | None, str, str]:
    """Return an address without its port, because the port may change between runs."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return "", address, "", ""
    host = "localhost" if parts.hostname in _THIS_MACHINE else parts.hostname
    return parts.scheme, host, parts.path.rstrip("/"), parts.query


def _changes(
    then: Mapping[str, Any], now: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    for key in {**then, **now}:
        path = f"{prefix}{key}"
        old, new = then.get(key, ABSENT), now.get(key, ABSENT)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _changes(old, new, f"{path}.")
        elif old != new:
            yield path, old, new


def _is_unused(folder: Path) -> bool:
    """Tell whether a folder is empty; a lock file and an unfinished run file are ignored."""
    left = {LOCK_FILE, unfinished_path(Path(RUN_FILE)).name}
    return folder.is_dir() and all(path.name in left for path in folder.iterdir())
