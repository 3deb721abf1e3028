"""A run that is being written: what defines it, its finished episodes, the tools it was offered.

A line is written in one piece when its episode is done, and never edited. Until then each of its
answers is written down as it comes. At whatever moment a process is killed, opening the folder
again drops at most an unfinished last line, and an episode goes on from its last answer. Lines are
brought to the disk by a thread while the run goes on, since waiting for a disk would hold up all
episodes: a power failure may cost the last few, a kill costs none.
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

from envs.lazy import lazily
from envs.state import ABSENT
from runner.records.codec import WrittenText, members_of, read, text_of
from runner.records.files import (
    LOCK_FILE,
    FileLine,
    HeldFolder,
    LineFile,
    NotWritten,
    lines,
    locked,
    raw_lines,
    sync_folder,
    unfinished,
    write_whole,
    writing,
)
from runner.records.masking import Secrets
from runner.records.record import (
    FORMAT,
    AnsweredStep,
    EpisodeRecord,
    Key,
    Life,
    Outcome,
    RunDefinition,
    Spent,
    StepRecord,
)
from runner.records.run_files import (
    EPISODES_FILE,
    LIVES_FILE,
    RUN_FILE,
    SUPERSEDED_FILE,
    TOOLS_FILE,
    UNDERWAY_FILE,
    once,
    read_run_file,
    tools_of,
)
from runner.records.secret import MASK
from trajectories.errors import DataError

if TYPE_CHECKING:
    from concurrent import futures
else:
    # Only a run that is being written has a thread.
    futures = lazily("concurrent.futures")

_NEXT_SUPERSEDED_FILE = "superseded.next"
_LONGEST_MODEL_NAME = 60
_MOST_OBSOLETE = 64_000_000
"""Bytes of finished episodes that may stand among the requests of those that are not."""
_BEFORE_STEP = b'"step":'
"""What stands before a step in its line, and not within a text before it, where quotes are escaped.
"""
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class Keeps(Protocol):
    """What keeps the episodes of a run: its store, or what passes them on to it."""

    def append(self, record: EpisodeRecord) -> None:
        """Add a finished episode."""
        ...

    def put_tools(self, digest: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Keep a tool list, to be done before an episode names it."""
        ...

    def put_step(self, step: AnsweredStep, spent: Spent) -> None:
        """Keep an answer of an episode that is under way, and what the run has used so far."""
        ...


class _Underway(NamedTuple):
    """A line of answers: an ``AnsweredStep``, and what the run had used by then."""

    id: str
    trial: int
    step: WrittenText
    message: Mapping[str, Any]
    spent: Spent


class _Kept(NamedTuple):
    """An answer of an episode that is under way, as it is kept."""

    place: int
    raw: bytes
    """The line."""
    step: StepRecord | None = None
    """What the line was made of, by this process; a part of it is the record's text."""
    begin: int = 0
    end: int = 0

    @property
    def text(self) -> WrittenText:
        """The step's text in the line."""
        return WrittenText(self.raw[self.begin : self.end].decode())


class _WithSpent(NamedTuple):
    """A line that says what the run had used by then."""

    spent: Spent


class RunStore(HeldFolder):
    """A run that is being written, by this process and no other; made by create or resume.

    Args:
        folder: Where the run is; it exists.
        definition: Everything that defines the run's result.
        note: What else to keep of the run's start.
        secrets: Texts that are written as ``***``, unless they are ordinary words of the data.
        said: Returns what the data say in a trajectory, by its id.
        resumes: Whether the folder's run goes on, or a new one begins.

    Attributes:
        folder: Where the run is.
        secrets: What masks them, with what came of it.
        spent: What it has used so far.
        lost_tools: Digests of tool lists that episodes name and that are not kept any more.
    """

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
        self.secrets = Secrets(secrets, said)
        self.spent = Spent()
        self.lost_tools: set[str] = set()
        self._done: dict[Key, Outcome] = {}
        self._underway: dict[Key, list[_Kept]] = {}
        self._obsolete = 0
        self._steps: LineFile | None = None
        self._digests: set[str] = set()
        with ExitStack() as opened:
            opened.enter_context(locked(folder))
            self._begin(definition, note, resumes)
            self._tools = LineFile(folder / TOOLS_FILE)
            opened.callback(self._tools.close)
            self._episodes = LineFile(folder / EPISODES_FILE)
            opened.callback(lambda: self._episodes.close())
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
        """Begin a run in a folder that need not exist.

        Args:
            folder: Where to put it.
            definition: Everything that defines the run's result.
            note: What else to keep of its start: time, command line, concurrency, budgets.
            secrets: Texts that are masked.
            said: What the data say in a trajectory, in which nothing is secret.

        Raises:
            DataError: The folder holds a run, is in use, or cannot be written.
        """
        with writing(folder):
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
        """Go on with a run; one that was killed before it had begun is begun.

        Args:
            folder: Where it is.
            definition: As for create; must be that of the run.
            note: As for create; only used when the run had not begun.
            secrets: Texts that are masked.
            said: What the data say in a trajectory, in which nothing is secret.

        Raises:
            DataError: The folder holds no run, a run with another definition, or one that cannot be
                read; or it is in use, or cannot be written.
        """
        if not (folder / RUN_FILE).exists() and not _is_unused(folder):
            raise DataError(str(folder), f"holds no run: there is no {RUN_FILE}")
        return cls(folder, definition, note or {}, secrets, said, resumes=True)

    @property
    def done(self) -> Mapping[Key, Outcome]:
        """What became of the finished episodes."""
        return self._done

    def append(self, record: EpisodeRecord) -> None:
        """Add a finished episode, which from then on survives the end of this process.

        It reaches the disk a little later, from a thread, since the wait for a disk would hold up
        all episodes that are under way.

        Raises:
            DataError: The file cannot be written.
        """
        key, outcome = record.key, record.outcome
        if outcome is None:
            raise ValueError(f"episode {key} is not finished")
        if key in self._done:
            raise ValueError(f"episode {key} is in the run already")
        known = _written(record, self._underway.get(key, ()))
        self._episodes.append(self.secrets.of_episode(record.present(), known))
        self._done[key] = outcome
        self._obsolete += sum(len(each.raw) for each in self._underway.pop(key, ()))
        if self._obsolete > _MOST_OBSOLETE:
            self._wait_for_disk()
            self._write_underway()
        if self._syncing is None or self._syncing.done():
            self._wait_for_disk()
            self._syncing = self._syncer.submit(self._sync)

    def put_tools(self, digest: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Keep a tool list, unless it is there already; to be done before an episode names it.

        Raises:
            DataError: The file cannot be written.
        """
        if digest not in self._digests:
            self._tools.append(self.secrets.of_tools({"digest": digest, "tools": tools}))
            self._digests.add(digest)
            self.lost_tools.discard(digest)

    def put_step(self, step: AnsweredStep, spent: Spent) -> None:
        """Keep an answer of an episode that is under way, and what the run has used so far.

        One with a secret in it is not kept.

        Raises:
            DataError: The file cannot be written.
        """
        self.spent = spent
        kept = self._line_of(step)
        if kept is not None:
            self._steps = self._steps or LineFile(self.folder / UNDERWAY_FILE)
            self._steps.append(kept.raw)
            self._go_on(step.key, kept)

    def put_life(self, life: Life) -> None:
        """Keep how long a sitting took that is over.

        Raises:
            DataError: The file cannot be written.
        """
        file = LineFile(self.folder / LIVES_FILE)
        for _ in file.mended():
            pass
        file.append(json.dumps(members_of(life), allow_nan=False).encode() + b"\n")
        file.close()

    def underway(self, key: Key) -> list[AnsweredStep]:
        """Return the answers that an episode got that is not finished, in their order."""
        kept = self._underway.get(key, ())
        return [read(AnsweredStep, json.loads(each.raw), UNDERWAY_FILE) for each in kept]

    def supersede(self, keys: Collection[Key], *, go_on: bool = False) -> None:
        """Take finished episodes out of the run, so that they can be done again.

        Their records are kept in a file of their own. A process that is killed meanwhile leaves
        either all of them or none taken out.

        Args:
            keys: Which; those that are not done are passed over.
            go_on: Whether they are under way again, from their last answer.

        Raises:
            DataError: A file cannot be read or written.
        """
        keys = self._done.keys() & set(keys)
        if not keys:
            return
        self._wait_for_disk()
        path, upcoming = self.folder / EPISODES_FILE, self.folder / _NEXT_SUPERSEDED_FILE
        superseded = self.folder / SUPERSEDED_FILE
        if go_on:
            self._take_up(line for line in lines(path) if _key(line) in keys)
        taken = (line.raw for line in lines(path) if _key(line) in keys)
        write_whole(upcoming, chain(raw_lines(superseded), taken))
        # With this write they are taken out; were it never reached, `upcoming` would be void.
        write_whole(path, (line.raw for line in lines(path) if _key(line) not in keys))
        self._episodes.close()
        self._episodes = LineFile(path)
        for key in keys:
            del self._done[key]
        with writing(superseded):
            upcoming.replace(superseded)
        sync_folder(self.folder)

    def _begin(self, definition: RunDefinition, note: Mapping[str, Any], resumes: bool) -> None:
        """Write what defines the run, or see that it is what it was.

        Raises:
            DataError: There is a run though a new one is to begin, or it is another one.
        """
        path = self.folder / RUN_FILE
        run = {"format": FORMAT, "definition": definition.to_json(), "note": note}
        encoded = self.secrets.of_run(run)
        if resumes and path.exists():
            then, now = read_run_file(self.folder), json.loads(encoded)
            _compare(self.folder, then["definition"], now["definition"])
            return
        if any((self.folder / name).exists() for name in (RUN_FILE, EPISODES_FILE, TOOLS_FILE)):
            raise DataError(
                str(self.folder),
                "holds a run already; go on with it by --resume, or choose another folder",
            )
        write_whole(path, [encoded])

    def _load(self) -> None:
        """Read what is there, mending what a killed process left.

        Raises:
            DataError: A file is not what such a process leaves.
        """
        for line in self._tools.mended():
            self._digests.add(once(tools_of(line)[0], self._digests, line))
            self.secrets.spare(line.raw.decode(), "a tool list")
        for line in self._episodes.mended():
            key, outcome = _episode_of(line)
            self._done[once(key, self._done, line)] = outcome
            self.lost_tools.update(_tools_named(line))
        self.lost_tools -= self._digests
        self._load_underway()
        with writing(self.folder):
            self._finish_superseding()
            for name in (RUN_FILE, EPISODES_FILE, UNDERWAY_FILE, _NEXT_SUPERSEDED_FILE):
                unfinished(self.folder / name).unlink(missing_ok=True)

    def _load_underway(self) -> None:
        """Read what is known of episodes that are not finished, and leave out the others."""
        path, found = self.folder / UNDERWAY_FILE, 0
        if not path.exists():
            return
        self._steps = LineFile(path)
        for line in self._steps.mended():
            found += 1
            self.spent = read(_WithSpent, line.value, line.where).spent
            if "step" in line.value:
                answered = read(AnsweredStep, line.value, line.where)
                self._go_on(answered.key, _Kept(answered.place, line.raw))
        for key in self._done.keys() & self._underway.keys():
            del self._underway[key]
        if found > sum(map(len, self._underway.values())):
            self._write_underway()

    def _line_of(self, answered: AnsweredStep) -> _Kept | None:
        """Return an answer as it is kept; one with a secret in it is not."""
        id, trial, step, message = answered
        text = WrittenText(text_of(step))
        raw = self.secrets.of_step(_Underway(id, trial, text, message, self.spent))
        if raw is None:
            return None
        begin = raw.index(_BEFORE_STEP) + len(_BEFORE_STEP)
        return _Kept(answered.place, raw, step, begin, begin + len(text))

    def _go_on(self, key: Key, kept: _Kept) -> None:
        """Take note of an answer; an episode that began anew, or earlier, loses those behind it."""
        before = self._underway.setdefault(key, [])
        while before and before[-1].place >= kept.place:
            before.pop()
        before.append(kept)

    def _take_up(self, taken: Iterator[FileLine]) -> None:
        """Let finished episodes be under way again; those in which texts were masked begin anew."""
        for line in taken:
            record = EpisodeRecord.from_json(line.value, line.where)
            if MASK.encode() not in line.raw:
                for kept in map(self._line_of, record.answered):
                    if kept is not None:
                        self._go_on(record.key, kept)
        self._write_underway()

    def _write_underway(self) -> None:
        """Write anew the answers of the episodes that are not finished, and what was used."""
        path = self.folder / UNDERWAY_FILE
        last = json.dumps({"spent": members_of(self.spent)}, allow_nan=False).encode() + b"\n"
        kept = [each.raw for answers in self._underway.values() for each in answers]
        write_whole(path, [*kept, last])
        self._close_steps()
        self._steps = LineFile(path)
        self._obsolete = 0

    def _close_steps(self) -> None:
        if self._steps is not None:
            self._steps.close()

    def _leave_underway(self) -> None:
        """Leave only what another process needs; what it does not need may stay on a full disk."""
        with suppress(NotWritten):
            if self._steps is not None or self.spent != Spent():
                self._write_underway()

    def _finish_superseding(self) -> None:
        """Finish what a killed process began to take out of the run, or undo it."""
        upcoming = self.folder / _NEXT_SUPERSEDED_FILE
        if not upcoming.exists():
            return
        *_, last = lines(upcoming)
        if _key(last) in self._done:
            upcoming.unlink()
        else:
            upcoming.replace(self.folder / SUPERSEDED_FILE)

    def _sync(self) -> None:
        # In this order, so that no episode names tools that a power failure has undone.
        self._tools.sync()
        if self._steps is not None:
            self._steps.sync()
        self._episodes.sync()

    def _wait_for_disk(self) -> None:
        """Let the thread finish; an error that it met is raised here."""
        if self._syncing is not None:
            self._syncing.result()


def _written(record: EpisodeRecord, kept: Sequence[_Kept]) -> dict[str, Sequence[object]]:
    """Return the steps of an episode, with their text where it was written down already."""
    texts = {id(each.step): each for each in kept if each.step is not None}
    steps = [texts[id(step)].text if id(step) in texts else step for step in record.steps]
    return {"steps": steps} if texts else {}


def default_folder(model: str, now: datetime) -> Path:
    """Return where a run is put when the user does not say."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", model)[:_LONGEST_MODEL_NAME].strip(".-")
    return Path("runs") / f"{now:%Y%m%d-%H%M%S}-{name or 'model'}"


def claimed(folder: Path) -> Path:
    """Make a folder that there was not, and return it: this one, or one with a number behind it.

    Raises:
        DataError: None can be made.
    """
    place, number = folder, 1
    while True:
        with writing(place), suppress(FileExistsError):
            place.mkdir(parents=True)
            return place
        number += 1
        place = folder.with_name(f"{folder.name}-{number}")


def _episode_of(line: FileLine) -> tuple[Key, Outcome]:
    """Return which episode a line is of and what became of it; the rest of it is not looked at."""
    match line.value:
        case {"id": str(id), "trial": int(trial), "category": str(), "outcome": outcome}:
            if outcome in ("passed", "failed", "error"):
                return (id, trial), outcome
    raise DataError(
        line.where,
        'no episode with "id", "trial", "category" and "outcome": passed, failed, error',
    )


def _tools_named(line: FileLine) -> Iterator[str]:
    """Yield the digests of the tool lists that an episode names."""
    steps = line.value.get("steps")
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and isinstance(step.get("tools"), str):
            yield step["tools"]


def _key(line: FileLine) -> Key:
    return _episode_of(line)[0]


def _compare(folder: Path, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """See that a run is still defined as it was, however that is spelled.

    Raises:
        DataError: It is not; says where.
    """
    changes = [
        f"{path} was {_brief(a)}, is {_brief(b)}"
        for path, a, b in _changes(then, now)
        if _meant(path, a, then) != _meant(path, b, now)
    ]
    if changes:
        raise DataError(str(folder), f"the run is defined otherwise: {'; '.join(changes)}")


def _meant(path: str, value: Any, definition: Mapping[str, Any]) -> Any:
    """Return what a member of a definition comes to."""
    if path in ("dataset.name", "dataset.version"):
        # Their hash says which data they are.
        return None
    if path == "settings.base_url" and isinstance(value, str):
        return server_meant(value)
    if path == "settings.function_docs" and value is None:
        name = definition["dataset"]["name"]
        return "bfcl" if name.partition(":")[0] == "bfcl" else "own"
    return value


def server_meant(address: str) -> tuple[str, str | None, str, str]:
    """Return what an address comes to: the same server may have another port today."""
    parts = urlsplit(address)
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


def _brief(value: object) -> str:
    return f"{value!r:.120}"


def _is_unused(folder: Path) -> bool:
    """Tell whether a folder holds at most what a process leaves that is killed at once."""
    left = {LOCK_FILE, unfinished(Path(RUN_FILE)).name}
    return folder.is_dir() and all(path.name in left for path in folder.iterdir())
